"""Implements `carrel doctor`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from carrel.errors import ConfigError

from .command import AS_JSON, command
from .output import stdout_is_terminal, write_json
from .progress import Progress
from .report import FAILED, OK
from .session import Session

#: Free bytes below which a folder is reported; compiled components and responses need space.
_ENOUGH_BYTES = 64 * 2**20


@command("doctor", example="doctor --online", options=(AS_JSON,))
@click.option("--online", is_flag=True, help="Also send a request to every granted host.")
def doctor(session: Session, online: bool, as_json: bool) -> int:
    """Check configuration, cache, folders and, with --online, the granted hosts.

    Shows no secrets. The exit code is 1 if something configured does not work.
    """
    told = examine(session, online=online, env=os.environ)
    if as_json or not stdout_is_terminal():
        write_json(told)
    else:
        _show(told)
    return OK if told["ok"] else FAILED


def examine(session: Session, *, online: bool, env: Mapping[str, str]) -> dict[str, Any]:
    """Returns the report; `problems` has a sentence for each problem."""
    from carrel.runtime.ffi import INTERFACE, VALUES, VARIABLE

    told: dict[str, Any] = {"ok": False, "problems": [], "environment": _environment(env)}
    problems: list[str] = told["problems"]
    problems += [
        f"environment: {name} is not a variable of Carrel's{hint}"
        for name, hint in _unknown_variables(env)
    ]
    told["sandbox"] = {"interface": INTERFACE.name, "reason": INTERFACE.reason}
    wish = env.get(VARIABLE, "").strip().lower()
    if wish and wish not in VALUES:
        problems.append(f"environment: {VARIABLE} is {wish!r}; it can be {' or '.join(VALUES)}")
    try:
        config = session.config()
    except ConfigError as error:
        where = f"{error.path}: " if error.path else ""
        problems += [f"{where}{fault}" for fault in error.faults]
        return told
    with session.open(config) as host, Progress("examining"):
        told |= {key: value for key, value in host.health().items() if key != "ok"}
        states = list(host.plugins())
    told["cache"] = _cached(config.cache_dir)
    for state in states:
        if state.error is not None:
            problems.append(f"plugin {state.error.message}")
    for name, folder in told.get("folders", {}).items():
        if not folder["writable"]:
            problems.append(f"{name} folder {folder['path']} cannot be written to")
        free = _free_bytes(Path(folder["path"]))
        if free is not None and free < _ENOUGH_BYTES:
            problems.append(f"{name} folder {folder['path']} has only {free:,} bytes left")
    if online:
        from .online import ask_hosts

        with Progress("asking the granted hosts") as progress:
            told["online"] = ask_hosts(config, states, on_progress=progress.update)
        problems += [
            f"{answer['host']} does not answer: {answer['error']}"
            for answer in told["online"]
            if "error" in answer
        ]
    told["ok"] = not problems
    return told


def _environment(env: Mapping[str, str]) -> list[str]:
    """Returns the names of Carrel's variables that are set; never a value."""
    from carrel.config import TOOL_IDENTIFIER
    from carrel.credentials import usual_variables

    usual = (*usual_variables(), TOOL_IDENTIFIER)
    return sorted(
        name for name in env if (name.startswith("CARREL_") or name in usual) and env[name].strip()
    )


def _unknown_variables(env: Mapping[str, str]) -> list[tuple[str, str]]:
    import difflib

    from carrel.config import AGREEMENTS, ENVIRONMENT, TOOL_IDENTIFIER
    from carrel.credentials import PREFIX, usual_variables
    from carrel.runtime.ffi import VARIABLE

    known = ["CARREL_CONFIG", VARIABLE, *ENVIRONMENT, *usual_variables(), TOOL_IDENTIFIER]
    known += AGREEMENTS.values()
    found = []
    for name in _environment(env):
        if name not in known and not name.startswith(PREFIX):
            near = difflib.get_close_matches(name, known, n=1)
            found.append((name, f"; did you mean {near[0]}?" if near else ""))
    return found


def _cached(folder: Path) -> dict[str, Any]:
    """Returns the bytes of compiled components and of cached responses."""

    def size(pattern: str) -> int:
        total = 0
        for path in folder.glob(pattern):
            try:
                total += path.stat().st_size if path.is_file() else 0
            except OSError:
                continue
        return total

    return {"compiled_bytes": size("code/*"), "answers_bytes": size("answers*.sqlite*")}


def _free_bytes(path: Path) -> int | None:
    import shutil

    while not path.exists() and path != path.parent:
        path = path.parent
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return None


def _show(told: Mapping[str, Any]) -> None:
    from .render import console, facts, table, text

    pairs: list[tuple[str, object]] = [
        (name, version) for name, version in told.get("versions", {}).items()
    ]
    if "versions" in told:
        pairs += [
            ("platform", told.get("platform")),
            ("configuration", told.get("configuration") or "defaults (no file)"),
            ("contact address", "set" if told.get("contact_set") else "not set"),
            ("mode", told.get("mode")),
        ]
    pairs += [("environment", ", ".join(told["environment"]) or "nothing set")]
    pairs += [
        (
            f"{name} folder",
            f"{folder['path']} ({'writable' if folder['writable'] else 'NOT writable'})",
        )
        for name, folder in told.get("folders", {}).items()
    ]
    if "cache" in told:
        cache = told["cache"]
        compiled, answers = cache["compiled_bytes"], cache["answers_bytes"]
        pairs.append(("cached", f"{compiled:,} bytes compiled, {answers:,} bytes of answers"))
    sandbox = told["sandbox"]
    pairs.append(("wasmtime interface", f"{sandbox['interface']}: {sandbox['reason']}"))
    facts(pairs, title="Carrel")
    if told.get("plugins"):
        table(
            ("plugin", "state", "version", "where"),
            [
                (plugin["name"], plugin["state"], plugin.get("version", ""), plugin["url"])
                for plugin in told["plugins"]
            ],
            title="Plugins",
        )
    if "online" in told:
        table(
            ("host", "answer"),
            [
                (
                    answer["host"],
                    answer.get("error") or f"{answer['status']}, {answer['seconds']:.2f} s",
                )
                for answer in told["online"]
            ],
            title="Hosts",
        )
    out = console()
    out.print()
    for plugin in told.get("plugins", []):
        for note in plugin.get("notes", []):
            out.print(text(f"note: {plugin['name']}: {note}", "yellow"))
    for warning in told.get("warnings", []):
        out.print(text(f"not offered: {warning}", "yellow"))
    for problem in told["problems"]:
        out.print(text(f"problem: {problem}", "red"))
    if told["ok"]:
        out.print(text("Everything that was checked works.", "green"))
