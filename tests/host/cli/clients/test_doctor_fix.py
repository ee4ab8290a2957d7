"""Tests `carrel doctor --fix`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.command_line import CommandLine

FIX = ("doctor", "--fix", "--client", "cursor")


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    folder = tmp_path / ".cursor"
    folder.mkdir()
    (folder / "mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}\n')
    return CommandLine(tmp_path, real=True)


def config(carrel: CommandLine) -> str:
    return (carrel.home / ".cursor" / "mcp.json").read_text()


def test_nothing_is_written_without_a_terminal(carrel: CommandLine) -> None:
    before = config(carrel)
    done = carrel(*FIX)
    assert done.code == 1
    assert "--yes" in done.err
    [client] = json.loads(done.out)["clients"]
    assert client["outcome"] == "not written"
    assert '+{"mcpServers": {"other": {"command": "x"}, "carrel"' in client["diff"]
    assert config(carrel) == before


def test_yes_writes_the_found_clients_and_keeps_the_old_file(carrel: CommandLine) -> None:
    before = config(carrel)
    done = carrel("doctor", "--fix", "--yes")
    assert done.code == 0, done.err
    [client] = json.loads(done.out)["clients"]
    assert (client["client"], client["outcome"]) == ("cursor", "written")
    assert Path(client["backup"]).read_text() == before
    assert json.loads(config(carrel))["mcpServers"]["carrel"]["args"] == ["serve"]
    again = json.loads(carrel("doctor", "--fix", "--yes").out)
    assert [one["outcome"] for one in again["clients"]] == ["unchanged"]


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX's")
@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_a_person_sees_the_change_and_agrees_or_not(
    carrel: CommandLine, typed: bytes, code: int
) -> None:
    before = config(carrel)
    done = carrel.on_terminal(*FIX, typed=typed, env={"TERM": "dumb"})
    assert done.code == code, done.out
    assert "+++ " in done.out
    assert "Write this to" in done.out
    assert (config(carrel) != before) == (code == 0)


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX's")
def test_the_end_of_the_input_at_the_prompt_is_an_interrupt(carrel: CommandLine) -> None:
    before = config(carrel)
    done = carrel.on_terminal(*FIX, typed=b"\x04", env={"TERM": "dumb"})
    assert done.code == 130, done.out
    assert "internal error" not in done.out
    assert config(carrel) == before


def test_a_broken_file_is_reported_and_the_others_are_written(carrel: CommandLine) -> None:
    (carrel.home / ".codex").mkdir()
    broken = carrel.home / ".codex" / "config.toml"
    broken.write_text("a = \n")
    done = carrel("doctor", "--fix", "--yes")
    assert done.code == 1
    clients = {one["client"]: one for one in json.loads(done.out)["clients"]}
    assert clients["cursor"]["outcome"] == "written"
    assert clients["codex"]["outcome"] == "failed"
    assert "repair the file first" in clients["codex"]["error"]
    assert broken.read_text() == "a = \n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("doctor", "--fix", "--client", "emacs"), "there are claude-desktop, claude-code"),
        (("doctor", "--yes"), "need --fix"),
    ],
)
def test_wrong_options_are_refused(
    carrel: CommandLine, words: tuple[str, ...], message: str
) -> None:
    done = carrel(*words)
    assert done.code == 2
    assert message in done.err


def test_without_a_client_the_known_names_are_listed(tmp_path: Path) -> None:
    done = CommandLine(tmp_path, real=True)("doctor", "--fix", "--yes")
    assert done.code == 2
    assert "no client was found" in done.err
