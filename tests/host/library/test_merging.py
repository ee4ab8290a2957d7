"""Three-way merges: what both sides changed is kept, or reported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.library.errors import exit_code_of
from carrel.library.file.json_edit import same
from carrel.library.file.merging import merged_item
from carrel.library.library import Library

from .conftest import SMITH, Open, code_of


def edit(library: Library, **members: Any) -> None:
    """LibraryChanges the first entry as an editor does."""
    data = json.loads(library.path.read_text("utf-8"))
    data[0] |= members
    library.path.write_text(json.dumps(data, indent=2), "utf-8")


@pytest.mark.requirement("reference-manager:merge")
def test_different_members_are_both_kept(library: Library) -> None:
    library.add([SMITH])
    library.get("smith-2023")
    edit(library, title="By the editor", volume="3")
    item = library.update("smith-2023", {"DOI": "10.1234/new", "note": "mine"})
    assert (item["title"], item["volume"]) == ("By the editor", "3")
    assert (item["DOI"], item["note"]) == ("10.1234/new", "mine")


@pytest.mark.requirement("reference-manager:merge:conflict")
@pytest.mark.requirement("library:shared:conflict")
def test_one_member_changed_twice_is_a_conflict_with_both_values(library: Library) -> None:
    library.add([SMITH])
    library.get("smith-2023")
    edit(library, title="By the editor")
    before = library.path.read_bytes()
    error = code_of(lambda: library.update("smith-2023", {"title": "Mine", "note": "n"}))
    assert error.library_code == "CONFLICT"
    assert exit_code_of(error.library_code) == 2
    assert error.conflicts == (
        {"id": "smith-2023", "member": "title", "base": "Desks of the North", "mine": "Mine",
         "theirs": "By the editor"},
    )  # fmt: skip
    assert error.to_dict()["conflicts"] == list(error.conflicts)
    assert library.path.read_bytes() == before
    assert library.update("smith-2023", {"title": "Mine"})["title"] == "Mine"


def test_the_same_change_on_both_sides_is_none(library: Library) -> None:
    library.add([SMITH])
    library.get("smith-2023")
    edit(library, title="The same")
    assert library.update("smith-2023", {"title": "The same"})["title"] == "The same"


def test_an_entry_that_was_changed_meanwhile_is_not_removed(library: Library) -> None:
    library.add([SMITH])
    library.get("smith-2023")
    edit(library, title="By the editor")
    error = code_of(lambda: library.remove("smith-2023"))
    assert error.library_code == "CONFLICT"
    assert library.get("smith-2023")["title"] == "By the editor"
    library.remove("smith-2023")
    assert library.items() == []


def test_an_entry_that_was_removed_meanwhile_is_not_found(library: Library) -> None:
    library.add([SMITH])
    library.get("smith-2023")
    library.path.write_text("[]")
    assert code_of(lambda: library.update("smith-2023", {"title": "x"})).library_code == "NOT_FOUND"


def test_tags_of_both_sides_are_united(library: Library) -> None:
    library.add([{**SMITH, "custom": {"tags": ["a", "b"]}}])
    custom = library.get("smith-2023")["custom"]
    edit(library, custom={**custom, "tags": ["b", "theirs"], "check": {"status": "ok"}})
    item = library.update("smith-2023", {"custom": {"tags": ["a", "b", "mine"]}})
    assert item["custom"]["tags"] == ["b", "theirs", "mine"]
    assert item["custom"]["check"] == {"status": "ok"}


@pytest.mark.requirement("library:shared:conflict")
def test_the_first_change_of_another_process_is_merged_too(open_library: Open) -> None:
    """It gives the entry the UUID by which versions are distinguished."""
    first, second = open_library(), open_library()
    first.path.write_text('[{"id": "desk", "title": "A desk"}]', "utf-8")
    assert first.get("desk") == second.get("desk")
    second.update("desk", {"title": "By the second", "custom": {"tags": ["second"]}})
    item = first.update("desk", {"custom": {"tags": ["first"]}})
    assert item["custom"]["tags"] == ["second", "first"]
    third, fourth = open_library(), open_library()
    first.path.write_text('[{"id": "desk", "title": "A desk"}]', "utf-8")
    third.get("desk")
    fourth.update("desk", {"title": "By the fourth"})
    error = code_of(lambda: third.update("desk", {"title": "By the third"}))
    assert error.library_code == "CONFLICT"
    assert error.conflicts[0]["theirs"] == "By the fourth"


def test_a_program_that_writes_no_custom_is_merged_with(library: Library) -> None:
    library.add([{**SMITH, "custom": {"tags": ["a"]}}])
    own = library.get("smith-2023")["custom"]["uuid"]
    data = json.loads(library.path.read_text("utf-8"))
    del data[0]["custom"]
    library.path.write_text(json.dumps([data[0] | {"volume": "3"}]), "utf-8")
    item = library.update("smith-2023", {"note": "mine"})
    assert (item["volume"], item["note"]) == ("3", "mine")
    assert item["custom"]["uuid"] != own
    del data[0]["title"]
    library.path.write_text(json.dumps(data), "utf-8")
    error = code_of(lambda: library.update("smith-2023", {"title": "Mine"}))
    assert [one["member"] for one in error.conflicts] == ["title"]


def test_another_entry_of_the_same_key_is_not_merged_with(library: Library) -> None:
    library.add([SMITH])
    library.get("smith-2023")
    other = {"id": "smith-2023", "title": "Another", "custom": {"uuid": "of-another"}}
    library.path.write_text(json.dumps([other]), "utf-8")
    assert library.update("smith-2023", {"title": "Mine"})["title"] == "Mine"


def test_times_are_the_earliest_creation_and_the_latest_change() -> None:
    base = {"custom": {"created_at": "2024-02", "timestamp": "2024-02"}}
    mine = {"custom": {"created_at": "2024-01", "timestamp": "2024-05"}}
    theirs = {"custom": {"created_at": "2024-03", "timestamp": "2024-06"}}
    merged, conflicts = merged_item(base, mine, theirs)
    assert merged == {"custom": {"created_at": "2024-01", "timestamp": "2024-06"}}
    assert conflicts == []


def test_additions_of_two_libraries_are_both_there(open_library: Open) -> None:
    first, second = open_library(), open_library()
    first.add([SMITH])
    second.list()
    first.add([{"type": "book", "title": "One"}])
    second.add([{"type": "book", "title": "Two"}])
    assert {one["title"] for one in first.items()} == {SMITH["title"], "One", "Two"}


@pytest.mark.requirement("reference-manager:merge:scenarios")
@pytest.mark.long("corpus")
def test_the_merge_scenarios_of_reference_manager(corpus: Any, library: Library) -> None:
    path = corpus / "bib" / "reference-manager" / "merge-scenarios.csl.json"
    scene = json.loads(path.read_text("utf-8"))
    library.path.write_text(json.dumps(scene["base"]), "utf-8")
    library.items()
    library.path.write_text(json.dumps(scene["remote"]), "utf-8")
    base = {one["id"]: one for one in scene["base"]}
    for item in scene["local"]:
        if item["id"] in base:
            changed = {
                name: value for name, value in item.items() if base[item["id"]][name] != value
            }
            library.update(item["id"], changed)
        else:
            library.add([item])
    expected = {one["id"]: {**one, "custom": 0} for one in scene["expected_merged"]}
    assert {one["id"]: {**one, "custom": 0} for one in library.items()} == expected


_VALUES = st.sampled_from([1, "a", "b", True, None, ["x"], {"y": 1}])
_ITEM = st.dictionaries(
    st.sampled_from(["id", "title", "a", "custom"]),
    st.one_of(
        _VALUES,
        st.dictionaries(
            st.sampled_from(["tags", "x", "timestamp"]),
            st.one_of(_VALUES, st.lists(st.sampled_from("abc"), unique=True, max_size=3)),
        ),
    ),
)


def flat(item: Any, path: str = "") -> dict[str, Any]:
    """Returns path → value, with the members of `custom` apart."""
    found: dict[str, Any] = {}
    for name, value in item.items():
        if name == "custom" and isinstance(value, dict):
            found |= flat(value, "custom.")
        else:
            found[path + name] = value
    return found


@pytest.mark.requirement("library:shared:merge")
@pytest.mark.property
@given(_ITEM, _ITEM, _ITEM)
def test_no_change_is_lost_unreported(base: Any, mine: Any, theirs: Any) -> None:
    merged, conflicts = merged_item(base, mine, theirs)
    reported = {one.member for one in conflicts}
    result, old = flat(merged), flat(base)
    for side in (flat(mine), flat(theirs)):
        for path in {*old, *side}:
            missing = object()
            was, now = old.get(path, missing), side.get(path, missing)
            changed = (was is missing) != (now is missing) or not same(was, now)
            if not changed or path in reported or path.split(".")[0] in reported:
                continue
            got = result.get(path, missing)
            if path.split(".")[-1] in ("tags", "timestamp"):
                continue  # united, and the later one: tested above
            assert got is now or same(got, now), path
    assert same(merged_item(base, base, theirs)[0], theirs)
    assert same(merged_item(base, mine, base)[0], mine)
    assert merged_item(base, mine, mine)[1] == []
