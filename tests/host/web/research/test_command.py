"""Tests of `carrel web research` over recorded answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.cli.app import run
from support.library_world import crossref, crossref_work
from support.surfaces import recording
from support.web_world import web_settings

DOI = "10.5555/new.2020"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def carrel(tmp_path: Path, code_folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs `carrel` over a recording of one work; the toolset `web` is off."""
    exchanges = crossref(DOI, crossref_work(DOI, title=["New desks of walls"]))
    recorded = recording(tmp_path / "recorded", exchanges)

    def one_run(*words: str, **web: object) -> tuple[int, str, str]:
        settings = web_settings(tmp_path, code_folder, recorded, "crossref", web=web)
        file = tmp_path / "carrel.json"
        file.write_text(json.dumps(settings), "utf-8")
        code = run(["--config", str(file), *words])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return one_run


def test_a_citation_is_verified_though_the_toolset_is_off(carrel: Run) -> None:
    code, out, _ = carrel("web", "research", "verify", DOI)
    assert code == 0
    first, second, *_ = out.splitlines()
    assert first == "confirmed, confidence high"
    assert second == f"work: New desks of walls (2019) https://doi.org/{DOI}"


def test_json_is_the_result_of_the_tool(carrel: Run) -> None:
    _, out, _ = carrel("web", "research", "verify", DOI, "--json", "--claim", "desks")
    result = json.loads(out)
    assert (result["verification_status"], result["claim"]) == ("confirmed", "desks")


def test_an_audit_lists_entries_with_flags(carrel: Run, tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(
        f"@article{{a, title={{New desks of walls}}, doi={{{DOI}}}}}\n@book{{b, author={{Nobody}}}}"
    )
    code, out, err = carrel("web", "research", "audit", str(file))
    assert code == 0
    assert out.startswith("2. an entry [unchecked]: ")
    assert "carrel: 2 total, 1 unchecked, 1 ok" in err


def test_a_file_that_is_no_bibliography_is_an_error(carrel: Run, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("just a text")
    code, _, err = carrel("web", "research", "audit", str(tmp_path / "x.txt"))
    assert code != 0
    assert "no bibliography" in err


def test_a_session_is_exported(carrel: Run) -> None:
    step = {"search_step": "look", "step_number": 1, "next_step_needed": False}
    step["research_goal"] = "How do walls help?"
    _, out, _ = carrel("call", "research_step", json.dumps(step), research=True)
    id_ = json.loads(out)["session_id"]
    code, out, _ = carrel("web", "research", "export", id_)
    assert code == 0
    assert out.startswith("# How do walls help?\n")
    _, out, _ = carrel("web", "research", "export", id_, "--json")
    assert json.loads(out)["session_id"] == id_


def test_a_session_that_is_not_there_is_an_error(carrel: Run) -> None:
    code, _, err = carrel("web", "research", "export", "nothing")
    assert code != 0
    assert "Session not found or expired" in err
