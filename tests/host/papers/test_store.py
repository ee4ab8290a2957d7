"""The paper store: doiget's format to the letter, gaps filled, nothing overwritten."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.papers.errors import PaperError
from carrel.papers.locking import locked
from carrel.papers.store import PaperEntry, PaperStore, safekey
from carrel.records import parse_id

from .conftest import DOIGET, PDF, add

KEY = "doi_10.1234_desks"


def raw(store: PaperStore, key: str) -> dict[str, object]:
    return tomllib.loads(text(store, key))


def text(store: PaperStore, key: str) -> str:
    return (store.folder / ".metadata" / f"{key}.toml").read_bytes().decode()


def refused(code: str) -> pytest.RaisesExc[PaperError]:
    return pytest.RaisesExc(PaperError, check=lambda error: error.paper_code == code)


def test_an_opened_store_creates_nothing(store: PaperStore, folder: Path, tmp_path: Path) -> None:
    assert not store.recent()
    assert not store.search("desks")
    assert not store.list_keys()
    assert store.find(parse_id("10.1234/desks")) is None
    assert store.read(KEY) is None
    assert store.is_writable()
    assert store.find_any_version(parse_id("2401.12345")) is None
    assert not folder.exists()
    assert not (tmp_path / "cache").exists()


def test_a_paper_is_written_in_canonical_form(store: PaperStore) -> None:
    paper = add(
        store,
        "10.1234/desks",
        pdf=PDF,
        title='A "title"\nin two lines \\ with a \u2028 separator and a half \ud800',
        venue="Annals of Desks",
        keywords=("one", "two"),
        others={"zoo": {"b": 1, "a": [1.5, True]}, "aaa": "x"},
        own={"pmid": "31452104"},
    )
    assert paper.key == KEY
    moment = paper.entry.fetched["fetched_at"]
    digest = paper.entry.own["sha256"]
    assert text(store, KEY) == (
        'schema_version = "1.0"\n'
        'aaa = "x"\n'
        'authors = ["Ada Reader"]\n'
        'doi = "10.1234/desks"\n'
        'keywords = ["one", "two"]\n'
        'pdf_path = "doi_10.1234_desks.pdf"\n'
        'title = """\nA \\"title\\"\n'
        'in two lines \\\\ with a \\u2028 separator and a half \ufffd"""\n'
        'venue = "Annals of Desks"\n'
        "year = 2024\n"
        "\n[carrel]\n"
        'pmid = "31452104"\n'
        f'sha256 = "{digest}"\n'
        "\n[doiget]\n"
        f'fetched_at = "{moment}"\n'
        'license = "unknown"\n'
        f"size_bytes = {len(PDF)}\n"
        'source = "unpaywall"\n'
        "\n[zoo]\n"
        "a = [1.5, true]\n"
        "b = 1\n"
    )
    path = store.pdf_path(KEY)
    assert path is not None
    assert path.read_bytes() == PDF


