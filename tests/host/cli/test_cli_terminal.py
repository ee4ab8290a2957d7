"""Tests output to a terminal: tables, lists, progress and colour."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path

import pytest

from carrel.cli.progress import Progress
from support.command_line import CommandLine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


class TestOnATerminal:
    def test_results_are_a_readable_list_with_colour(self, carrel: CommandLine) -> None:
        done = carrel.on_terminal("call", "fake_query", "{}")
        assert done.code == 0
        assert "Title" in done.out
        assert "2301.00001v1" in done.out
        assert "1 of 1 result" in done.out
        assert "\x1b[" in done.out
        assert '"entries"' not in done.out

    @pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
    def test_no_colour_means_no_escape_sequence(
        self, carrel: CommandLine, env: dict[str, str]
    ) -> None:
        done = carrel.on_terminal("tools", env=env)
        assert "fake_query" in done.out
        assert "\x1b[3" not in done.out

    def test_the_tools_are_a_table_with_the_first_line_of_each_description(
        self, carrel: CommandLine
    ) -> None:
        done = carrel.on_terminal("tools", env={"TERM": "dumb"})
        assert "Searches nothing." in done.out
        assert "At length." not in done.out

    def test_the_json_option_prints_json(self, carrel: CommandLine) -> None:
        done = carrel.on_terminal("call", "fake_query", "{}", "--json")
        assert json.loads(done.out)["total_results"] == 1

    @pytest.mark.parametrize("extra", [[], ["--json"]])
    def test_control_characters_from_outside_do_not_reach_the_terminal(
        self, carrel: CommandLine, extra: list[str]
    ) -> None:
        done = carrel.on_terminal("call", "fake_query", "text=escape", *extra)
        assert "\x1b[31m" not in done.out
        assert "\u202e" not in done.out
        assert "red" in done.out

    def test_several_documents_are_shown_under_their_names(self, carrel: CommandLine) -> None:
        carrel.write("a.xml", "abc")
        carrel.write("b.xml", "malformed")
        done = carrel.on_terminal("parse", "fake", "feed", "a.xml", "b.xml", env={"TERM": "dumb"})
        assert done.code == 1
        assert "a.xml" in done.out
        assert "expected </title>" in done.out

    def test_the_plugins_and_the_doctor_are_readable(self, carrel: CommandLine) -> None:
        listed = carrel.on_terminal("plugin", "list", env={"TERM": "dumb"})
        assert "ready" in listed.out
        examined = carrel.on_terminal("doctor", env={"TERM": "dumb"})
        assert "Everything that was checked works." in examined.out
        assert "wasmtime interface" in examined.out


class Terminal(io.StringIO):
    """A terminal that reports when it is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.written.set()


class TestProgress:
    def test_a_slow_command_shows_its_progress_and_erases_it(self) -> None:
        terminal = Terminal()
        with Progress("fake_query", terminal, patience=0.0) as progress:
            progress.update(3, 10, "asking")
            assert terminal.written.wait(10)
        assert "fake_query: 0 s" in terminal.getvalue()
        assert terminal.getvalue().endswith("\r\x1b[2K")

    def test_a_quick_command_shows_nothing(self) -> None:
        terminal = Terminal()
        with Progress("fake_query", terminal):
            pass
        assert terminal.getvalue() == ""

    def test_no_progress_line_is_written_without_a_terminal(self) -> None:
        stream = io.StringIO()
        with Progress("fake_query", stream, patience=0.0) as progress:
            progress.update(1, None, "")
        assert stream.getvalue() == ""

    def test_the_line_has_the_known_fields(self) -> None:
        progress = Progress("fake_query", io.StringIO())
        assert progress.line(2.4) == "fake_query: 2 s"
        progress.update(3, 10, "asking\x1b[2J")
        assert progress.line(2.4) == "fake_query: 2 s · 3 of 10 · asking [2J"
        progress.update(3, None, "")
        assert progress.line(2.4) == "fake_query: 2 s · 3"
        waits = "waiting for a slot at arXiv (1 request in 3 s)"
        progress.update(0, 1, waits)
        assert progress.line(2.4) == f"fake_query: 2 s · {waits}"
