"""Tests `carrel library`: outputs in a pipe, exit codes, files of a person."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.app import run
from support.library_world import (
    PLUGINS,
    crossref,
    crossref_work,
    item,
    no_notices,
    not_in_pubmed,
    write_library,
)
from support.surfaces import recording

FIXTURES = Path(__file__).parents[2] / "fixtures"
DOI = "10.5555/tidy.2019"
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(
    tmp_path: Path,
    code_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Cli:
    """Runs a command with a configuration of its own, which replays exchanges."""
    exchanges = [
        *crossref(DOI, crossref_work(DOI)),
        not_in_pubmed(22, DOI),
        no_notices(DOI),
    ]
    from carrel.config.model import DEFAULT_PLUGINS

    off = {
        name: {"url": f"builtin:{name}", "enabled": False}
        for name in DEFAULT_PLUGINS
        if name not in PLUGINS
    }
    settings = {
        "cache_dir": str(code_folder),
        "data_dir": str(tmp_path / "data"),
        "replay_dir": str(recording(tmp_path / "recorded", exchanges)),
        "plugins": off,
    }
    (tmp_path / "carrel.json").write_text(json.dumps(settings), "utf-8")
    monkeypatch.setenv("CARREL_CONFIG", str(tmp_path / "carrel.json"))
    monkeypatch.setenv("CARREL_LIBRARY", str(tmp_path / "library.json"))
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        code = run(["library", *words])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return call


def test_add_takes_identifiers_and_files_of_a_person(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text("@book{holm, title={Shelves}, year={2019}}", "utf-8")
    code, out, err = cli("add", DOI, "refs.bib", "?")
    result = json.loads(out)
    assert [one["status"] for one in result["outcomes"]] == ["added", "added", "failed"]
    assert code == 1
    assert "validation_error" in err
    assert cli("add", "?")[0] == 2
    code, out, _ = cli("add", "--jsonl", DOI)
    assert (code, json.loads(out)["status"]) == (0, "skipped")


def test_a_pdf_in_any_folder_of_a_person_is_read(cli: Cli) -> None:
    pdf = FIXTURES / "pdf" / "paper" / "document.pdf"
    code, out, _ = cli("add", str(pdf))
    [outcome] = json.loads(out)["outcomes"]
    # Its DOI is found, and nothing is recorded of it.
    assert (code, outcome["kind"], outcome["reason"]) == (1, "pdf", "fetch_error")
    assert "10.5555/room.2001.7" in outcome["message"]


def test_references_are_listed_searched_shown_and_exported(cli: Cli, tmp_path: Path) -> None:
    write_library(tmp_path / "library.json", item(), item("holm", title="Shelves", DOI="10.5555/h"))
    assert json.loads(cli("list", "--sort", "title", "--order", "asc")[1])["total"] == 2
    lines = cli("list", "--jsonl")[1].splitlines()
    assert {json.loads(line)["id"] for line in lines} == {"marlow-2019", "holm"}
    assert json.loads(cli("search", "title:shelves")[1])["items"][0]["id"] == "holm"
    code, out, err = cli("show", "holm", "nobody")
    assert (code, json.loads(out)["title"], "nobody" in err) == (1, "Shelves", True)
    code, out, _ = cli("export", "holm", "--to", "bibtex")
    assert (code, out.lstrip()[:13]) == (0, "@article{holm")
    assert len(json.loads(cli("export", "--to", "csl-json")[1])) == 2
    assert "Shelves" in cli("export", "--search", "shelves", "--to", "ris")[1]


@pytest.mark.requirement("reference-manager:superseded:export")
def test_an_export_has_what_a_list_hides(cli: Cli, tmp_path: Path) -> None:
    replaced = item("old", DOI="10.5555/old", custom={"superseded_by": "marlow-2019"})
    write_library(tmp_path / "library.json", item(), replaced)
    assert [one["id"] for one in json.loads(cli("list")[1])["items"]] == ["marlow-2019"]
    exported = json.loads(cli("export", "--to", "csl-json")[1])
    assert {one["id"] for one in exported} == {"marlow-2019", "old"}


def test_removing_needs_force_and_an_unknown_key_is_a_failure(cli: Cli, tmp_path: Path) -> None:
    write_library(tmp_path / "library.json", item())
    code, out, _ = cli("remove", "marlow-2019")
    assert (code, json.loads(out)["removed"]) == (0, False)
    code, out, _ = cli("remove", "--force", "marlow-2019", "nobody")
    assert (code, [json.loads(line)["removed"] for line in out.splitlines()]) == (1, [True, False])


def test_what_was_mistyped_is_named(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("list")
    assert (code, json.loads(out)["total"]) == (0, 0)
    assert f"there is no library at {tmp_path / 'library.json'} yet" in err
    write_library(tmp_path / "library.json", item())
    code, _, err = cli("show", "marlow-2018")
    assert (code, "did you mean 'marlow-2019'?" in err) == (1, True)
    code, _, err = cli("search", "titel:desk")
    assert (code, "titel: is no field" in err, "title" in err) == (0, True, True)
    assert cli("search", "title:desk")[2] == ""
    for name in ("missing.bib", "missing.pdf", "no-folder/missing.ris"):
        code, out, err = cli("add", name)
        [outcome] = json.loads(out)["outcomes"]
        reason = "there is no such file" if "/" not in name else "no folder"
        assert (code != 0, outcome["status"]) == (True, "failed")
        assert reason in outcome["message"], name
    assert ".bib" in json.loads(cli("add", "notes.txt")[1])["outcomes"][0]["message"]
    assert "With --force" in json.loads(cli("remove", "marlow-2019")[1])["message"]


def test_merging_has_a_dry_run(cli: Cli, tmp_path: Path) -> None:
    other = item("other", title="The Tidy Desk", DOI="10.5555/other", note="A note.")
    path = write_library(tmp_path / "library.json", item(), other)
    before = path.read_bytes()
    code, out, _ = cli("merge", "marlow-2019", "other", "--dry-run")
    result = json.loads(out)
    assert (code, result["removed"], "note" in result["taken"]) == (0, "other", True)
    assert path.read_bytes() == before
    assert cli("merge", "marlow-2019", "other")[0] == 0
    assert len(json.loads(path.read_text("utf-8"))) == 1
    assert cli("merge", "marlow-2019", "marlow-2019")[0] == 2


def test_a_check_reports_what_is_unknown(cli: Cli, tmp_path: Path) -> None:
    write_library(tmp_path / "library.json", item(), item("lost", DOI="10.5555/lost"))
    code, out, err = cli("check", "--all", "--no-save")
    report = json.loads(out)
    found = {one["id"]: one["status"] for one in report["results"]}
    assert (code, found["lost"], "lost" in err) == (1, "unknown", True)
    assert report["summary"]["total"] == 2
    assert cli("check")[0] == 2
    code, out, _ = cli("check", "marlow-2019")
    assert (code, json.loads(out)["results"][0]["status"]) == (0, "ok")


def test_full_texts_are_attached_from_any_folder(cli: Cli, tmp_path: Path) -> None:
    write_library(tmp_path / "library.json", item())
    (tmp_path / "notes.md").write_text("# Notes\n", "utf-8")
    code, out, _ = cli("attach", "marlow-2019", "notes.md")
    assert (code, json.loads(out)["kind"]) == (0, "markdown")
    assert json.loads(cli("fulltext", "marlow-2019")[1])["text"] == "# Notes\n"
    assert cli("attach", "marlow-2019", "notes.md")[0] != 0
    assert cli("attach", "--replace", "marlow-2019", "notes.md")[0] == 0
    assert json.loads(cli("detach", "marlow-2019", "--delete")[1])["deleted"] is True
    assert cli("fulltext", "marlow-2019")[0] == 1


def test_a_backup_is_restored_and_the_present_content_kept(cli: Cli, tmp_path: Path) -> None:
    path = write_library(tmp_path / "library.json", item())
    before = path.read_bytes()
    cli("remove", "--force", "marlow-2019")
    [backup] = json.loads(cli("backups")[1])["backups"]
    assert backup["bytes"] == len(before)
    assert cli("restore", "no-such-backup")[0] == 1
    assert cli("restore", backup["name"])[0] == 0
    assert path.read_bytes() == before
    assert len(json.loads(cli("backups")[1])["backups"]) == 2


def test_a_damaged_library_ends_with_four(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "library.json").write_text("[{", "utf-8")
    for words in (["list"], ["add", "@misc{a, title={A}}"], ["remove", "a"]):
        assert cli(*words)[0] == 4


def test_without_a_setting_the_library_is_in_the_data_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARREL_LIBRARY")
    assert cli("add", "@misc{a, title={A}}")[0] == 0
    assert (tmp_path / "data" / "library.json").is_file()
    assert cli("add", "--library", str(tmp_path / "b.json"), "@misc{a, title={A}}")[0] == 0
    assert (tmp_path / "b.json").is_file()
    no_limit: Any = json.loads(cli("list", "--limit", "0")[1])
    assert no_limit["total"] == 1
