"""The library: what it adds, returns, changes and removes, and what it keeps of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.library.errors import LibraryError
from carrel.library.library import Library

Open = Callable[..., Library]

SMITH = {
    "type": "article-journal",
    "title": "Desks of the North",
    "author": [{"family": "Smith", "given": "John"}],
    "issued": {"date-parts": [[2023]]},
    "DOI": "10.1234/Desk.1",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.json"


@pytest.fixture
def library(path: Path, tmp_path: Path) -> Library:
    return Library.open(path, cache_folder=tmp_path / "cache", backup_folder=tmp_path / "backups")


def code_of(call: Callable[[], Any]) -> LibraryError:
    with pytest.raises(LibraryError) as caught:
        call()
    return caught.value


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
