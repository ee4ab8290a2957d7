"""Tests hyper-mcp's host functions: supported ones, and refusal of the others."""

from __future__ import annotations

import json

import pytest

from carrel.exchange import Call
from carrel.runtime.extism.context import ModuleContext
from support.modules import ECHO, module, text_at

from .conftest import Run


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("create_elicitation", {"action": "decline"}),
        ("create_message", {"stopReason": "error", "role": "assistant"}),
        ("get_access_token", None),
        ("list_roots", {"roots": []}),
    ],
)
def test_unsupported_host_functions_return_hyper_mcps_error(
    run: Run, name: str, answer: dict[str, object] | None
) -> None:
    argument = "" if name == "list_roots" else "(call $put (i32.const 0) (i32.const 2))"
    returned = json.loads(
        run(module(f"(call $say (call ${name} {argument}))", data=text_at(0, "{}")))
    )
    if answer is None:
        assert returned is None
    else:
        assert answer.items() <= returned.items()


@pytest.mark.requirement("sandbox:secrets:keyring")
def test_a_keyring_entry_is_readable_only_if_it_is_granted(run: Run) -> None:
    asked = json.dumps({"service": "papers", "user": "me"})
    asks = module(
        f"(local.set $h (call $put (i32.const 0) (i32.const {len(asked)})))"
        "(call $say (call $get_keyring_secret (local.get $h)))",
        data=text_at(0, asked),
    )
    granted = {("papers", "me"): "s3cret"}
    lookup = lambda service, user: granted.get((service, user))  # noqa: E731
    assert run(asks, context=ModuleContext(secret=lookup)) == "s3cret"
    granted.clear()
    assert run(asks, context=ModuleContext(secret=lookup)) == ""


def test_progress_reaches_the_client(run: Run) -> None:
    received: list[object] = []
    asked = json.dumps({"progress": 2, "total": 5, "progressToken": "t", "message": "two"})
    call = Call("guest", "call_tool", on_progress=lambda *news: received.append(news))
    notifying = module(
        f"(call $notify_progress (call $put (i32.const 0) (i32.const {len(asked)})))",
        data=text_at(0, asked),
    )
    run(notifying, call=call)
    assert received == [(2.0, 5.0, "two")]


def test_lists_that_changed_are_passed_on(run: Run) -> None:
    changed_lists: list[str] = []
    run(
        module(
            "(call $notify_tool_list_changed) (call $notify_prompt_list_changed) "
            "(call $notify_resource_list_changed)"
        ),
        context=ModuleContext(changed=changed_lists.append),
    )
    assert changed_lists == ["tools", "prompts", "resources"]


@pytest.mark.parametrize(
    "name", ["notify_progress", "notify_logging_message", "notify_resource_updated"]
)
@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"progress": "x", "level": 3}'])
def test_a_notification_that_makes_no_sense_is_dropped(run: Run, name: str, text: str) -> None:
    notifying = module(
        f"(call ${name} (call $put (i32.const 0) (i32.const {len(text)})))" + ECHO,
        data=text_at(0, text),
    )
    assert run(notifying, "went on") == "went on"
