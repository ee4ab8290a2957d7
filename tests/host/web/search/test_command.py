"""Tests of `carrel web search` over recorded answers, and of what `carrel doctor` says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.cli.app import run
from carrel.config import DEFAULT_PLUGINS
from carrel.exchange import Request, Response
from carrel.fetch.recording import Recordings

from .test_providers import answer_of

Run = Callable[..., tuple[int, str, str]]
JSON = (("content-type", "application/json"),)
BRAVE = (
    "https://api.search.brave.com/res/v1/web/search?q={}&count=10&result_filter=web"
    "&text_decorations=false&safesearch=moderate"
)
SEARX = "https://endpoint.invalid/search?q={}&format=json&categories=general&safesearch=1"


@pytest.fixture
def carrel(
    tmp_path: Path,
    code_folder: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Runs the command line over a recording of some searches."""
    monkeypatch.delenv("CARREL_SECRET_BRAVE_API_KEY", raising=False)
    recordings = Recordings(tmp_path / "exchanges", create=True)
    for url, body, status in [
        (BRAVE.format("walled%20desks"), answer_of("brave"), 200),
        (BRAVE.format("qqqq"), answer_of("brave", "no_results"), 200),
        (BRAVE.format("busy"), answer_of("brave", "quota"), 402),
        (SEARX.format("busy"), answer_of("searxng"), 200),
    ]:
        accept = (("accept", "application/json"),) if "brave" in url else ()
        request = Request("GET", url, accept)
        recordings.keep(request, Response(status, url, JSON, body.decode(), len(body)))

    def one_run(
        *words: str, settings: str = '[web]\nsearch = ["brave"]\n', replay: bool = True
    ) -> tuple[int, str, str]:
        file = tmp_path / "carrel.toml"
        file.write_text(f'cache_dir = "{code_folder}"\ndata_dir = "data"\n{settings}')
        options = ["--config", str(file)]
        if replay:
            options += ["--replay", str(recordings.directory)]
        code = run([*options, *words])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return one_run


def test_results_are_a_list_on_stdout_and_the_provider_is_on_stderr(carrel: Run) -> None:
    code, out, err = carrel("web", "search", "walled", "desks")
    assert code == 0
    assert out.startswith(
        "1. Walled desks for libraries\n   https://desks.example.org/walled?ref=1\n"
        "   2021-03-05: A walled desk is called a carrel & was first built for monks.\n2. "
    )
    assert "asked brave" in err


def test_json_is_the_result_of_the_tool(carrel: Run) -> None:
    code, out, _ = carrel("web", "search", "walled desks", "--json", "--claim", "monks")
    result = json.loads(out)
    assert (code, result["result_count"]) == (0, 2)
    assert result["results"][0]["claim_signal"].startswith("A walled desk")
    assert result["trust"] == "untrusted-external-content"


def test_nothing_found_says_what_to_change(carrel: Run) -> None:
    code, out, err = carrel("web", "search", "qqqq")
    assert (code, out) == (0, "")
    assert "nothing found" in err


def test_another_provider_answers_from_the_recording(carrel: Run) -> None:
    endpoint = '[plugins.searxng.runtime_config]\nendpoint = "https://search.example.org"\n'
    settings = f'[web]\nsearch = ["brave", "searxng"]\n{endpoint}'
    code, out, err = carrel("web", "search", "busy", settings=settings)
    assert code == 0, err
    assert out.startswith("1. Walled desks\n")
    assert "asked searxng" in err


def test_without_providers_the_setting_is_named(carrel: Run) -> None:
    code, _, err = carrel("web", "search", "x", settings="")
    assert code == 2
    assert "web.search is not set" in err


def test_an_unknown_provider_exits_with_2(carrel: Run) -> None:
    code, _, err = carrel("web", "search", "x", "--provider", "bing")
    assert code == 2
    assert "all supported providers: brave, duckduckgo, exa" in err


def test_a_plugin_that_does_not_exist_is_named(carrel: Run) -> None:
    code, _, err = carrel("web", "search", "x", settings='[web]\nsearch = ["bing"]\n')
    assert code != 0
    assert "bing" in err


def test_doctor_says_which_providers_can_be_asked(carrel: Run) -> None:
    off = "".join(f"[plugins.{name}]\nenabled = false\n" for name in DEFAULT_PLUGINS)
    settings = f'[web]\nsearch = ["brave", "duckduckgo", "searxng"]\n{off}'
    code, out, _ = carrel("doctor", "--json", settings=settings, replay=False)
    report = json.loads(out)
    assert code == 1
    states = {one["name"]: one["usable"] for one in report["search"]}
    assert states == {"brave": False, "duckduckgo": True, "searxng": False}
    problems = "\n".join(report["problems"])
    assert "brave cannot be asked: api_key is not set; set CARREL_SECRET_BRAVE_API_KEY" in problems
    assert "plugins.searxng.runtime_config.endpoint" in problems
