"""The search index: words without accents, current whatever wrote, rebuilt if it is gone."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.papers.store import PaperEntry, PaperStore
from carrel.papers.store.index import PaperIndex
from carrel.papers.store.quick_reading import quick_entry
from carrel.papers.store.words import folded_text, search_expression
from carrel.records import parse_id

from .conftest import DOIGET, add


def found(store: PaperStore, query: str, limit: int = 50) -> list[str]:
    return [one.title for one in store.search(query, limit)]


@pytest.fixture
def filled(store: PaperStore) -> PaperStore:
    add(store, "10.1234/1", title="Über Schreibtische", authors=("Jürgen Müller", "Søren Łoś"))
    add(store, "10.1234/2", title="X-ray of desks", authors=("Mülleroz",), venue="Annals of Straße")
    add(store, "10.1234/3", title="\u6a5f\u68b0\u5b66\u7fd2\u306e\u57fa\u790e", publisher="Naïve")
    return store


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("muller", {1, 2}),
        ("MÜLLER", {1, 2}),
        ("Mu\u0308ller", {1, 2}),
        ("mul schrei", {1}),
        ("soren los", {1}),
        ("x-ray", {2}),
        ("strasse", {2}),
        ("straße", {2}),
        ("naive", {3}),
        ("\u68b0\u5b66", {3}),
        ("\u5b66\u68b0", set()),
        ("chreibtisch", {1}),
        ("ray x", {2}),
        ("muller desks schreib", set()),
        ("", set()),
        ('" OR 1', set()),
        ("muller AND NOT", set()),
        ("title:x NEAR(", set()),
        ("* ^ - ( ) \" '", set()),
        ("\0", set()),
        ("NOT", set()),
    ],
)
def test_words_are_found(filled: PaperStore, query: str, numbers: set[int]) -> None:
    assert {one.doi for one in filled.search(query)} == {f"10.1234/{n}" for n in numbers}


@given(st.text(max_size=40))
def test_no_query_is_an_error(query: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (a, b)")
    expression = search_expression(query)
    if expression:
        connection.execute("SELECT * FROM words WHERE words MATCH ?", (expression,)).fetchall()
    connection.close()
    assert "\n" not in folded_text(query)


def test_the_limit_holds(filled: PaperStore) -> None:
    assert len(filled.search("muller", 1)) == len(filled.recent(1)) == 1


def test_recent_papers_are_sorted_by_their_moments(store: PaperStore) -> None:
    moments = {
        "1": "2026-05-05T08:30:12Z",
        "2": "2026-05-05T09:30:12+02:00",
        "3": "2026-05-05T08:30:12.500Z",
        "4": "no moment",
    }
    for name, moment in moments.items():
        add(store, f"10.1234/{name}", title=name, fetched={"fetched_at": moment})
    assert [one.title for one in store.recent()] == ["3", "1", "2", "4"]


class TestKeepingUp:
    def test_another_process_s_entry_is_found_at_once(
        self, filled: PaperStore, open_store: Callable[[], PaperStore]
    ) -> None:
        other = open_store()
        assert found(other, "lamps") == []
        add(filled, "10.1234/4", title="Lamps")
        assert found(other, "lamps") == ["Lamps"]
        add(other, "10.1234/4", venue="Lights")
        assert found(filled, "lights") == ["Lamps"]

    def test_doigets_entry_is_found_at_once(self, filled: PaperStore) -> None:
        assert found(filled, "inventory") == []
        shutil.copy(DOIGET / ".metadata" / "doi_10.1234_desks.toml", filled.folder / ".metadata")
        assert len(found(filled, "inventory")) == 1
        assert filled.find(parse_id("10.1234/DESKS")) is not None

    def test_doigets_changes_are_found_at_once(self, filled: PaperStore) -> None:
        assert found(filled, "schreib") == ["Über Schreibtische"]
        path = filled.folder / ".metadata" / "doi_10.1234_1.toml"
        replace(path, path.read_text("utf-8").replace("Schreib", "Wickel"))
        assert found(filled, "wickel") == ["Über Wickeltische"]
        assert found(filled, "schreib") == []

    def test_an_entry_that_was_edited_in_place_is_not_shown_with_old_words(
        self, filled: PaperStore
    ) -> None:
        assert found(filled, "schreib") == ["Über Schreibtische"]
        path = filled.folder / ".metadata" / "doi_10.1234_1.toml"
        path.write_text(path.read_text("utf-8").replace("Schreib", "Wickel"), "utf-8")
        assert found(filled, "schreib") == []
        assert found(filled, "wickel") == ["Über Wickeltische"]

    def test_a_removed_entry_is_not_found(self, filled: PaperStore) -> None:
        assert found(filled, "schreib")
        (filled.folder / ".metadata" / "doi_10.1234_1.toml").unlink()
        assert found(filled, "schreib") == []
        assert len(filled.recent()) == 2
        assert filled.index.count() == 2

    def test_the_entry_of_a_process_killed_before_it_was_indexed_is_found(
        self,
        filled: PaperStore,
        open_store: Callable[[], PaperStore],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(PaperIndex, "written", lambda *_: None)
            add(open_store(), "10.1234/5", title="Killed")
        add(filled, "10.1234/6", title="Later")
        assert found(filled, "killed") == ["Killed"]

    def test_own_writes_cost_no_comparison_of_all_files(
        self, filled: PaperStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        filled.recent()
        time.sleep(0.05)
        filled.recent()
        comparisons: list[object] = []
        real = PaperIndex._compare

        def counted(*given: Any) -> None:
            comparisons.append(given)
            real(*given)

        monkeypatch.setattr(PaperIndex, "_compare", counted)
        for number in range(10, 15):
            add(filled, f"10.1234/{number}", title=f"Lamp {number}")
            assert found(filled, f"lamp {number}") == [f"Lamp {number}"]
        assert len(comparisons) <= 1

    def test_a_deleted_index_is_built_again(self, filled: PaperStore) -> None:
        assert len(found(filled, "muller")) == 2
        for path in filled.index.path.parent.iterdir():
            path.unlink()
        assert len(found(filled, "muller")) == 2
        assert filled.index.path.exists()

    @pytest.mark.parametrize("damage", [b"not a database" * 100, b""])
    def test_a_damaged_index_is_built_again(
        self, filled: PaperStore, open_store: Callable[[], PaperStore], damage: bytes
    ) -> None:
        filled.close()
        for path in filled.index.path.parent.iterdir():
            if path != filled.index.path:
                path.unlink()
        filled.close()
        filled.index.path.write_bytes(damage)
        assert len(found(open_store(), "muller")) == 2

    def test_an_index_of_another_version_is_built_again(
        self, filled: PaperStore, open_store: Callable[[], PaperStore]
    ) -> None:
        assert found(filled, "muller")
        path = filled.index.path
        filled.close()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        assert len(found(open_store(), "muller")) == 2

    def test_two_stores_have_two_indexes(self, filled: PaperStore, tmp_path: Path) -> None:
        other = PaperStore.open(tmp_path / "other", tmp_path / "cache")
        add(other, "10.1234/9", title="Elsewhere")
        assert found(other, "muller") == []
        assert found(filled, "elsewhere") == []
        other.close()


def replace(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


class TestQuickReading:
    @pytest.mark.parametrize("path", sorted((DOIGET / ".metadata").glob("*.toml")), ids=str)
    def test_it_reads_what_the_toml_reader_reads(self, path: Path) -> None:
        data = path.read_bytes()
        if b'"""' in data:
            assert quick_entry(data) is None
        else:
            assert quick_entry(data) == PaperEntry.from_toml(data)

    @given(
        st.builds(
            PaperEntry,
            title=st.text(),
            authors=st.lists(st.text(), max_size=3).map(tuple),
            year=st.none() | st.integers(-9999, 9999),
            venue=st.none() | st.text(),
            fetched=st.dictionaries(
                st.text("abc-_", min_size=1, max_size=3), st.text() | st.booleans() | st.integers()
            ),
            others=st.dictionaries(
                st.text("xyz é.", min_size=1, max_size=3),
                st.text() | st.floats(allow_nan=False) | st.lists(st.text() | st.booleans())
                | st.dictionaries(st.text("ab ", min_size=1), st.text() | st.lists(st.text())),
            ),
        )
    )  # fmt: skip
    def test_what_is_written_is_read_by_both(self, entry: PaperEntry) -> None:
        data = entry.to_toml().encode()
        read = PaperEntry.from_toml(data)
        assert read.to_toml().encode() == data
        assert read.others == {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in entry.others.items()
        }
        quick = quick_entry(data)
        assert quick is None or quick == read

    @pytest.mark.parametrize(
        "line",
        ["a = 1_000", "a = 'x'", "a = 2026-05-05", "a = nan", "a = 1.5", "a = {b = 1}", "a.b = 1",
         'a = "x" # y', "a = [1,\n2]", 'title = "again"', "a = null", "a = NaN", "a = [null]",
         'a = "\\U0001F600"', "[doiget.x]", "[[x]]", "[doiget]\n[doiget]"],
    )  # fmt: skip
    def test_what_is_not_in_canonical_form_is_left_to_the_toml_reader(self, line: str) -> None:
        text = f'schema_version = "1.0"\nauthors = []\ntitle = "x"\nyear = 1\n{line}\n'
        assert quick_entry(text.encode()) is None
