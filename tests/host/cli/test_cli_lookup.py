"""Tests `carrel lookup`: merged works, and the exit code when a work was not found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.config import DEFAULT_PLUGINS
from support.command_line import CommandLine
from support.guests import guest
from support.manifests import manifest_text

A = {"type": "doi", "id": "10.1000/A"}
B = {"type": "doi", "id": "10.1000/b"}
C = {"type": "doi", "id": "10.1000/c"}
WORK: dict[str, Any] = {
    "ids": {"doi": "10.1000/A"},
    "type": "article",
    "title": "On \x1b[31mdesks",
    "issued": "2020-02",
    "references": [{"key": "1"}],
    "source": "papers",
}


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    """Returns a real host with one plugin that has work A, lacks B and may not ask for C."""
    answer = {
        "works": [{"id": A, "work": WORK}],
        "not_found": [B],
        "failed": [{"id": C, "code": "denied", "message": "api.example.org is not granted"}],
    }
    lookup = {"identifiers": ["doi"], "batch": 10}
    text = manifest_text(hosts=[], lookup=lookup)
    plugin = tmp_path / "papers.wasm"
    plugin.write_bytes(guest(result=json.dumps(answer), manifest=text).wasm)
    home = CommandLine(tmp_path, real=True)
    config = {
        "plugins": {
            **{name: {"enabled": False} for name in DEFAULT_PLUGINS},
            "papers": {"url": plugin.as_uri()},
        }
    }
    home.write("carrel.json", json.dumps(config))
    return home


def lookup(carrel: CommandLine, *words: str, stdin: bytes = b"") -> tuple[int, Any, str]:
    done = carrel("lookup", "--config", "carrel.json", *words, stdin=stdin)
    return done.code, json.loads(done.out) if done.out else None, done.err


def test_a_pipe_gets_items_and_works_as_json(carrel: CommandLine) -> None:
    code, result, err = lookup(carrel, "https://doi.org/10.1000/a")
    assert (code, err) == (0, "")
    assert result["items"][0]["trace"] == [
        {"source": "papers", "outcome": "found", "asked": {"type": "doi", "id": "10.1000/a"}}
    ]
    assert result["works"][0]["work"] == WORK
    assert result["works"][0]["sources"] == ["papers"]


def test_references_can_be_left_out(carrel: CommandLine) -> None:
    _, result, _ = lookup(carrel, "10.1000/a", "--no-references")
    assert "references" not in result["works"][0]["work"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["10.1000/a", "10.1000/b"], 1, "10.1000/b: not found by papers"),
        (["10.1000/c"], 3, "10.1000/c: api.example.org is not granted"),
        (["10.1000/b", "10.1000/c"], 1, "10.1000/c: api.example.org is not granted"),
        (["pmid:7"], 1, "pmid:7: no source on offer resolves it"),
        (["10.1000/a", "rubbish"], 1, "rubbish: expected a DOI such as"),
        (["rubbish"], 2, "rubbish: expected a DOI such as"),
    ],
)
def test_missing_identifiers_are_named_on_stderr_and_set_the_exit_code(
    carrel: CommandLine, words: list[str], code: int, says: str
) -> None:
    ended, result, err = lookup(carrel, *words)
    assert ended == code
    assert says in err
    assert len(result["items"]) == len(words)


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        (b"10.1000/A\n" * 500_000, "stdin: larger than 4,194,304 bytes"),
        (b"10.1000/A\n\xff\n", "stdin: not UTF-8 at byte 10"),
    ],
    ids=["large", "binary"],
)
def test_no_line_of_stdin_is_dropped_silently(carrel: CommandLine, stdin: bytes, says: str) -> None:
    code, _, err = lookup(carrel, "-", stdin=stdin)
    assert code == 2
    assert says in err


def test_identifiers_are_read_from_stdin(carrel: CommandLine) -> None:
    code, result, _ = lookup(carrel, "-", "10.1000/b", stdin=b"10.1000/A\n\n10.1000/a\n")
    assert [item["given"] for item in result["items"]] == ["10.1000/A", "10.1000/a", "10.1000/b"]
    assert code == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Missing argument"),
        (["10.1000/a", "--source", "paper"], "did you mean 'papers'"),
        ([str(number) for number in range(101)], "ids:"),
    ],
)
def test_misuse_has_its_own_exit_code(carrel: CommandLine, words: list[str], says: str) -> None:
    code, result, err = lookup(carrel, *words)
    assert (code, result) == (2, None)
    assert says in err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_a_table_on_a_terminal_contains_no_control_sequences_of_records(
    carrel: CommandLine,
) -> None:
    done = carrel.on_terminal(
        "lookup",
        "--config",
        "carrel.json",
        "10.1000/a",
        "10.1000/b",
        env={"NO_COLOR": "1"},
    )
    assert done.code == 1
    # On a slow machine a progress line is drawn first, and erased.
    lines = [line.rpartition("\x1b[2K")[2].split() for line in done.out.splitlines()]
    assert ["identifier", "outcome", "work", "sources"] in lines
    assert any(line[:2] == ["10.1000/a", "found"] and "(2020)" in line for line in lines)
    assert any(line[:2] == ["10.1000/b", "not_found"] for line in lines)
    assert "\x1b[31m" not in done.out
