"""Implements `carrel doctor --fix`: adds Carrel to the clients' configurations."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from carrel.cli.output import stdout_is_terminal, write_json, write_text
from carrel.cli.report import FAILED, OK, complain
from carrel.errors import ArgumentError, CarrelError
from carrel.text.printable import printable_lines

from .change import Change, own_command, plan, write
from .known import CLIENTS, ClientFolders, is_installed


def fix(names: Sequence[str], *, agrees: bool, as_json: bool, env: Mapping[str, str]) -> int:
    """Shows each change, asks, and writes it; returns the exit code.

    Args:
        names: of clients; those that seem to be installed when empty.
        agrees: write without asking.
        as_json: write the report as JSON.
        env: the environment.

    Raises:
        ArgumentError: there is no such client, or none is installed.
    """
    unknown = sorted(set(names) - CLIENTS.keys())
    if unknown:
        supported = ", ".join(CLIENTS)
        raise ArgumentError([f"no such client: {', '.join(unknown)}; there are {supported}"])
    folders = ClientFolders.of(env)
    chosen = [CLIENTS[name] for name in dict.fromkeys(names)]
    if not chosen:
        chosen = [client for client in CLIENTS.values() if is_installed(client, folders)]
    if not chosen:
        supported = ", ".join(CLIENTS)
        raise ArgumentError([f"no client was found; name one with --client: {supported}"])
    command, arguments = own_command(env)
    as_json = as_json or not stdout_is_terminal()
    outcomes = []
    for client in chosen:
        outcome: dict[str, Any] = {"client": client.name, "path": str(client.file(folders))}
        try:
            change = plan(client, folders, command, arguments)
            outcome |= _apply(change, agrees=agrees, shows=not as_json)
        except CarrelError as error:
            outcome |= {"outcome": "failed", "error": error.message}
        outcomes.append(outcome)
        if not as_json:
            write_text(printable_lines(f"{client.title}: {_sentence(outcome)}") + "\n")
    ok = all(outcome["outcome"] in {"written", "unchanged"} for outcome in outcomes)
    if as_json:
        write_json({"ok": ok, "clients": outcomes})
    if any(outcome["outcome"] == "not written" for outcome in outcomes):
        complain("carrel: nothing was written without a terminal; --yes writes the changes")
    return OK if ok else FAILED


def _apply(change: Change, *, agrees: bool, shows: bool) -> dict[str, Any]:
    """Returns the outcome of one change: written, unchanged, declined, or not written."""
    if not change.is_needed:
        return {"outcome": "unchanged"}
    diff = change.diff()
    if shows:
        write_text(printable_lines(diff) + "\n")
    if not agrees:
        if not shows or sys.stdin is None or not sys.stdin.isatty():
            return {"outcome": "not written", "diff": diff}
        if not click.confirm(f"Write this to {change.path}?", default=False):
            return {"outcome": "declined", "diff": diff}
    backup = write(change)
    return {"outcome": "written", "diff": diff, "backup": None if backup is None else str(backup)}


def _sentence(outcome: Mapping[str, Any]) -> str:
    path = outcome["path"]
    if outcome["outcome"] == "written":
        note = f"; the old file is {outcome['backup']}" if outcome["backup"] else ""
        return f"wrote {path}{note}. Restart the client."
    if outcome["outcome"] == "failed":
        return f"nothing was written: {outcome['error']}"
    return {
        "unchanged": f"{path} starts this Carrel already",
        "declined": "nothing was written",
        "not written": "nothing was written",
    }[outcome["outcome"]]
