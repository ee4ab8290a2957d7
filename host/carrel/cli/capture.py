"""`carrel record --fixture`: one call, kept as a fixture for `carrel plugin test`."""

from __future__ import annotations

import shutil
from pathlib import Path

from carrel.errors import CarrelError, SourceError

from .call import read_words, show
from .progress import Progress
from .report import OK, complain
from .session import Host, Session


def record_fixture(
    session: Session, tool: str, words: tuple[str, ...], folder: Path, *, as_json: bool
) -> int:
    """Calls a tool and writes a fixture of the call.

    A plugin's own report of an error is an outcome like another: it is written, and then raised as
    by `carrel call`. After any other failure nothing is left behind.

    Raises:
        CarrelError: the folder exists, or the call failed.
    """
    from carrel.authoring.capture import recording_config, require_new, write_fixture

    require_new(folder)
    try:
        with session.open(recording_config(session.config(), folder)) as host:
            name, own_name = _names(host, tool)
            arguments = read_words(words, host, name)
            try:
                with Progress(name) as progress:
                    result = host.call(name, arguments, on_progress=progress.update)
            except SourceError as report:
                write_fixture(folder, own_name, arguments, report)
                complain(f"carrel: {folder} holds this error as a fixture")
                raise
            write_fixture(folder, own_name, arguments, result.data)
    except SourceError:
        raise
    except CarrelError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    show(result, as_json=as_json)
    complain(f"carrel: {folder} is a fixture now")
    return OK


def _names(host: Host, tool: str) -> tuple[str, str]:
    """A tool's name for clients and in its manifest; either may be given."""
    for state in host.plugins():
        if state.manifest is None:
            continue
        for spec in state.manifest.tools:
            name = f"{state.manifest.namespace}_{spec.name}"
            if tool == name or (tool == spec.name and len(host.plugins()) == 1):
                return name, spec.name
    return tool, tool  # unknown: the call says so, and names the nearest
