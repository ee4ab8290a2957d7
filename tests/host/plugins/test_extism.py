"""What a module lists and returns is checked before anybody sees it."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from carrel.config import Config, PluginConfig
from carrel.errors import ArgumentError, CarrelError, ContractViolation, UnknownNameError
from carrel.plugins.extism.sniff import may_be_module
from carrel.plugins.templates import covers, template_fault
from carrel.runtime.imported_names import imported_names
from carrel.tools import Toolbox
from support.guests import Guest, guest
from support.manifests import manifest_text
from support.modules import answering_module, text_at

Open = Callable[..., Toolbox]

ZERO = "(i64.const 0)"

TOOL: dict[str, Any] = {"name": "ask", "inputSchema": {"type": "object"}}
TYPED = {**TOOL, "outputSchema": {"type": "object", "required": ["n"]}}


@pytest.fixture
def open_box(tmp_path: Path, code_folder: Path) -> Open:
    """A toolbox of modules and components, by name."""

    def make(entry: dict[str, Any] | None = None, /, **guests: Guest) -> Toolbox:
        plugins = []
        for name, one in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(one.wasm)
            plugins.append(PluginConfig(name, path.as_uri(), **(entry or {})))
        return Toolbox(Config(cache_dir=code_folder, data_dir=tmp_path, plugins=tuple(plugins)))

    return make


def listing(*tools: dict[str, Any], answer: Any = None, **more: Any) -> Guest:
    answers = {"list_tools": {"tools": list(tools)}, "call_tool": answer or {"content": []}}
    return answering_module({**answers, **more})


def refusal(box: Toolbox) -> str:
    [state] = box.plugins()
    assert state.error is not None
    return state.error.message


# -- lists -----------------------------------------------------------------------------------------


def test_a_missing_list_is_an_empty_one(open_box: Open) -> None:
    box = open_box(one=listing(TOOL))
    assert [tool.name for tool in box.tools()] == ["one_ask"]
    assert [*box.resources(), *box.offers.templates(), *box.offers.prompts()] == []
    assert not box.offers.completes


@pytest.mark.requirement("serve:alive:module-listing")
def test_one_bad_plugin_never_spoils_a_list(open_box: Open) -> None:
    prompts = {"list_prompts": {"prompts": [{"name": "p"}]}, "get_prompt": "{}"}
    box = open_box(
        traps=answering_module({}, "unreachable", export="list_tools"),
        loops=answering_module({}, "(loop $again (br $again))", export="list_tools"),
        nonsense=answering_module({"list_tools": "nonsense"}),
        component=guest(manifest=manifest_text()),
        good=listing(TOOL, **prompts),
    )
    assert [tool.name for tool in box.tools()] == ["sample_echo", "good_ask"]
    assert [prompt.name for prompt in box.offers.prompts()] == ["good_p"]
    told = {state.name: state.error.message for state in box.plugins() if state.error}
    assert set(told) == {"traps", "loops", "nonsense"}
    assert "list_tools failed" in told["traps"]
    assert "list_tools failed" in told["loops"]


def test_a_list_other_than_that_of_tools_may_fail(open_box: Open) -> None:
    box = open_box(one=listing(TOOL, list_prompts="nonsense", list_resources={"resources": 3}))
    assert [tool.name for tool in box.tools()] == ["one_ask"]
    assert list(box.offers.prompts()) == []


@pytest.mark.requirement("plugin:pinned:module-words")
@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ({**TOOL, "name": "with space"}, "no name"),
        ({**TOOL, "name": 7}, "no name"),
        ({**TOOL, "description": "do\u200bthis"}, "invisible"),
        ({**TOOL, "title": "a\u202eb"}, "invisible"),
        ({**TOOL, "description": "x" * 5000}, "more than 4000"),
        ({"name": "ask"}, "inputSchema is no JSON Schema"),
        ({**TOOL, "inputSchema": {"type": "array"}}, "not that of an object"),
        ({**TOOL, "inputSchema": {"type": "object", "$ref": "https://e.org/s"}}, "outside itself"),
        ({**TOOL, "inputSchema": {"type": "object", "title": "\x1b[2J"}}, "invisible"),
        ({**TOOL, "outputSchema": {"type": 5}}, "outputSchema"),
        ({**TOOL, "outputSchema": []}, "outputSchema is no JSON Schema"),
    ],
)
def test_a_tool_that_misleads_is_refused_with_its_fault(
    open_box: Open, tool: dict[str, Any], says: str
) -> None:
    assert says in refusal(open_box(one=listing(tool)))


def test_two_tools_of_one_name_are_refused(open_box: Open) -> None:
    assert "stands there twice" in refusal(open_box(one=listing(TOOL, TOOL)))


def test_tools_that_cannot_be_called_are_refused(open_box: Open) -> None:
    assert "exports no call_tool" in refusal(
        open_box(one=answering_module({"list_tools": {"tools": [TOOL]}}))
    )


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        ({"list_resources": {"resources": [{"uri": "carrel://x", "name": "n"}]}}, "scheme carrel"),
        ({"list_resources": {"resources": [{"uri": "file:///etc", "name": "n"}]}}, "scheme file"),
        ({"list_resources": {"resources": [{"uri": "no uri", "name": "n"}]}}, "has no URI"),
        ({"list_resources": {"resources": [{"uri": "a:b"}]}}, "no name"),
        (
            {
                "list_resource_templates": {
                    "resourceTemplates": [{"uriTemplate": "a:{", "name": "n"}]
                }
            },
            "no URI template",
        ),
        (
            {
                "list_resource_templates": {
                    "resourceTemplates": [{"uriTemplate": "{x}", "name": "n"}]
                }
            },
            "names no scheme",
        ),
        (
            {"list_prompts": {"prompts": [{"name": "p", "arguments": [{"name": ""}]}]}},
            "arguments[0]",
        ),
    ],
)
def test_documents_and_prompts_that_mislead_are_refused(
    open_box: Open, lists: dict[str, Any], says: str
) -> None:
    assert says in refusal(open_box(one=listing(**lists)))


def test_hints_are_taken_over_and_content_is_always_from_outside(open_box: Open) -> None:
    hints = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False, "title": "Ask"}
    [plain, hinted] = open_box(
        one=listing(TOOL), two=listing({**TOOL, "annotations": hints})
    ).tools()
    assert (plain.read_only, plain.destructive, plain.open_world) == (False, True, True)
    assert (hinted.read_only, hinted.destructive, hinted.open_world) == (True, False, True)
    assert hinted.title == "Ask"


# -- what is granted -------------------------------------------------------------------------------


@pytest.mark.requirement("sandbox:hosts:module-listing")
def test_a_module_that_lists_from_the_network_is_refused(open_box: Open) -> None:
    asked = '{"url": "https://api.example.org/tools"}'
    fetches = (
        f"(drop (call $http_request (call $put (i32.const 0) (i32.const {len(asked)})) {ZERO}))"
    )
    lists = answering_module({}, fetches, export="list_tools", data=text_at(0, asked))
    message = refusal(open_box({"allowed_hosts": ("api.example.org",)}, one=lists))
    assert "list_tools failed" in message
    assert "no network" in message


@pytest.mark.requirement("sandbox:secrets:keyring")
def test_only_keyring_entries_that_the_operator_names_are_read(
    open_box: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = SimpleNamespace(get_password=lambda service, user: f"{service}-{user}-secret")
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    asked = '{"service": "papers", "user": "me"}'
    tells = (
        f"(local.set $h (call $put (i32.const 0) (i32.const {len(asked)})))"
        "(call $error_set (call $get_keyring_secret (local.get $h))) (return (i32.const 1))"
    )
    lists = {"list_tools": {"tools": [TOOL]}}
    one = answering_module(lists, tells, export="call_tool", data=text_at(0, asked))
    for granted, said in (
        ((("papers", "me"),), "papers-me-secret"),
        ((("papers", "you"),), "did not say why"),
    ):
        with pytest.raises(CarrelError, match=said):
            open_box({"allowed_secrets": granted}, one=one).call_sync("one_ask", {})


def test_only_what_may_be_a_module_is_waited_for(tmp_path: Path) -> None:
    files = {"component": guest().wasm, "module": listing(TOOL).wasm, "empty": b""}
    for name, wasm in files.items():
        (tmp_path / name).write_bytes(wasm)
        assert may_be_module((tmp_path / name).as_uri()) is (name == "module")
    assert not may_be_module((tmp_path / "missing").as_uri())
    assert not may_be_module("builtin:arxiv")
    assert may_be_module("oci://registry.example.org/plugin:1")


# -- results ---------------------------------------------------------------------------------------

PIXEL = base64.b64encode(b"png").decode()


def test_every_kind_of_content_is_passed_on_and_cleaned(open_box: Open) -> None:
    blocks = [
        {"type": "text", "text": "a\x1b[2J\u202eb\nc\td", "_meta": {"x": 1}, "extra": 1},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "doi:10.1000/182", "name": "a\x00b", "size": 3},
        {"type": "resource", "resource": {"uri": "a:b", "text": "t", "mimeType": "text/plain"}},
        {"type": "resource", "resource": {"uri": "a:c", "blob": PIXEL}},
        {"type": "text", "text": "t", "annotations": {"audience": ["user", "x"], "priority": 0.5}},
    ]
    result = open_box(one=listing(TOOL, answer={"content": blocks})).call_sync("one_ask", {})
    assert result.content == (
        {"type": "text", "text": "a [2J b\nc\td"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "doi:10.1000/182", "name": "a b", "size": 3},
        {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "t"}},
        {"type": "resource", "resource": {"uri": "a:c", "blob": PIXEL}},
        {"type": "text", "text": "t", "annotations": {"audience": ["user"], "priority": 0.5}},
    )
    assert json.loads(result.text) == result.data == {"content": list(result.content)}


@pytest.mark.requirement("result:typed:module-content")
@pytest.mark.parametrize(
    "content",
    [
        3,
        ["text"],
        [{"type": "text"}],
        [{"type": "text", "text": 3}],
        [{"type": "video", "data": PIXEL}],
        [{"type": "image", "data": "***", "mimeType": "image/png"}],
        [{"type": "image", "data": PIXEL, "mimeType": "nonsense"}],
        [{"type": "image", "data": PIXEL}],
        [{"type": "resource_link", "uri": "no uri", "name": "n"}],
        [{"type": "resource_link", "uri": "a:b"}],
        [{"type": "resource", "resource": {"uri": "a:b"}}],
        [{"type": "text", "text": "x"}] * 1001,
    ],
)
def test_content_that_mcp_does_not_know_is_a_contract_violation(
    open_box: Open, content: Any
) -> None:
    box = open_box(one=listing(TOOL, answer={"content": content}))
    with pytest.raises(ContractViolation, match="content"):
        box.call_sync("one_ask", {})


@pytest.mark.requirement("result:typed:module-structured")
def test_structured_content_is_held_against_the_output_schema(open_box: Open) -> None:
    good = open_box(one=listing(TYPED, answer={"structuredContent": {"n": 1}, "content": []}))
    result = good.call_sync("one_ask", {})
    assert (result.data, result.structured) == ({"n": 1}, True)
    assert result.content == ({"type": "text", "text": '{"n":1}'},)
    answer: dict[str, Any]
    for answer in ({"content": []}, {"structuredContent": {}}, {"structuredContent": [1]}):
        with pytest.raises(ContractViolation, match="own schema"):
            open_box(one=listing(TYPED, answer=answer)).call_sync("one_ask", {})


@pytest.mark.requirement("result:typed:module-error")
def test_a_result_that_says_it_failed_is_an_error_with_its_words(open_box: Open) -> None:
    answer = {"isError": True, "content": [{"type": "text", "text": "no\x1b such paper"}]}
    with pytest.raises(CarrelError, match="no  such paper") as caught:
        open_box(one=listing(TYPED, answer=answer)).call_sync("one_ask", {})
    assert caught.value.error_code == "upstream_error"


def test_arguments_are_checked_by_the_modules_own_schema(open_box: Open) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    closed = open_box(one=listing({**TOOL, "inputSchema": schema}))
    closed.call_sync("one_ask", {"n": 1})
    for wrong in ({}, {"n": "x"}, {"n": 1, "m": 2}):
        with pytest.raises(ArgumentError):
            closed.call_sync("one_ask", wrong)
    open_ended = {**schema, "additionalProperties": {"type": "string"}}
    tool = {**TOOL, "inputSchema": open_ended}
    open_box(one=listing(tool)).call_sync("one_ask", {"n": 1, "m": "anything"})
    open_box(one=listing(TOOL)).call_sync("one_ask", {"anything": 1})


# -- documents, prompts, completion ----------------------------------------------------------------


def test_the_configurations_order_decides_between_two_with_one_uri(open_box: Open) -> None:
    def offering(text: str) -> Guest:
        return listing(
            list_resources={"resources": [{"uri": "doi:10.1000/182", "name": "n"}]},
            list_resource_templates={
                "resourceTemplates": [{"uriTemplate": "arxiv:{id}", "name": "n"}]
            },
            read_resource={"contents": [{"uri": "doi:10.1000/182", "text": text}]},
        )

    box = open_box(one=offering("first"), two=offering("second"))
    assert [one.plugin for one in box.resources()] == ["one"]
    assert [one.plugin for one in box.offers.templates()] == ["one"]
    for uri in ("doi:10.1000/182", "arxiv:hep-ex/0307015"):
        read = asyncio.run(box.read_resource(uri))
        assert read.content == ({"uri": "doi:10.1000/182", "text": "first"},)
    with pytest.raises(UnknownNameError):
        asyncio.run(box.read_resource("arxiv:"))


def test_a_prompt_is_checked_as_mcps(open_box: Open) -> None:
    def saying(answer: Any) -> Toolbox:
        prompts = {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]}
        return open_box(one=listing(list_prompts=prompts, get_prompt=answer))

    message = {"role": "user", "content": {"type": "text", "text": "hi\x07"}}
    filled = asyncio.run(saying({"messages": [message]}).offers.get_prompt("one_p", {"a": "x"}))
    assert filled == {"messages": [{"role": "user", "content": {"type": "text", "text": "hi "}}]}
    for bad in (
        {},
        {"messages": [{**message, "role": "system"}]},
        {"messages": [{"role": "user"}]},
    ):
        with pytest.raises(ContractViolation, match="messages"):
            asyncio.run(saying(bad).offers.get_prompt("one_p", {"a": "x"}))
    with pytest.raises(ArgumentError, match="a is required"):
        asyncio.run(saying({}).offers.get_prompt("one_p", {"b": "x"}))


def test_completion_is_cut_at_mcps_cap(open_box: Open) -> None:
    box = open_box(
        one=listing(
            list_prompts={"prompts": [{"name": "p"}]},
            complete={"completion": {"values": [f"v{n}\x00" for n in range(150)], "total": 150}},
        )
    )
    assert box.offers.completes
    reference = {"type": "ref/prompt", "name": "one_p"}
    found = asyncio.run(box.offers.complete(reference, {"name": "a", "value": ""}, {}))
    assert len(found["values"]) == 100
    assert found["values"][0] == "v0 "
    assert (found["total"], found["hasMore"]) == (150, True)
    with pytest.raises(UnknownNameError):
        asyncio.run(
            box.offers.complete({"type": "ref/prompt", "name": "x"}, {"name": "a", "value": ""}, {})
        )


def test_news_of_a_list_is_told_at_most_once_a_second(open_box: Open) -> None:
    news = "(call $notify_tool_list_changed) " * 5 + (
        "(call $say (call $put (i32.const 0) (i32.const 2)))"
    )
    box = open_box(
        one=answering_module(
            {"list_tools": {"tools": [TOOL]}},
            news,
            export="call_tool",
            data='(data (i32.const 0) "{}")',
        )
    )
    told: list[str] = []
    box.on_list_changed(told.append)
    box.call_sync("one_ask", {})
    assert told == ["tools"]


# -- templates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "uri", "covered"),
    [
        ("doi:{doi}", "doi:10.1000/182", True),
        ("doi:{doi}", "doi:", False),
        ("doi:{doi}", "arxiv:1", False),
        ("a://{x}/b/{y}", "a://1/b/2", True),
        ("a://{x}/b/{y}", "a:///b/2", False),
        ("a://{x}/b/{y}", "a://1/c/2", False),
        ("a://x{?q,r}", "a://x", True),
        ("a://x{?q,r}", "a://x?q=1", True),
        ("a://{+path}.pdf", "a://one/two.pdf", True),
        ("a://{+path}.pdf", "a://one/two.txt", False),
        ("a://{x}{y}", "a://1", False),
        ("a://{x}{y}", "a://12", True),
        ("a:plain", "a:plain", True),
        ("a:plain", "a:plain2", False),
        ("a:{x}aa", "a:aa", False),
        ("a:{x}aa", "a:aaa", True),
    ],
)
def test_a_template_covers_its_expansions(template: str, uri: str, covered: bool) -> None:
    assert template_fault(template) is None
    assert covers(template, uri) is covered


def test_matching_takes_time_in_proportion_to_the_uri() -> None:
    template = "a:" + "{x}a" * 60
    assert not covers(template, "a:" + "a" * 2000 + "b")


def test_the_imports_of_a_module_are_named_for_people() -> None:
    asks = answering_module({"list_tools": {}}, imports='(import "env" "x" (table 1 2 funcref))')
    names = imported_names(asks.wasm)
    assert "env#x" in names
    assert "extism:host/env#output_set" in names
    assert imported_names(asks.wasm[:40]) == []
