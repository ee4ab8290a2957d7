"""Tests of `carrel web read` over recorded answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.cli.app import run
from carrel.exchange import Request, Response
from carrel.fetch.recording import Recordings
from carrel.web.download import ACCEPT

from .test_read import PAGE, URL

Run = Callable[..., tuple[int, str, str]]
GRANT = '[web]\nhosts = "public-web"\n'


@pytest.fixture
def carrel(tmp_path: Path, code_folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs `carrel web read` over a recording of the page."""
    recordings = Recordings(tmp_path / "exchanges", create=True)
    request = Request("GET", URL, (("accept", ACCEPT),))
    answer = Response(200, URL, (("content-type", "text/html; charset=utf-8"),), "")
    recordings.keep(request, answer, PAGE)

    def one_run(*words: str, settings: str = GRANT) -> tuple[int, str, str]:
        file = tmp_path / "carrel.toml"
        file.write_text(f'cache_dir = "{code_folder}"\ndata_dir = "data"\n{settings}')
        options = ["--config", str(file), "--replay", str(recordings.directory)]
        code = run([*options, "web", "read", *words])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return one_run


def test_a_page_is_markdown_on_stdout_and_its_origin_on_stderr(carrel: Run) -> None:
    code, out, err = carrel("http://example.org/desks")
    assert code == 0
    assert out.startswith("# On walled desks\n")
    assert f"read {URL}, html, complete" in err


def test_a_cut_text_says_where_it_continues(carrel: Run) -> None:
    _, out, _ = carrel(URL, "--max-chars", "1200")
    assert "the next part: --from " in out


def test_json_is_the_result_of_the_tool(carrel: Run) -> None:
    code, out, _ = carrel(URL, "--json", "--section", "Lamps")
    result = json.loads(out)
    assert code == 0
    assert result["text"].startswith("## Lamps")
    assert result["trust"] == "untrusted-external-content"


def test_raw_is_the_source(carrel: Run) -> None:
    _, out, _ = carrel(URL, "--raw")
    assert out.startswith("<!doctype html>")


def test_without_the_grant_the_setting_is_named(carrel: Run) -> None:
    code, _, err = carrel(URL, settings="")
    assert code == 2
    assert "web.hosts is not set" in err


def test_a_private_address_exits_with_3(carrel: Run) -> None:
    code, _, err = carrel("https://localhost/")
    assert code == 3
    assert "localhost" in err
