"""Implements `carrel record --fixture`: records one call as a fixture for `carrel plugin test`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from carrel.errors import ArgumentError, CarrelError, SourceError

from .progress import Progress
from .report import FAILED, OK, complain
from .session import Host, Session
from .tool_call import read_words, show

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import ProgressHandler
    from carrel.plugins.state import PluginState
    from carrel.tools import Result


#: Maximum number of failed requests that are shown.
_SHOWN_FAILURES = 5


class _Call(NamedTuple):
    """The call to record.

    Attributes:
        name: shown in the progress line.
        tool: as `case.json` names it.
        make: makes the call.
    """

    name: str
    tool: str
    arguments: dict[str, Any]
    make: Callable[[ProgressHandler], Result]


def record_fixture(
    session: Session,
    tool: str,
    words: tuple[str, ...],
    folder: Path,
    *,
    replace: bool,
    keep_failure: bool,
    as_json: bool,
) -> int:
    """Makes a call and writes a fixture of it.

    An error that the plugin reports is a valid outcome: it is written, then raised as by `carrel
    call`. After any other failure no fixture is written; nor if a request had no response, unless
    `keep_failure` is set.

    Returns 1 if the call succeeded but no fixture was written.

    Raises:
        CarrelError: the folder exists and must not be replaced, or the call failed.
    """
    from carrel.authoring.capture import capturing, find_reserved, recording_config

    with capturing(folder, replace=replace) as capture:
        config = recording_config(session.config(), capture)
        with session.open(config) as host:
            reserved = find_reserved(host.plugins(), tool)
            call = _reserved(config, *reserved, words) if reserved else _tool(host, tool, words)
            report, result = None, None
            try:
                with Progress(call.name) as progress:
                    result = call.make(progress.update)
            except SourceError as error:
                report = error
            except CarrelError:
                _report_failures(folder, capture.failed_exchanges())
                raise
        failed = [] if keep_failure else capture.failed_exchanges()
        if not failed:
            outcome = report or (result.data if result else {})
            capture.finish(call.tool, call.arguments, outcome)
    if failed:
        _report_failures(folder, failed)
    elif report is None:
        complain(f"carrel: {folder} is a fixture now")
    else:
        complain(f"carrel: {folder} holds this error as a fixture")
    if report is not None:
        raise report
    assert result is not None, "a call has a result or a report"
    show(result, as_json=as_json)
    return FAILED if failed else OK


def _report_failures(folder: Path, failed: Sequence[str]) -> None:
    """Reports that no fixture was made because requests had no response."""
    if not failed:
        return
    from carrel.text.printable import printable

    count = "a request" if len(failed) == 1 else f"{len(failed)} requests"
    lines = [f"carrel: {folder} was not written: {count} had no answer"]
    lines += [f"  {printable(line, 400)}" for line in failed[:_SHOWN_FAILURES]]
    if len(failed) > _SHOWN_FAILURES:
        lines.append(f"  and {len(failed) - _SHOWN_FAILURES} more")
    lines.append("  what to do: run the same command again when the source answers;")
    lines.append("  --keep-failure makes a fixture of the failure")
    complain("\n".join(lines))


def _tool(host: Host, tool: str, words: tuple[str, ...]) -> _Call:
    name, own_name = _names(host, tool)
    arguments = read_words(words, host, name)
    return _Call(
        name,
        own_name,
        arguments,
        lambda on_progress: host.call(name, arguments, on_progress=on_progress),
    )


def _reserved(config: Config, state: PluginState, tool: str, words: Sequence[str]) -> _Call:
    """Returns a call of a reserved tool; its words are those of `carrel lookup`, or a URI.

    Raises:
        ArgumentError: a word is not an identifier, or there is not exactly one URI.
    """
    from carrel.authoring.capture import call_reserved, secrets_passed
    from carrel.lookup.sources import LOOKUP

    if tool == LOOKUP:
        arguments: dict[str, Any] = {"ids": _ids(words)}
    elif len(words) == 1:
        secrets = secrets_passed(config, state)
        arguments = {"uri": words[0]} | ({"secrets": secrets} if secrets else {})
    else:
        raise ArgumentError(["resource: expected one URI, that of the document to read"])
    return _Call(
        tool,
        tool,
        arguments,
        lambda on_progress: call_reserved(config, state.name, tool, arguments, on_progress),
    )


def _ids(words: Sequence[str]) -> list[dict[str, str]]:
    from carrel.records import IdFault, parse_id

    ids, faults = [], [] if words else ["lookup: expected identifiers, as 'carrel lookup' takes"]
    for word in words:
        try:
            ids.append(parse_id(word).to_json())
        except IdFault as fault:
            faults.append(str(fault))
    if faults:
        raise ArgumentError(faults)
    return ids


def _names(host: Host, tool: str) -> tuple[str, str]:
    """Returns a tool's name for clients and in its manifest, given either."""
    for state in host.plugins():
        if state.manifest is None:
            continue
        for spec in state.manifest.tools:
            name = state.manifest.client_name(spec.name)
            if tool == name or (tool == spec.name and len(host.plugins()) == 1):
                return name, spec.name
    return tool, tool  # unknown: the call raises the error with the nearest name
