"""`carrel papers`: what is printed, and the exit codes of the document."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.app import run
from carrel.papers.errors import PAPER_CODES, exit_code_of
from carrel.papers.provenance import LogRow, ProvenanceLog
from carrel.papers.store import PaperStore

from .conftest import PDF, add

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def carrel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    file = tmp_path / "carrel.toml"
    file.write_text(
        'cache_dir = "cache"\ndata_dir = "data"\n[papers]\nfolder = "papers"\nlog_folder = "log"\n'
    )

    def one(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = run(["papers", *words, "--config", str(file)])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return one


def entries(answer: tuple[int, str, str]) -> list[dict[str, Any]]:
    code, out, _ = answer
    assert code == 0
    result = json.loads(out)
    assert result["ok"] is True
    found: list[dict[str, Any]] = result["entries"]
    return found


@pytest.fixture
def filled(store: PaperStore) -> PaperStore:
    add(store, "10.1234/desks", pdf=PDF, authors=("Jürgen Müller",))
    add(store, "10.1234/chairs", title="Chairs")
    return store


@pytest.mark.usefixtures("filled")
def test_papers_are_listed_and_searched(carrel: Run) -> None:
    assert len(entries(carrel("list"))) == 2
    assert len(entries(carrel("list", "--limit", "1"))) == 1
    assert [one["title"] for one in entries(carrel("search", "--local", "muller"))] == ["Desks"]
    assert entries(carrel("search", "--local", "nothing")) == []


def test_an_empty_store_is_listed(carrel: Run) -> None:
    assert entries(carrel("list")) == []


@pytest.mark.usefixtures("filled")
def test_a_paper_is_shown(carrel: Run, folder: Path) -> None:
    code, out, _ = carrel("info", "doi:10.1234/DESKS")
    info = json.loads(out)
    assert code == 0
    assert info["metadata"]["title"] == "Desks"
    assert info["pdf"] == str(folder / "doi_10.1234_desks.pdf")


@pytest.mark.usefixtures("filled")
def test_a_paper_that_is_not_stored_is_reported(carrel: Run) -> None:
    code, out, err = carrel("info", "10.1234/none")
    assert (code, json.loads(out)["metadata"]) == (1, None)
    assert "10.1234/none is not in the store" in err


@pytest.mark.usefixtures("filled")
def test_papers_are_exported(carrel: Run) -> None:
    code, out, _ = carrel("export")
    assert code == 0
    assert out.count("@misc{") == 2
    code, out, _ = carrel("export", "10.1234/chairs", "10.1234/CHAIRS", "--format", "csl-json")
    assert [one["title"] for one in json.loads(out)] == ["Chairs"]
    code, out, _ = carrel(
        "export", "-", "--format", "ris", stdin="10.1234/chairs\n\n10.1234/desks\n"
    )
    assert code == 0
    assert out.count("TY  - ") == 2


@pytest.mark.usefixtures("filled")
def test_what_cannot_be_exported_is_named(carrel: Run) -> None:
    code, out, err = carrel("export", "10.1234/none", "10.1234/chairs", "no reference")
    assert code == 1
    assert out.count("@misc{") == 1
    assert "10.1234/none: not in the store" in err
    assert "no reference" in err
    assert carrel("export", "no reference")[0] == 2


@pytest.mark.parametrize("command", ["info", "export"])
def test_a_bad_reference_is_misuse(carrel: Run, command: str) -> None:
    code, _, err = carrel(command, "no reference")
    assert code == 2
    assert "expected a DOI" in err


def test_a_store_that_cannot_be_read_is_exit_code_4(carrel: Run, filled: PaperStore) -> None:
    (filled.folder / ".metadata" / "doi_10.1234_desks.toml").write_text("no toml")
    code, _, err = carrel("info", "10.1234/desks")
    assert code == 4
    assert "doi_10.1234_desks.toml" in err
    code, out, err = carrel("export")
    assert (code, out.count("@misc{")) == (1, 1)


class TestVerify:
    @pytest.fixture
    def log(self, tmp_path: Path) -> ProvenanceLog:
        log = ProvenanceLog(tmp_path / "log" / "access.log")
        for number in range(5):
            log.append(LogRow(event="fetch", ref=f"10.1234/{number}"))
        return log

    @pytest.mark.usefixtures("filled", "log")
    def test_an_intact_log_and_store_are_verified(self, carrel: Run) -> None:
        code, out, err = carrel("verify", "--contents")
        report = json.loads(out)
        assert (code, err) == (0, "")
        assert report["ok"] is True
        assert report["log"]["rows"] == 5
        assert report["store"] == {"entries": 2, "faults": []}

    def test_a_changed_row_is_named(self, carrel: Run, log: ProvenanceLog) -> None:
        log.path.write_bytes(log.path.read_bytes().replace(b"10.1234/2", b"10.1234/9"))
        code, out, err = carrel("verify")
        assert code == 1
        assert [(one["kind"], one["row"]) for one in json.loads(out)["log"]["faults"]] == [
            ("changed", 3)
        ]
        assert "access.log: row 3 changed" in err

    def test_a_pdf_that_was_changed_or_removed_is_named(
        self, carrel: Run, filled: PaperStore
    ) -> None:
        path = filled.folder / "doi_10.1234_desks.pdf"
        path.write_bytes(PDF[:-1] + b"x")
        assert carrel("verify")[0] == 0, "the contents are not read by default"
        code, out, _ = carrel("verify", "--contents")
        assert code == 1
        [fault] = json.loads(out)["store"]["faults"]
        assert fault["key"] == "doi_10.1234_desks"
        assert "SHA-256" in fault["message"]
        path.write_bytes(PDF + b"more")
        assert "bytes" in json.loads(carrel("verify")[1])["store"]["faults"][0]["message"]
        path.unlink()
        assert "missing" in json.loads(carrel("verify")[1])["store"]["faults"][0]["message"]

    def test_a_log_that_cannot_be_read_is_exit_code_4(self, carrel: Run, tmp_path: Path) -> None:
        (tmp_path / "log" / "access.log").mkdir(parents=True)
        assert carrel("verify")[0] == 4


def test_exit_codes_are_the_document_s() -> None:
    exit_codes = {code: exit_code_of(code) for code in PAPER_CODES}
    assert {code for code, number in exit_codes.items() if number == 2} == {
        "INVALID_REF",
        "AMBIGUOUS",
    }
    assert exit_codes["CAPABILITY_DENIED"] == 3
    assert exit_codes["STORE_ERROR"] == exit_codes["LOG_ERROR"] == 4
    assert exit_codes["FETCH_TIMEOUT"] == 124
    assert exit_codes["NOT_FOUND"] == exit_codes["NETWORK_ERROR"] == 1


def test_a_search_of_the_store_takes_no_filter(carrel: Run) -> None:
    code, _, err = carrel("search", "desks", "--local", "--open")
    assert code == 2
    assert "--local takes no filter" in err