def test_files_and_folders_are_private(store: PaperStore) -> None:
    add(store, "10.1234/desks", pdf=PDF)
    for path in (store.folder, *store.folder.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


class TestDoigetsStore:
    def test_its_entries_are_read(self, doiget_store: PaperStore) -> None:
        paper = doiget_store.find(parse_id("https://doi.org/10.1234/DESKS"))
        assert paper is not None
        assert paper.entry.authors == ("Jürgen Müller", "The Desk Collaboration")
        assert paper.entry.fetched["tags"] == ["desks"]
        assert doiget_store.pdf_path(paper.key) == doiget_store.folder / f"{KEY}.pdf"
        assert doiget_store.find(parse_id("10.1016/S0370-1573(98)00122-3")) is not None
        assert doiget_store.find(parse_id("arXiv:cond-mat/9501001")) is not None

    def test_its_entries_are_listed_and_found(self, doiget_store: PaperStore) -> None:
        assert [one.key for one in doiget_store.recent()] == [
            "doi_10.1016_S0370-1573_98_00122-3",
            KEY,
            "arxiv_cond-mat_9501001",
        ]
        assert [one.key for one in doiget_store.search("muller inventory")] == [KEY]

    def test_a_file_in_canonical_form_is_written_back_unchanged(
        self, doiget_store: PaperStore
    ) -> None:
        for key in doiget_store.list_keys():
            entry = doiget_store.read(key)
            assert entry is not None
            assert entry.to_toml() == (DOIGET / ".metadata" / f"{key}.toml").read_text("utf-8")

    def test_gaps_are_filled_and_nothing_is_overwritten(self, doiget_store: PaperStore) -> None:
        before = raw(doiget_store, KEY)
        add(
            doiget_store,
            "10.1234/desks",
            title="Another title",
            year=1900,
            isbn="9783161484100",
            url="https://quiet.example/desks",
            abstract="Another abstract",
            fetched={"source": "crossref", "license": "other", "mcp_call_id": "01J"},
            others={"shelf": "C 1", "room": "2"},
        )
        after = raw(doiget_store, KEY)
        added = {"isbn": "9783161484100", "url": "https://quiet.example/desks", "room": "2"}
        fetched = {**before["doiget"], "mcp_call_id": "01J"}  # type: ignore[dict-item]
        assert after == {**before, **added, "doiget": fetched}

    def test_its_pdf_is_never_rewritten(self, doiget_store: PaperStore) -> None:
        before = raw(doiget_store, KEY)
        add(doiget_store, "10.1234/desks", pdf=PDF + b"another")
        path = doiget_store.pdf_path(KEY)
        assert path is not None
        assert path.read_bytes() == (DOIGET / path.name).read_bytes()
        assert raw(doiget_store, KEY) == before
        assert not list((doiget_store.folder / ".partial").glob("*.part"))

    def test_a_pdf_for_an_entry_without_one_replaces_what_described_none(
        self, doiget_store: PaperStore
    ) -> None:
        key = "doi_10.1016_S0370-1573_98_00122-3"
        fetched = {
            "source": "unpaywall",
            "license": "unknown",
            "fetched_at": "2026-06-01T00:00:00Z",
        }
        add(doiget_store, "10.1016/s0370-1573(98)00122-3", pdf=PDF, fetched=fetched)
        after = raw(doiget_store, key)
        assert after["title"] == "Reports on chairs"
        assert after["doiget"] == {
            **fetched, "size_bytes": len(PDF), "mcp_call_id": "01JCKZ7Q0000000000000000AB",
        }  # fmt: skip
        assert sorted(path.name for path in doiget_store.folder.glob("*.pdf")) == [
            f"{key}.pdf",
            f"{KEY}.pdf",
        ]


def test_two_spellings_of_a_doi_are_one_paper(store: PaperStore) -> None:
    first = add(store, "10.1103/PhysRevLett.130.200601")
    second = add(store, "10.1103/physrevlett.130.200601", venue="Phys. Rev. Lett.")
    assert first.key == second.key == "doi_10.1103_PhysRevLett.130.200601"
    assert store.list_keys() == [first.key]
    assert second.entry.venue == "Phys. Rev. Lett."


def test_another_paper_under_the_document_s_name_keeps_it(store: PaperStore) -> None:
    # What doiget writes for a DOI that collides.
    add(store, "10.1234/foo(bar)")
    folder = store.folder / ".metadata"
    [path] = folder.glob("*.toml")
    path.rename(folder / "doi_10.1234_foo_bar.toml")
    assert add(store, "10.1234/foo(bar)", venue="X").key == "doi_10.1234_foo_bar"
    other = add(store, "10.1234/foo_bar", title="Another")
    assert other.key.startswith("doi_10.1234_foo_bar_")
    assert len(store.list_keys()) == 2
    found = store.find(parse_id("10.1234/FOO_bar"))
    assert found is not None
    assert found.entry.title == "Another"


@pytest.mark.parametrize("reference", ["pmid:31452104", "PMC7096803", "2401.12345v2"])
def test_a_paper_is_found_by_what_it_was_stored_under(store: PaperStore, reference: str) -> None:
    paper = add(store, reference)
    found = store.find(parse_id(reference))
    assert found is not None
    assert found.key == paper.key == safekey(parse_id(reference))


def test_a_paper_is_found_by_its_other_identifiers(store: PaperStore) -> None:
    add(store, "10.1234/desks", arxiv_id="2401.12345v2", own={"pmid": "31452104"})
    for reference in ("pmid:31452104", "arXiv:2401.12345v2"):
        assert store.key_for(parse_id(reference)) == KEY
    assert store.find(parse_id("2401.12345")) is None
    any_version = store.find_any_version(parse_id("2401.12345"))
    assert any_version is not None
    assert any_version.key == KEY


def test_the_latest_version_of_an_e_print_is_found_without_version(store: PaperStore) -> None:
    for version in ("v2", "v10", "v9"):
        add(store, f"2401.12345{version}")
    found = store.find_any_version(parse_id("2401.12345"))
    assert found is not None
    assert found.key == "arxiv_2401.12345v10"


@pytest.mark.parametrize("version", ["1.1", "2.0", "1.10"])
def test_a_newer_schema_is_read_and_not_written(
    doiget_store: PaperStore, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = doiget_store.folder / ".metadata" / f"{KEY}.toml"
    path.write_text(text(doiget_store, KEY).replace('"1.0"', f'"{version}"', 1), "utf-8")
    before = path.read_bytes()
    with caplog.at_level(logging.WARNING):
        entry = doiget_store.read(KEY)
    assert entry is not None
    assert entry.title.startswith("How many")
    assert version in caplog.text
    with refused("SCHEMA_TOO_NEW"):
        add(doiget_store, "10.1234/desks", url="https://quiet.example/")
    with refused("SCHEMA_TOO_NEW"):
        add(doiget_store, "10.1234/desks", pdf=PDF)
    assert path.read_bytes() == before


@pytest.mark.parametrize("member", ["schema_version", "title", "authors", "year"])
def test_an_entry_without_a_required_member_is_refused(
    doiget_store: PaperStore, member: str
) -> None:
    path = doiget_store.folder / ".metadata" / f"{KEY}.toml"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(one for one in lines if not one.startswith(f"{member} =")), "utf-8")
    with pytest.raises(PaperError, match=f"lacks {member}") as caught:
        doiget_store.read(KEY)
    assert caught.value.paper_code == "STORE_ERROR"
    assert KEY in doiget_store.index.faults()
    assert KEY not in [one.key for one in doiget_store.recent()]


def test_a_paper_whose_year_nobody_knows_is_stored_and_says_so(store: PaperStore) -> None:
    add(store, "10.1234/desks", year=None)
    assert raw(store, KEY)["carrel"] == {"year_unknown": True}
    entry = store.read(KEY)
    assert entry is not None
    assert entry.year is None
    add(store, "10.1234/desks", year=2001)
    assert raw(store, KEY)["year"] == 2001
    assert "carrel" not in raw(store, KEY)


@pytest.mark.parametrize(
    "damage",
    [b"", b"no toml", b"\xff\xfe", b'schema_version = "x"\ntitle = 1', b"a = " + b"[" * 10**5],
)
def test_a_damaged_entry_is_an_error_and_is_not_overwritten(
    doiget_store: PaperStore, damage: bytes
) -> None:
    path = doiget_store.folder / ".metadata" / f"{KEY}.toml"
    path.write_bytes(damage)
    with refused("STORE_ERROR"):
        doiget_store.read(KEY)
    with refused("STORE_ERROR"):
        add(doiget_store, "10.1234/desks")
    assert path.read_bytes() == damage
    assert list(doiget_store.index.faults()) == [KEY]
    assert len(doiget_store.recent()) == 2


def test_a_lock_that_another_process_holds_is_a_lock_timeout(
    store: PaperStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from carrel.files.locking import PATIENCE
    from carrel.papers.store import paper_store

    assert PATIENCE == 5.0
    monkeypatch.setattr(paper_store, "locked", lambda path: locked(path, patience=0.05))
    add(store, "10.1234/desks")
    with locked(store.folder / ".metadata" / f"{KEY}.toml.lock"), refused("LOCK_TIMEOUT"):
        add(store, "10.1234/desks", venue="X")
    add(store, "10.1234/desks", venue="X")


def test_what_the_provenance_refuses_is_not_stored(store: PaperStore) -> None:
    def refuse(_paper: object) -> None:
        raise PaperError("LOG_ERROR", "full")

    identifier = parse_id("10.1234/desks")
    entry = PaperEntry(title="Desks", year=2024, doi=identifier.id)
    with store.receive(KEY) as file:
        file.begin()
        file.write(PDF)
        with refused("LOG_ERROR"):
            store.write(identifier, entry, file, before=refuse)
    assert store.read(KEY) is None
    assert store.pdf_path(KEY) is None
    assert not list(store.folder.glob(".partial/*.part"))


def test_an_orphan_pdf_of_a_killed_process_is_replaced(store: PaperStore) -> None:
    store.folder.mkdir()
    (store.folder / f"{KEY}.pdf").write_bytes(b"%PDF-1.0 orphan")
    assert store.recent() == []
    paper = add(store, "10.1234/desks", pdf=PDF)
    path = store.pdf_path(KEY)
    assert path is not None
    assert path.read_bytes() == PDF
    assert paper.entry.fetched["size_bytes"] == len(PDF)


def test_abandoned_temporary_files_are_removed(
    store: PaperStore, open_store: Callable[[], PaperStore]
) -> None:
    add(store, "10.1234/desks")
    old, new = (store.folder / ".metadata" / f".{name}.tmp" for name in ("old", "new"))
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    add(open_store(), "10.1234/chairs")
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize("key", ["..", "../x", "a/b", ".metadata", "", "a..b", "x" * 300])
def test_a_key_leads_nowhere_else(store: PaperStore, key: str) -> None:
    for use in (store.read, store.pdf_path):
        with refused("INVALID_REF"):
            use(key)


def test_a_file_in_place_of_the_folder_is_an_error(folder: Path, tmp_path: Path) -> None:
    folder.write_text("")
    with refused("STORE_ERROR"):
        PaperStore.open(folder, tmp_path)
