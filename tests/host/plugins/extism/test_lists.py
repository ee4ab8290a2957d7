"""Tests that a module's lists are validated before clients see them."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.server.app import _wire_tool
from support.guests import guest
from support.manifests import manifest_text
from support.modules import answering_module

from .conftest import TOOL, Open, listing, refusal


def test_a_missing_list_is_an_empty_one(open_toolbox: Open) -> None:
    toolbox = open_toolbox(one=listing(TOOL))
    assert [tool.name for tool in toolbox.tools()] == ["one_ask"]
    assert [*toolbox.resources(), *toolbox.prompts.templates(), *toolbox.prompts.listed()] == []
    assert not toolbox.prompts.completes


@pytest.mark.requirement("serve:alive:module-listing")
def test_one_bad_plugin_never_spoils_a_list(open_toolbox: Open) -> None:
    prompts = {"list_prompts": {"prompts": [{"name": "p"}]}, "get_prompt": "{}"}
    toolbox = open_toolbox(
        traps=answering_module({}, "unreachable", export="list_tools"),
        loops=answering_module({}, "(loop $again (br $again))", export="list_tools"),
        nonsense=answering_module({"list_tools": "nonsense"}),
        component=guest(manifest=manifest_text()),
        good=listing(TOOL, **prompts),
    )
    assert [tool.name for tool in toolbox.tools()] == ["sample_echo", "good_ask"]
    assert [prompt.name for prompt in toolbox.prompts.listed()] == ["good_p"]
    errors = {state.name: state.error.message for state in toolbox.plugins() if state.error}
    assert set(errors) == {"traps", "loops", "nonsense"}
    assert "list_tools failed" in errors["traps"]
    assert "list_tools failed" in errors["loops"]


def test_a_list_other_than_that_of_tools_may_fail(open_toolbox: Open) -> None:
    toolbox = open_toolbox(
        one=listing(TOOL, list_prompts="nonsense", list_resources={"resources": 3})
    )
    assert [tool.name for tool in toolbox.tools()] == ["one_ask"]
    assert list(toolbox.prompts.listed()) == []


@pytest.mark.requirement("plugin:pinned:module-words")
@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ({**TOOL, "name": "with space"}, "no name"),
        ({**TOOL, "name": 7}, "no name"),
        ({**TOOL, "description": "do\u200bthis"}, "invisible"),
        ({**TOOL, "title": "a\u202eb"}, "invisible"),
        ({**TOOL, "description": "x" * 5000}, "more than 4000"),
        ({"name": "ask"}, "inputSchema is not a JSON Schema"),
        ({**TOOL, "inputSchema": {"type": "array"}}, "not that of an object"),
        ({**TOOL, "inputSchema": {"type": "object", "$ref": "https://e.org/s"}}, "outside itself"),
        ({**TOOL, "inputSchema": {"type": "object", "title": "\x1b[2J"}}, "invisible"),
        ({**TOOL, "outputSchema": {"type": 5}}, "outputSchema"),
        ({**TOOL, "outputSchema": []}, "outputSchema is not a JSON Schema"),
    ],
)
def test_a_tool_that_misleads_is_refused_with_its_fault(
    open_toolbox: Open, tool: dict[str, Any], says: str
) -> None:
    assert says in refusal(open_toolbox(one=listing(tool)))


def test_two_tools_of_one_name_are_refused(open_toolbox: Open) -> None:
    assert "is listed twice" in refusal(open_toolbox(one=listing(TOOL, TOOL)))


def test_tools_that_cannot_be_called_are_refused(open_toolbox: Open) -> None:
    assert "exports no call_tool" in refusal(
        open_toolbox(one=answering_module({"list_tools": {"tools": [TOOL]}}))
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
            "not a URI template",
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
    open_toolbox: Open, lists: dict[str, Any], says: str
) -> None:
    assert says in refusal(open_toolbox(one=listing(**lists)))


def test_hints_are_taken_over_and_content_is_always_from_outside(open_toolbox: Open) -> None:
    hints = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False, "title": "Ask"}
    [plain, hinted] = open_toolbox(
        one=listing(TOOL), two=listing({**TOOL, "annotations": {**hints, "else": 1}})
    ).tools()
    assert (plain.read_only, plain.destructive, plain.open_world) == (False, True, True)
    assert (hinted.read_only, hinted.destructive, hinted.open_world) == (True, False, True)
    assert hinted.title == "Ask"
    assert hinted.hints == hints


@pytest.mark.requirement("result:typed:module-annotations")
def test_only_the_annotations_that_a_module_gave_are_listed(open_toolbox: Open) -> None:
    hinted = {**TOOL, "annotations": {"idempotentHint": True, "readOnlyHint": "yes"}}
    toolbox = open_toolbox(
        none=listing(TOOL), some=listing(hinted), component=guest(manifest=manifest_text())
    )
    listed = {
        tool.name: _wire_tool(tool).model_dump(by_alias=True, exclude_none=True)
        for tool in toolbox.tools()
    }
    assert "annotations" not in listed["none_ask"]
    assert listed["some_ask"]["annotations"] == {"idempotentHint": True}
    assert listed["sample_echo"]["annotations"].keys() >= {"readOnlyHint", "destructiveHint"}


@pytest.mark.requirement("result:typed:tool-names")
def test_tool_names_that_clients_refuse_are_changed_and_logged(
    open_toolbox: Open, caplog: pytest.LogCaptureFixture
) -> None:
    answer = {"content": [{"type": "text", "text": "here"}]}
    toolbox = open_toolbox(one=listing({**TOOL, "name": "works.search"}, answer=answer))
    assert [tool.name for tool in toolbox.tools()] == ["one_works_search"]
    assert toolbox.call_sync("one_works_search", {}).content == tuple(answer["content"])
    [state] = toolbox.plugins()
    note = "the tool 'works.search' is offered as one_works_search"
    assert note in state.notes[0]
    assert note in caplog.text


def test_a_module_may_fetch_once_for_each_of_a_hundred_entries(open_toolbox: Open) -> None:
    toolbox = open_toolbox(one=listing(TOOL))
    assert toolbox._plugin_set.plugin("one").limits.fetches == 1_000
    limited = open_toolbox({"limits": {"fetches": 7}}, one=listing(TOOL))
    assert limited._plugin_set.plugin("one").limits.fetches == 7


@pytest.mark.parametrize("kind", ["module", "component"])
def test_replacing_a_built_in_plugin_is_reported(
    open_toolbox: Open, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    toolbox = open_toolbox(
        arxiv=listing(TOOL) if kind == "module" else guest(manifest=manifest_text())
    )
    toolbox.tools()
    [state] = toolbox.plugins()
    note = "arxiv takes the place of the built-in plugin of that name, and work_lookup goes without"
    assert note in state.notes[0]
    assert note in caplog.text
    [plugin] = toolbox.health()["plugins"]
    assert note in plugin["notes"][0]
