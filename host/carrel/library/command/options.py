"""Shared by the commands of `carrel library`: the library, words from stdin, exit codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.output import stdout_is_terminal, write_json
from carrel.cli.report import OK, report
from carrel.cli.stdin import read_stdin
from carrel.library.errors import LibraryError, exit_code_of
from carrel.library.opening import library_path, open_library

if TYPE_CHECKING:
    from carrel.cli.session import Session
    from carrel.config import Config
    from carrel.library.library import Library

JSONL = click.Option(["--jsonl"], is_flag=True, help="One line of JSON for each item.")


def library_config(session: Session) -> Config:
    """Returns the configuration with a library: the one named, the one set, or the default one."""
    config = session.config()
    return replace(config, library=config.library._replace(file=library_path(config)))


@contextmanager
def opened(session: Session) -> Iterator[Library]:
    """Opens the library for a block.

    Raises:
        LibraryError: it cannot be opened.
    """
    library = open_library(library_config(session))
    try:
        yield library
    finally:
        library.close()


def library_exit(session: Session, work: Callable[[], int]) -> int:
    """Runs the work of a command; reports a `LibraryError` with the exit code of its code."""
    try:
        return work()
    except LibraryError as error:
        report(error, as_json=session.options.json_errors)
        return exit_code_of(error.library_code)


def code_of(error: BaseException) -> int:
    """Returns the exit code of a library's error."""
    return exit_code_of(error.library_code) if isinstance(error, LibraryError) else OK


def with_stdin(words: Sequence[str]) -> list[str]:
    """Returns words, with those of stdin, one a line, in the place of `-`."""
    found: list[str] = []
    for word in words:
        if word == "-":
            found += [line.strip() for line in read_stdin().splitlines() if line.strip()]
        else:
            found.append(word)
    return found


def as_lines(items: Sequence[Any]) -> None:
    """Writes each item as one line of JSON."""
    for item in items:
        write_json(item)


def is_plain(as_json: bool) -> bool:
    """Returns whether JSON is written and no table."""
    return as_json or not stdout_is_terminal()
