"""`carrel papers graph`: formats, files and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.cli.app import run
from carrel.config import DEFAULT_PLUGINS
from support.citations import links, paper
from support.guests import Guest

from .test_tool import ROOT, knows, lists

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def carrel(
    tmp_path: Path, code_folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Run]:
    """Makes the command over plugins of these names."""

    def make(**guests: Guest) -> Run:
        lines = [f"cache_dir = {str(code_folder)!r}", 'data_dir = "data"']
        lines += [
            f'plugins.{name} = {{ url = "builtin:{name}", enabled = false }}'
            for name in DEFAULT_PLUGINS
        ]
        for name, one in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(one.wasm)
            lines.append(f'plugins.{name} = {{ url = "{path.as_uri()}" }}')
        file = tmp_path / "carrel.toml"
        file.write_text("\n".join(lines) + "\n")

        def one_run(*words: str) -> tuple[int, str, str]:
            code = run(["papers", "graph", *words, "--config", str(file)])
            captured = capsysbinary.readouterr()
            return code, captured.out.decode(), captured.err.decode()

        return one_run

    return make


@pytest.fixture
def desks(carrel: Callable[..., Run]) -> Run:
    works = links(paper("10.5555/a", title="A\u202edesk", abstract="About a.", issued="1990"))
    return carrel(known=knows(), one=lists(works))


def test_json_goes_to_a_pipe(desks: Run) -> None:
    code, out, err = desks(ROOT)
    graph = json.loads(out)
    assert (code, graph["ok"], len(graph["nodes"])) == (0, True, 2)
    assert graph["nodes"][1]["abstract"] == "About a."
    assert "\u202e" not in out
    assert "not complete" not in err


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("graph.html", "<!doctype html>"),
        ("graph.graphml", "<?xml"),
        ("graph.mmd", "flowchart"),
        ("graph.json", '{"ok":true'),
        ("graph", '{"ok":true'),
    ],
)
def test_the_file_s_ending_is_the_format(desks: Run, tmp_path: Path, name: str, start: str) -> None:
    file = tmp_path / name
    file.write_text("an older graph")
    code, out, err = desks(ROOT, "--output", str(file))
    assert (code, out) == (0, "")
    assert file.read_text("utf-8").startswith(start)
    assert "2 papers, 1 citations" in err


def test_a_format_can_be_named(desks: Run) -> None:
    code, out, _ = desks(ROOT, "--format", "mermaid", "--direction", "references")
    assert (code, out.splitlines()[0]) == (0, "flowchart RL")


def test_a_folder_that_is_missing_is_reported_before_a_request(
    carrel: Callable[..., Run], tmp_path: Path
) -> None:
    code, _, err = carrel(trap=lists(links(), body="unreachable"))(
        ROOT, "--output", str(tmp_path / "none" / "graph.html")
    )
    assert code == 4
    assert "there is no folder" in err
    assert "trap" not in err


def test_a_file_that_cannot_be_written_is_exit_code_4(desks: Run, tmp_path: Path) -> None:
    file = tmp_path / ("x" * 300 + ".html")
    code, _, err = desks(ROOT, "--output", str(file))
    assert code == 4
    assert "too long" in err


def test_a_source_that_failed_is_named(carrel: Callable[..., Run]) -> None:
    broken = lists(links(), body="unreachable")
    run_one = carrel(known=knows(), one=lists(links(paper("10.5555/a"))), broken=broken)
    code, _, err = run_one(ROOT)
    assert code == 0
    assert "not complete: a source did not answer everything" in err
    assert "broken: references: 0 links, 1 of 1 requests failed" in err


def test_no_graph_is_a_failure(carrel: Callable[..., Run]) -> None:
    run_one = carrel(known=knows(), broken=lists(links(), body="unreachable"))
    code, out, err = run_one(ROOT)
    assert code == 1
    assert json.loads(out)["ok"] is False
    assert f"{ROOT}: no source listed links" in err
    assert run_one("no reference")[0] == 2
    assert run_one(ROOT, "--depth", "4")[0] == 2
