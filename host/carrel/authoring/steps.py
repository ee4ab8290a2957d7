"""Runs build tools, and words the errors if they are missing or fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from carrel.errors import BuildError

Say = Callable[[str], None]


def verbosity() -> list[str]:
    """Returns cargo's option for what reads stderr: its progress bar on a terminal, else quiet."""
    try:
        return [] if os.isatty(2) else ["--quiet"]
    except OSError:
        return ["--quiet"]


def run_step(
    command: Sequence[str | Path],
    *,
    purpose: str,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    remedy: str = "",
) -> None:
    """Runs a tool. Its output goes to stderr unchanged.

    Args:
        command: the program and its arguments.
        purpose: what it is for, behind "could not".
        folder: where it runs.
        environment: this process's own when None.
        remedy: how to get the tool.

    Raises:
        BuildError: it cannot be started, or it failed.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(  # noqa: S603 - the author's own tools on the author's own files
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            stderr=sys.stderr,
            check=False,
        )
    except OSError as error:
        raise BuildError(
            f"could not {purpose}: {words[0]}: {error.strerror or error}", remedy=remedy
        ) from None
    if done.returncode != 0:
        raise BuildError(
            f"could not {purpose}: {Path(words[0]).name} ended with status {done.returncode}; "
            "its own output is above",
            remedy="correct what it says, then build again",
        )
