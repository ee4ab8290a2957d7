"""Tests the completions in real shells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.cli.completions import SHELLS
from support.command_line import CommandLine

#: What is typed, and what must be among the completions.
CASES = [
    ("carrel comp", ["completions"]),
    ("carrel ser", ["serve"]),
    ("carrel serve --ch", ["--check"]),
    ("carrel doctor --fix --client c", ["claude-code", "claude-desktop", "codex", "cursor"]),
    ("carrel completions ", ["bash", "fish", "zsh"]),
]

#: Asks bash for completions as its line editor does.
BASH = """
source completions
COMP_LINE='{line}'
COMP_WORDS=({words} '{last}')
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_carrel_completion carrel '{last}'
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = "source completions; complete -C '{line}'"
#: Runs the completion function with `compadd` and `_describe` replaced by printing.
ZSH = """
compdef() {{ : }}
source completions
compadd() {{ print -l -- ${{(P)@[$#]}} }}
_describe() {{ print -l -- ${{(P)3}} }}
_arguments() {{ : }}
words=({words} '{last}')
CURRENT=$#words
_carrel_completion
"""


def shell(name: str, script: str, home: Path, carrel: CommandLine) -> list[str]:
    """Runs a script in a shell; returns what it prints, without descriptions."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"needs {name}, which the system's packages have")
    folder = home / "bin"
    folder.mkdir(exist_ok=True)
    command = folder / "carrel"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m carrel "$@"\n')
    command.chmod(0o755)
    env = {**carrel.environment(), "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(
        [program, "-c", script],
        capture_output=True,
        text=True,
        env=env,
        cwd=home,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [re.split("[:\t]", line)[0] for line in done.stdout.splitlines() if line]


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, real=True)


@pytest.mark.skipif(os.name != "posix", reason="shells of POSIX")
@pytest.mark.parametrize(
    ("name", "template"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)], ids=SHELLS
)
def test_a_shell_completes_commands_options_and_values(
    carrel: CommandLine, name: str, template: str
) -> None:
    script = carrel("completions", name)
    assert script.code == 0
    carrel.write("completions", script.out)
    for line, expected in CASES:
        words, _, last = line.rpartition(" ")
        text = template.format(line=line, words=words, last=last)
        found = shell(name, text, carrel.home, carrel)
        assert sorted(set(found) & set(expected)) == expected, (line, found)


def test_another_shell_is_refused_with_the_names(carrel: CommandLine) -> None:
    done = carrel("completions", "tcsh")
    assert done.code == 2
    assert "bash" in done.err
