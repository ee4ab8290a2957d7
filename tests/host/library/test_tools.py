"""Tests the library's tools that ask nobody: what is listed, paging, removal, citing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, LibraryConfig
from carrel.errors import CarrelError
from support.library_world import item, open_library_api, write_library

TOOLS = [
    "library_search",
    "library_list",
    "library_add",
    "library_remove",
    "library_cite",
    "library_show",
    "library_check",
    "library_fulltext_attach",
    "library_fulltext_get",
    "library_fulltext_detach",
]


@pytest.fixture
def api(config: Config, tmp_path: Path) -> Any:
    """A library of five references, one of them replaced by another."""
    items = [item(f"marlow-{year}", title=f"Desk {year}") for year in range(2015, 2019)]
    for number, one in enumerate(items):
        one["DOI"] = f"10.5555/{number}"
        one["issued"] = {"date-parts": [[2015 + number]]}
    items.append(item("old-2010", DOI="10.5555/old", custom={"superseded_by": "marlow-2015"}))
    write_library(tmp_path / "library.json", *items)
    with open_library_api(config, tmp_path) as opened:
        yield opened


def call(api: Carrel, tool: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = api.call(tool, arguments).data
    return found


def test_the_tools_are_offered_where_a_library_is_set(config: Config, tmp_path: Path) -> None:
    with open_library_api(config, tmp_path) as api:
        names = [tool.name for tool in api.tools() if tool.name.startswith("library_")]
    assert names == TOOLS
    with Carrel(replace(config, library=LibraryConfig())) as api:
        assert not [tool for tool in api.tools() if tool.name.startswith("library_")]


def test_every_tool_has_six_sections_and_costs_few_tokens(api: Carrel) -> None:
    tools = [tool for tool in api.tools() if tool.name.startswith("library_")]
    sections = ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]
    for tool in tools:
        assert [line.split(":")[0] for line in tool.description.splitlines()] == sections
        assert tool.output_schema is not None
    shown = [
        {"name": one.name, "description": one.description, "inputSchema": one.input_schema}
        for one in tools
    ]
    assert len(json.dumps(shown, separators=(",", ":"))) / 4 <= 280 * len(tools)
    assert {tool.name for tool in tools if tool.destructive} == {
        "library_remove",
        "library_fulltext_attach",
        "library_fulltext_detach",
    }
    assert {tool.name for tool in tools if tool.read_only} == {
        "library_search",
        "library_list",
        "library_show",
        "library_cite",
        "library_fulltext_get",
    }


@pytest.mark.requirement("reference-manager:paging")
def test_a_list_is_sorted_and_paged(api: Carrel) -> None:
    first = call(api, "library_list", sort="published", order="asc", limit=3)
    assert [one["year"] for one in first["items"]] == [2015, 2016, 2017]
    assert (first["total"], first["limit"], first["offset"], first["next_offset"]) == (4, 3, 0, 3)
    rest = call(api, "library_list", sort="published", order="asc", limit=3, offset=3)
    assert ([one["year"] for one in rest["items"]], rest["next_offset"]) == ([2018], None)
    assert call(api, "library_list", limit=0)["total"] == 4
    assert call(api, "library_list", superseded=True)["total"] == 5


@pytest.mark.requirement("reference-manager:superseded:search")
def test_a_search_finds_what_a_list_hides(api: Carrel) -> None:
    found = call(api, "library_search", query="doi:10.5555/old")
    assert [one["id"] for one in found["items"]] == ["old-2010"]
    assert found["items"][0]["superseded"] is True
    assert call(api, "library_search", query='"desk 2016"')["total"] == 1
    whole = call(api, "library_search", query='"desk 2016"', full=True)["items"][0]
    assert whole["author"][0]["family"] == "Marlow"


@pytest.mark.requirement("reference-manager:paging:sorts")
def test_lists_have_five_orders_and_searches_a_sixth(api: Carrel) -> None:
    sorts = {"created", "updated", "published", "author", "title"}
    for name, wanted in (("library_list", sorts), ("library_search", {*sorts, "relevance"})):
        members = api.tool(name).input_schema["properties"]
        assert set(members["sort"]["enum"]) == wanted
        assert members["order"]["enum"] == ["asc", "desc"]
        assert (members["limit"]["default"], members["offset"]["default"]) == (20, 0)


@pytest.mark.requirement("reference-manager:paging:refused")
@pytest.mark.parametrize("arguments", [{"limit": -1}, {"offset": -1}, {"sort": "colour"}])
def test_wrong_paging_is_refused(api: Carrel, arguments: dict[str, Any]) -> None:
    with pytest.raises(CarrelError) as caught:
        call(api, "library_list", **arguments)
    assert caught.value.error_code == "invalid_arguments"


@pytest.mark.requirement("reference-manager:remove-force:tool")
def test_removing_without_force_explains_and_changes_nothing(api: Carrel, tmp_path: Path) -> None:
    before = (tmp_path / "library.json").read_bytes()
    result = call(api, "library_remove", id="marlow-2015")
    assert not result["removed"]
    assert "force: true" in result["message"]
    assert "Desk 2015" in result["message"]
    unknown = call(api, "library_remove", id="nobody", force=True)
    assert (unknown["removed"], "nobody" in unknown["message"]) == (False, True)
    assert (tmp_path / "library.json").read_bytes() == before
    assert call(api, "library_remove", id="marlow-2015", force=True)["removed"]
    assert b'marlow-2015"' not in (tmp_path / "library.json").read_bytes().replace(
        b'"superseded_by": "marlow-2015"', b""
    )


def test_a_reference_is_shown_whole_and_an_unknown_one_is_not_found(api: Carrel) -> None:
    assert call(api, "library_show", id="marlow-2016")["item"]["volume"] == "12"
    with pytest.raises(CarrelError) as caught:
        call(api, "library_show", id="nobody")
    assert caught.value.error_code == "not_found"


def test_a_library_that_cannot_be_written_says_so(config: Config, tmp_path: Path) -> None:
    folder = tmp_path / "fixed"
    folder.mkdir()
    write_library(folder / "library.json", item())
    # A folder in the place of the lock file refuses writing to every user, root included.
    (folder / ".library.json.lock").mkdir()
    library = LibraryConfig(folder / "library.json")
    with open_library_api(config, tmp_path, library=library) as api:
        assert call(api, "library_list")["total"] == 1
        with pytest.raises(CarrelError) as caught:
            call(api, "library_remove", id="marlow-2019", force=True)
    assert caught.value.error_code == "storage"


def test_a_damaged_library_is_reported_and_not_replaced(config: Config, tmp_path: Path) -> None:
    path = tmp_path / "library.json"
    path.write_text("[{", "utf-8")
    with open_library_api(config, tmp_path) as api:
        for tool, arguments in (("library_list", {}), ("library_add", {"inputs": "@misc{a}"})):
            with pytest.raises(CarrelError) as caught:
                api.call(tool, arguments)
            assert caught.value.error_code == "storage"
    assert path.read_text("utf-8") == "[{"
