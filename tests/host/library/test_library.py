"""The library: what it adds, returns, changes and removes, and what it keeps of the file."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from carrel.library.library import Library

from .conftest import SMITH, Open, code_of


def test_opening_a_missing_library_creates_nothing(library: Library, tmp_path: Path) -> None:
    assert list(library.items()) == []
    assert library.list().total == 0
    assert not library.path.exists()
    assert list(tmp_path.glob("library*")) == []


def test_an_added_item_is_returned_by_key_and_by_uuid(library: Library) -> None:
    [added] = library.add([SMITH])
    assert (added.status, added.id, added.title) == ("added", "smith-2023", "Desks of the North")
    item = library.get("smith-2023")
    assert {name: item[name] for name in SMITH} == SMITH
    assert library.get(item["custom"]["uuid"]) == item
    assert item["custom"]["created_at"] == item["custom"]["timestamp"]
    assert json.loads(library.path.read_text("utf-8")) == [item]


def test_an_unknown_key_is_not_found(library: Library) -> None:
    for call in (lambda: library.get("x"), lambda: library.remove("x")):
        assert code_of(call).library_code == "NOT_FOUND"


def test_removal_keeps_the_other_entries(library: Library) -> None:
    library.add([SMITH, {**SMITH, "DOI": "10.1234/desk.2"}])
    assert library.remove("smith-2023")["DOI"] == "10.1234/Desk.1"
    assert [one["id"] for one in library.items()] == ["smith-2023a"]


def test_an_update_changes_only_the_named_members(library: Library) -> None:
    library.add([{**SMITH, "custom": {"tags": ["a"], "other": {"kept": True}}}])
    item = library.update("smith-2023", {"DOI": None, "note": "n", "custom": {"tags": ["b"]}})
    assert "DOI" not in item
    assert item["note"] == "n"
    assert item["custom"]["tags"] == ["b"]
    assert item["custom"]["other"] == {"kept": True}
    assert library.get("smith-2023") == item


def test_an_added_duplicate_names_the_entry_that_is_there(library: Library) -> None:
    library.add([SMITH])
    [again] = library.add([{"type": "book", "DOI": "https://doi.org/10.1234/DESK.1"}])
    assert (again.status, again.existing_id, again.duplicate_type) == (
        "skipped",
        "smith-2023",
        "doi",
    )
    assert len(library.items()) == 1


def test_a_taken_key_is_replaced_by_an_own_one(library: Library) -> None:
    library.add([{**SMITH, "id": "desk"}])
    [added] = library.add([{"id": "Desk", "type": "book", "title": "Another"}])
    assert added.id == "anon-nd-another"


def test_items_are_added_in_one_write_and_know_each_other(library: Library) -> None:
    outcomes = library.add([SMITH, {**SMITH, "title": "Again"}, {"title": "A", "type": "book"}])
    assert [one.status for one in outcomes] == ["added", "skipped", "added"]
    assert outcomes[1].existing_id == outcomes[0].id
    assert len(list((library.path.parent / "backups").rglob("*.json"))) == 0


def test_a_write_of_an_item_that_is_no_json_adds_nothing(library: Library) -> None:
    library.add([SMITH])
    before = library.path.read_bytes()
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for bad in (
        {"title": {1, 2}},
        {"title": float("nan")},
        {"title": "\ud800"},
        {"title": deep},
    ):
        assert code_of(lambda bad=bad: library.add([bad])).library_code == "INVALID"  # type: ignore[misc]
    assert code_of(lambda: library.add(["x"])).library_code == "INVALID"  # type: ignore[list-item]
    assert library.path.read_bytes() == before


def test_a_key_changes_only_on_request_and_never_to_a_taken_one(library: Library) -> None:
    library.add([SMITH, {"title": "Other", "type": "book"}])
    library.update("smith-2023", {"author": [{"family": "Jones"}]})
    assert library.get("smith-2023")["author"] == [{"family": "Jones"}]
    assert code_of(lambda: library.update("smith-2023", {"id": "ANON-nd-other"})).library_code == (
        "DUPLICATE"
    )
    assert library.update("smith-2023", {"id": "jones"})["id"] == "jones"
    assert library.get("jones")["title"] == SMITH["title"]


def test_a_template_makes_the_keys(open_library: Open) -> None:
    library = open_library(key_template="{author}{year}{title}")
    assert library.add([SMITH])[0].id == "smith2023desks"
    library.close()
    assert code_of(lambda: open_library(key_template="{nobody}")).library_code == "INVALID"


def test_a_list_hides_superseded_entries_unless_asked(library: Library) -> None:
    library.add([SMITH, {"title": "B", "type": "book", "custom": {"superseded_by": "u"}}])
    assert library.list().total == 1
    assert library.list(superseded=True).total == 2
    assert library.search("b").total == 1


def test_lists_are_sorted_and_paged(open_library: Open) -> None:
    clock = iter(range(1_700_000_000, 1_800_000_000))
    library = open_library(now=lambda: next(clock))
    for title, family, year in (("B", "Zed", 2001), ("a", "Élan", 1999), ("C", "Dow", 2010)):
        item = {"title": title, "author": [{"family": family}], "type": "book"}
        library.add([{**item, "issued": {"date-parts": [[year, 5]]}}])
    library.update("zed-2001", {"note": "n"})

    def order(sort: Any, order: Any = "asc") -> str:
        return "".join(one["title"] for one in library.list(sort=sort, order=order).items)

    assert order("created") == "BaC"
    assert order("updated") == "aCB"
    assert order("updated", "desc") == "BCa"
    assert order("published") == "aBC"
    assert order("title") == "aBC"
    assert order("author") == "CaB"
    page = library.list(sort="title", order="asc", limit=2)
    assert (len(page.items), page.total, page.next_offset) == (2, 3, 2)
    page = library.list(sort="title", order="asc", limit=2, offset=2)
    assert ([one["title"] for one in page.items], page.next_offset) == (["C"], None)
    assert len(library.list(limit=0).items) == 3
    assert library.list(offset=7).items == ()


@pytest.mark.parametrize("bad", [{"limit": -1}, {"offset": -1}, {"sort": "size"}, {"order": "up"}])
def test_arguments_that_cannot_be_used_are_refused(library: Library, bad: dict[str, Any]) -> None:
    assert code_of(lambda: library.list(**bad)).library_code == "INVALID"
    assert code_of(lambda: library.search("x", **bad)).library_code == "INVALID"


def test_a_merge_unites_and_its_dry_run_writes_nothing(library: Library) -> None:
    first = {
        **SMITH,
        "keyword": "a; b",
        "URL": "https://a.example",
        "custom": {"tags": ["x"], "attachments": {"directory": "A", "files": [
            {"filename": "f.pdf", "role": "fulltext"}]}},
    }  # fmt: skip
    second = {
        "type": "article-journal", "title": "Desks of the north", "PMID": "123", "keyword": "b; c",
        "URL": "https://b.example", "custom": {"tags": ["y"], "note": {"kept": 1},
        "attachments": {"directory": "B", "files": [{"filename": "g.md", "role": "fulltext"}]}},
    }  # fmt: skip
    third = {"type": "book", "title": "Third"}
    added = library.add([first, second, third])
    library.update(added[2].id, {"custom": {"superseded_by": added[1].uuid}})
    before = library.path.read_bytes()
    plan = library.merge(added[0].id, added[1].id, dry_run=True)
    assert library.path.read_bytes() == before
    done = library.merge(added[0].id, added[1].id)
    assert {**done.item, "custom": None} == {**plan.item, "custom": None}
    assert done.taken == ("PMID",)
    assert {one.member for one in done.differences} == {"title", "URL"}
    item = library.get(added[0].id)
    assert item["title"] == "Desks of the North"
    assert item["PMID"] == "123"
    assert item["keyword"] == "a; b; c"
    assert item["custom"]["tags"] == ["x", "y"]
    assert item["custom"]["additional_urls"] == ["https://b.example"]
    assert item["custom"]["note"] == {"kept": 1}
    assert [one["filename"] for one in item["custom"]["attachments"]["files"]] == [
        "f.pdf",
        "../B/g.md",
    ]
    assert library.get(added[2].id)["custom"]["superseded_by"] == added[0].uuid
    assert len(library.items()) == 2
    assert code_of(lambda: library.merge(added[0].id, added[0].id)).library_code == "INVALID"


def test_a_custom_member_of_another_form_is_kept(library: Library) -> None:
    library.path.write_text('[{"id": "a", "custom": "text"}]')
    item = library.update("a", {"custom": {"tags": ["x"]}})
    assert item["custom"]["original"] == "text"
    assert item["custom"]["tags"] == ["x"]


def test_threads_share_a_library(library: Library) -> None:
    def work(name: int) -> None:
        for number in range(10):
            library.add([{"type": "book", "title": f"Desk {name} {number}"}])
            assert library.search(f"title:desk title:{name}").total >= 1

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert library.list().total == 60
    assert len(json.loads(library.path.read_text("utf-8"))) == 60
