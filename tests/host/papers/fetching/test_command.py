"""`carrel papers fetch`: references from everywhere, a table, exit codes, progress."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.app import run
from carrel.config import DEFAULT_PLUGINS, Config
from carrel.papers.file_news import file_message, read_message
from support.paper_world import LANDING, PaperWorld, page_reply, pdf_reply

from .conftest import Papers

pytestmark = pytest.mark.long("matrix")

Run = Callable[..., tuple[int, str, str]]
PLOS = "https://journals.plos.org"


@pytest.fixture
def carrel(  # noqa: PLR0917 - fixtures
    world: PaperWorld,
    open_papers: Callable[..., Papers],
    configuration: Config,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Records what the sources and hosts answer, and runs the command on the recording."""
    world.add("10.5555/open", (f"{PLOS}/a.pdf", pdf_reply()))
    world.add("10.5555/closed")
    world.add("10.5555/page", (f"{PLOS}/p.pdf", page_reply(LANDING)))
    world.add("10.5555/away", ("https://elsewhere.example/x.pdf", pdf_reply()))
    world.add_eprint("2401.00001", pdf_reply())
    recorded = dataclasses.replace(configuration, record_dir=tmp_path / "exchanges")
    refs = ["10.5555/open", "10.5555/closed", "10.5555/page", "10.5555/away", "arXiv:2401.00001"]
    first = open_papers(recorded)
    for ref in (*refs, "10.5555/nobody"):
        first("paper_batch_fetch", refs=[ref])
    file = tmp_path / "carrel.toml"
    file.write_text(
        'cache_dir = "cache"\ndata_dir = "own"\n[papers]\nfolder = "papers"\n'
        '[fetch]\ncontact = "reader@example.org"\n'
        + "".join(
            f"[plugins.{name}]\nenabled = false\n"
            for name in DEFAULT_PLUGINS
            if name not in ("arxiv", "crossref", "unpaywall")
        )
    )

    def one(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        replay = ("--replay", str(tmp_path / "exchanges"))
        code = run(["papers", "fetch", *words, *replay, "--config", str(file)])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return one


def outcomes(out: str) -> dict[str, Any]:
    batch = json.loads(out)
    return {
        row["ref"]: "fetched" if row["ok"] else row["error"]["code"] for row in batch["results"]
    }


def test_one_paper(carrel: Run, tmp_path: Path) -> None:
    code, out, err = carrel("10.5555/open")
    assert (code, err) == (0, "")
    assert outcomes(out) == {"10.5555/open": "fetched"}
    assert (tmp_path / "papers" / "doi_10.5555_open.pdf").is_file()


@pytest.mark.parametrize(
    ("ref", "code", "word"),
    [
        ("10.5555/closed", 1, "no source knows an open copy"),
        ("10.5555/nobody", 1, "unknown to"),
        ("10.5555/page", 1, "landing page"),
        ("10.5555/away", 3, 'papers.publisher_hosts += ["elsewhere.example"]'),
        ("10.55", 2, "10.55"),
    ],
)
def test_a_paper_that_cannot_be_fetched_has_an_exit_code_and_a_reason(
    carrel: Run, ref: str, code: int, word: str
) -> None:
    found, _, err = carrel(ref)
    assert found == code
    assert word in err


def test_references_come_from_bibliographies_files_and_stdin(carrel: Run, tmp_path: Path) -> None:
    bib = tmp_path / "refs.bib"
    bib.write_text("@article{a, doi={10.5555/open}}\n@misc{b, title={}}\n")
    other = tmp_path / "more"
    other.write_text(json.dumps([{"id": "x", "DOI": "10.5555/closed"}]))
    code, out, err = carrel(str(bib), "-", "--from", str(other), stdin="arXiv:2401.00001\n")
    assert outcomes(out) == {
        "10.5555/open": "fetched",
        "arXiv:2401.00001": "fetched",
        "10.5555/closed": "NO_OA_AVAILABLE",
    }
    assert code == 1
    assert "b: it has neither an identifier nor a title" in err


def test_a_bibliography_that_is_not_there_is_named(carrel: Run) -> None:
    code, _, err = carrel("--from", "nowhere.bib")
    assert code == 2
    assert "nowhere.bib" in err
    assert carrel()[0] == 2


def test_a_dry_run_shows_the_plan(carrel: Run, tmp_path: Path) -> None:
    code, out, _ = carrel("10.5555/open", "--dry-run")
    assert code == 0
    [row] = json.loads(out)["results"]
    assert row["plan"]["target_pdf_path"].endswith("doi_10.5555_open.pdf")
    assert not (tmp_path / "papers").exists()


def test_a_refused_call_shows_no_table(carrel: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.papers.command.fetch.stdout_is_terminal", lambda: True)
    code, out, err = carrel("10.55", "--dry-run")
    assert (code, out) == (2, "")
    assert "10.55" in err
    code, out, _ = carrel("10.5555/closed")
    assert code == 1
    assert "NO_OA_AVAILABLE" in out


def test_progress_names_each_paper() -> None:
    message = file_message("10.5555/a · b", "downloading", 3_100_000, 12_000_000)
    assert message == "10.5555/a · b · 3.1 of 12.0 MB · downloading"
    news = read_message(file_message("10.5555/a", "downloading", 3_100_000, 12_000_000))
    assert news is not None
    assert (news.reference, news.words, news.done, news.total) == (
        "10.5555/a", "downloading", 3.1, 12.0,
    )  # fmt: skip
    plain = read_message(file_message("10.5555/a", "looking for open copies"))
    assert plain is not None
    assert (plain.words, plain.total, plain.has_ended) == ("looking for open copies", None, False)
    ended = read_message(file_message("10.5555/a", "ended: NOT_FOUND"))
    assert ended is not None
    assert ended.has_ended
    assert read_message("resolving") is None
