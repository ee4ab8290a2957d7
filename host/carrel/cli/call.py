"""Implements `carrel call` and `carrel record`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from carrel.errors import ArgumentError
from carrel.text.printable import printable

from .capture import record_fixture
from .command import AS_JSON, EXCHANGE, HELP_OF, ToolCommand, command
from .missing import find_missing
from .progress import Progress
from .report import FAILED, OK, complain
from .session import Session
from .tool_call import read_words, show


@command(
    "call",
    example="call arxiv_query search_query=ti:electron max_results=3",
    options=(AS_JSON, *EXCHANGE),
    kind=ToolCommand,
)
@click.argument("tool")
@click.argument("words", metavar="[JSON | KEY=VALUE … | -]", nargs=-1, type=click.UNPROCESSED)
def call(session: Session, tool: str, words: tuple[str, ...], as_json: bool) -> int:
    """Call one tool and print its result.

    Arguments are one JSON object, or - to read it from stdin, or key=value pairs that are parsed by
    the tool's input schema; key:=json gives a value as JSON. An array's key may be repeated.
    `carrel call TOOL --help` shows them. Identifiers that no source has are named on stderr; exit
    code 1 means that none was found.
    """
    if HELP_OF in click.get_current_context().meta:
        return _show_help(session, tool)
    return _call(session, tool, words, as_json=as_json)


@command(
    "record",
    example="record arxiv_query id_list=2301.00001 --into recordings",
    options=(AS_JSON,),
    kind=ToolCommand,
)
@click.argument("tool")
@click.argument("words", metavar="[JSON | KEY=VALUE … | -]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder that the exchanges are written to.",
)
@click.option(
    "--fixture",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of a new fixture for `carrel plugin test`.",
)
@click.option("--replace", is_flag=True, help="Record a fixture of a call again.")
@click.option("--keep-failure", is_flag=True, help="Make a fixture of a failed request too.")
def record(  # noqa: PLR0917 - click hands all of them by name
    session: Session,
    tool: str,
    words: tuple[str, ...],
    into: Path | None,
    fixture: Path | None,
    replace: bool,
    keep_failure: bool,
    as_json: bool,
) -> int:
    """Call one tool and record its exchanges with upstreams, to replay them later.

    With --into, the same as `carrel call TOOL … --record DIR`. With --fixture, the arguments and
    the result are recorded too, for `carrel plugin test`; inside a plugin's project its component
    is called, and may fetch from the hosts of its manifest. With --fixture, `lookup ID…` and
    `resource URI` make calls that otherwise only the host makes. If a request has no response, no
    fixture is made, and the exit code is 1. Recordings hold no secrets.
    """
    if HELP_OF in click.get_current_context().meta:
        return _show_help(session, tool)
    if (into is None) == (fixture is None):
        raise ArgumentError(["name one folder: either --into DIR or --fixture DIR"])
    if fixture is not None:
        return record_fixture(
            session,
            tool,
            words,
            fixture,
            replace=replace,
            keep_failure=keep_failure,
            as_json=as_json,
        )
    if replace or keep_failure:
        raise ArgumentError(["--replace and --keep-failure belong to --fixture"])
    return _call(session.with_options(record=into), tool, words, as_json=as_json)


def _show_help(session: Session, name: str) -> int:
    from .toolhelp import show_tool

    with session.open() as host:
        show_tool(host.tool(name))
    return OK


def _call(session: Session, tool: str, words: tuple[str, ...], *, as_json: bool) -> int:
    with session.open() as host:
        arguments = read_words(words, host, tool)
        with Progress(tool) as progress:
            result = host.call(tool, arguments, on_progress=progress.update)
    show(result, as_json=as_json)
    return report_missing(result.data)


def report_missing(result: Mapping[str, Any]) -> int:
    """Names on stderr what was asked for and not found; returns 1 when nothing was found."""
    missing = find_missing(result)
    for identifier, reason in missing.reasons:
        complain(f"carrel: {printable(identifier, 100)}: {reason}")
    return FAILED if missing.is_all else OK
