"""Tests commands' exit codes and messages, and the streams they are written to."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from carrel.cli.app import app
from carrel.cli.report import describe, exit_code
from carrel.cli.session import Session
from carrel.errors import CODES, ConfigError, InternalError, SourceError
from support.command_line import CommandLine
from support.fake_carrel import RESULT

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals, pipes or terminals")


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.mark.requirement("result:typed:exit-codes")
@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("call fake_query text=trap", 1, ["it gave", "report it to"]),
        ("call fake_query text=limited", 1, ["too quick", "in 2.5 s"]),
        ("call fake_query text=arguments", 2, ["start: too small", "unknown argument 'x'"]),
        ("call fake_qeury {}", 2, ["did you mean 'fake_query'?"]),
        ("call fake_query text", 2, ["expected a JSON object, key=value"]),
        ("call fake_query text=denied", 3, ["host_not_granted", "carrel.toml, set allowed_hosts"]),
        ("parse fake fed -", 2, ["did you mean 'feed'?"]),
        ("parse fkae feed -", 2, ["did you mean 'fake'?"]),
        ("prase", 2, ["No such command 'prase'", "'parse'", "carrel --help"]),
        ("call", 2, ["Missing argument 'TOOL'", "carrel call --help"]),
        ("tools --jsno", 2, ["--json", "carrel tools --help"]),
        ("serve --http 0.0.0.0:8", 2, ["requires identity", "127.0.0.1:8"]),
        ("call fake_query --record a --replay b", 2, ["exclude each other"]),
        ("plugin inspect fkae", 2, ["did you mean 'fake'?"]),
        ("plugin lock --remove", 2, ["--remove needs the names of the plugins"]),
        ("--config none.toml tools", 2, ["none.toml", "no such file"]),
    ],
)
def test_a_failure_is_written_to_stderr_only(
    carrel: CommandLine, line: str, code: int, says: list[str]
) -> None:
    done = carrel(*shlex.split(line))
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("carrel: ")
    assert "what to do: " in done.err
    assert "Traceback" not in done.err
    for words in says:
        assert words in done.err


def test_success_exits_with_zero_and_an_empty_stderr(carrel: CommandLine) -> None:
    done = carrel("call", "fake_query", "{}")
    assert (done.code, done.out, done.err) == (0, RESULT + "\n", "")


def test_every_fault_of_the_configuration_is_shown(carrel: CommandLine) -> None:
    carrel.write("c.toml", "fetch.retrys = 1\nlimits.cpu = 2\n")
    done = carrel("tools", "--config", "c.toml")
    assert (done.code, done.out) == (2, "")
    assert "c.toml: 2 faults" in done.err
    assert "fetch.retrys: unknown key; did you mean 'retries'?" in done.err
    assert "limits.cpu: unknown key; the nearest is 'cpu_seconds'" in done.err


def test_an_unforeseen_error_shows_no_traceback_and_no_details(carrel: CommandLine) -> None:
    done = carrel("call", "fake_query", "text=bug")
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    assert "secret detail" not in done.err
    assert "--debug" in done.err


def test_debug_shows_the_traceback(carrel: CommandLine) -> None:
    done = carrel("--debug", "call", "fake_query", "text=bug")
    assert done.code == 1
    assert "Traceback" in done.err


def test_json_errors_are_one_line_of_json_on_stderr(carrel: CommandLine) -> None:
    done = carrel("call", "fake_query", "text=limited", "--json-errors")
    assert (done.code, done.out) == (1, "")
    assert json.loads(done.err) == {
        "error": {
            "code": "rate_limited",
            "message": "too quick",
            "retryable": True,
            "action": "retry_after_delay",
            "source": "fake",
            "retry_after_seconds": 2.5,
        }
    }


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("tools --jsno", 2, "invalid_arguments"),
        ("plugin lock --remove", 2, "invalid_arguments"),
        ("plugin lock --remove nobody", 1, "plugin_unavailable"),
        ("tools --config c.toml", 0, "plugin_unavailable"),
    ],
)
def test_json_errors_are_json_from_every_command(
    carrel: CommandLine, line: str, code: int, error: str
) -> None:
    carrel.write("c.toml", "fetch.retries = 9")  # with a broken plugin
    done = carrel(*shlex.split(line), "--json-errors")
    assert done.code == code
    assert json.loads(done.err)["error"]["code"] == error


def test_control_characters_in_a_message_do_not_reach_the_terminal(carrel: CommandLine) -> None:
    assert "\x1b" not in carrel("call", "fake_query", "text=trap").err


@posix
class TestPipesAndSignals:
    def test_a_reader_that_went_away_ends_the_command_quietly(self, carrel: CommandLine) -> None:
        name = carrel.write("d.xml", "x")
        process = carrel.start("parse", "fake", "feed", *[name] * 2000)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"file":"d.xml"')
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == 141

    @pytest.mark.parametrize("line", ["parse fake feed hang.xml", "call fake_query text=hang"])
    def test_an_interrupt_ends_the_command_without_a_traceback(
        self, carrel: CommandLine, line: str
    ) -> None:
        carrel.write("hang.xml", "hang")
        process = carrel.start(*shlex.split(line))
        assert process.stderr is not None
        assert process.stderr.readline() == b"hanging\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (130, b"")
        assert b"Traceback" not in err

    def test_an_interrupt_that_was_ignored_at_the_start_stays_ignored(
        self, carrel: CommandLine
    ) -> None:
        process = carrel.start("call", "fake_query", "text=hang", ignoring="INT")
        assert process.stderr is not None
        assert process.stderr.readline() == b"hanging\n"
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == (b"", b"")
        assert process.returncode == -signal.SIGTERM

    def test_an_interrupt_while_a_dataclass_is_made_has_the_same_code(self, tmp_path: Path) -> None:
        """CPython records an interrupt of code run from a string, and exits by the signal."""
        module = tmp_path / "interrupted.py"
        module.write_text(
            "import sys, carrel.cli.app, carrel.__main__\n"
            "carrel.cli.app.run = lambda *_: exec('raise KeyboardInterrupt')\n"
            "sys.exit(carrel.__main__.main(['tools']))"
        )
        words = [sys.executable, "-m", module.stem]
        assert subprocess.run(words, cwd=tmp_path, check=False).returncode == 130

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
    @pytest.mark.parametrize("line", ["parse fake feed d.xml", "tools"])
    def test_a_full_disk_under_stdout_is_an_error(self, carrel: CommandLine, line: str) -> None:
        carrel.write("d.xml", "x")
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                carrel.words(*shlex.split(line)),
                stdin=subprocess.DEVNULL,
                stdout=full,
                stderr=subprocess.PIPE,
                env=carrel.environment(),
                cwd=carrel.home,
                check=False,
            )
        assert done.returncode == 1
        assert b"No space left" in done.stderr
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr

    def test_a_closed_stdout_is_an_error(self, carrel: CommandLine) -> None:
        carrel.write("d.xml", "x")
        script = 'exec "$@" >&-'
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", *carrel.words("parse", "fake", "feed", "d.xml")],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=carrel.environment(),
            cwd=carrel.home,
            check=False,
        )
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr


class TestHelp:
    @staticmethod
    def commands() -> list[tuple[list[str], click.Command]]:
        found: list[tuple[list[str], click.Command]] = [([], app)]
        for path, command in found:
            if isinstance(command, click.Group):
                context = click.Context(command)
                for name in command.list_commands(context):
                    child = command.get_command(context, name)
                    assert child is not None
                    found.append(([*path, name], child))
        return found

    def test_every_command_has_help_with_an_example_that_parses(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("carrel.key", "carrel.pub"):  # examples name it, so it must exist
            (tmp_path / name).touch()
        for path, command in self.commands():
            context = click.Context(command, info_name=" ".join(["carrel", *path]), obj=Session())
            help_text = command.get_help(context)
            assert "Example:\n  carrel " in help_text, path
            example = help_text.split("Example:\n  carrel ")[1].splitlines()[0]
            self.parse(app, shlex.split(example), path)

    def parse(self, command: click.Command, words: list[str], path: list[str]) -> None:
        """Parses `words` with click, down to the command that `path` names, without running it."""
        for _ in range(3):
            context = command.make_context("carrel", list(words), obj=Session())
            if not isinstance(command, click.Group):
                return
            words = [*context._protected_args, *context.args]
            name, child, words = command.resolve_command(context, words)
            assert child is not None
            assert not path or name == path[0]
            path = path[1:]
            command = child

    @pytest.mark.parametrize("words", [["--help"], ["parse", "-h"], ["plugin", "list", "--help"]])
    def test_help_exits_with_zero(self, carrel: CommandLine, words: list[str]) -> None:
        done = carrel(*words)
        assert (done.code, done.err) == (0, "")
        assert "Example:" in done.out

    @pytest.mark.parametrize("words", [["--help"], ["plugin", "--help"]])
    def test_a_commands_help_sentence_is_not_truncated(
        self, carrel: CommandLine, words: list[str]
    ) -> None:
        listed = carrel(*words).out.partition("Commands:")[2]
        assert listed
        assert "..." not in listed

    def test_without_arguments_the_help_is_shown_as_misuse(self, carrel: CommandLine) -> None:
        done = carrel()
        assert (done.code, done.out) == (2, "")
        assert "Commands:" in done.err

    def test_the_version_is_the_packages(self, carrel: CommandLine) -> None:
        from importlib.metadata import version

        assert carrel("--version").out == f"carrel {version('carrel')}\n"


class TestReport:
    def test_every_code_has_one_of_the_documented_exit_codes(self) -> None:
        for code in CODES:
            error = SourceError(code, "m", plugin="p", tool="t")
            assert exit_code(error) in {1, 2, 3}

    def test_the_place_in_a_document_is_shown(self) -> None:
        error = SourceError(
            "invalid_document",
            "expected </title>",
            plugin="p",
            tool="t",
            extra={"position": {"offset": 17, "path": "feed/title"}},
        )
        assert "where: offset 17, path feed/title" in describe(error)
        error.extra["position"] = {"offset": 0, "path": ""}
        assert "where: offset 0\n" in describe(error)

    def test_a_single_fault_of_the_configuration_is_one_sentence(self) -> None:
        assert describe(ConfigError(["a: b"], path="c.toml")).startswith("carrel: c.toml: a: b\n")

    def test_an_internal_error_does_not_reveal_its_cause(self) -> None:
        assert "log has the details" in describe(InternalError())


@pytest.mark.skipif(sys.platform == "win32", reason="Python's files are read by name")
def test_the_lean_modules_do_not_import_the_command_line_library() -> None:
    script = (
        "import sys; import carrel.cli.parsing, carrel.cli.progress, carrel.__main__;"
        "print(sorted({'click', 'rich', 'mcp', 'httpx2', 'platformdirs', 'asyncio', 'wasmtime'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
