"""Implements `carrel doctor`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.errors import ArgumentError, ConfigError

from .command import AS_JSON, command
from .output import stdout_is_terminal, write_json
from .progress import Progress
from .report import FAILED, OK
from .session import Session

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.state import PluginState


def _client_names(start: str) -> list[str]:
    from .clients.known import CLIENTS

    return [name for name in CLIENTS if name.startswith(start)]


#: Free bytes below which a folder is reported; compiled components and responses need space.
_ENOUGH_BYTES = 64 * 2**20


@command("doctor", example="doctor --online", options=(AS_JSON,))
@click.option("--online", is_flag=True, help="Also send a request to every granted host.")
@click.option(
    "--fix",
    "fixes",
    is_flag=True,
    help="Add Carrel to the configuration of MCP clients, after showing each change.",
)
@click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="NAME",
    shell_complete=lambda _ctx, _param, start: _client_names(start),
    help="With --fix: this client, instead of those that are found; may be repeated.",
)
@click.option("--yes", is_flag=True, help="With --fix: write without asking.")
def doctor(
    session: Session,
    *,
    online: bool,
    fixes: bool,
    clients: tuple[str, ...],
    yes: bool,
    as_json: bool,
) -> int:
    """Check configuration, cache, folders and, with --online, the granted hosts.

    With --fix, add Carrel to the configuration of MCP clients instead: each change is shown, and
    written if you agree. Shows no secrets. The exit code is 1 if something configured does not
    work, or a change was not written.
    """
    if fixes:
        from .clients.fix import fix

        return fix(clients, agrees=yes, as_json=as_json, env=os.environ)
    if clients or yes:
        raise ArgumentError(["--client and --yes need --fix"])
    report = examine(session, online=online, env=os.environ)
    if as_json or not stdout_is_terminal():
        write_json(report)
    else:
        _show(report)
    return OK if report["ok"] else FAILED


def examine(session: Session, *, online: bool, env: Mapping[str, str]) -> dict[str, Any]:
    """Returns the report; `problems` has a sentence for each problem."""
    from carrel.runtime.ffi import INTERFACE, VALUES, VARIABLE

    report: dict[str, Any] = {"ok": False, "problems": [], "environment": _environment(env)}
    problems: list[str] = report["problems"]
    problems += unknown_variables(env)
    report["sandbox"] = {"interface": INTERFACE.name, "reason": INTERFACE.reason}
    wish = env.get(VARIABLE, "").strip().lower()
    if wish and wish not in VALUES:
        problems.append(f"environment: {VARIABLE} is {wish!r}; it can be {' or '.join(VALUES)}")
    try:
        config = session.config()
    except ConfigError as error:
        where = f"{error.path}: " if error.path else ""
        problems += [f"{where}{fault}" for fault in error.faults]
        return report
    with session.open(config) as host, Progress("examining"):
        report |= {key: value for key, value in host.health().items() if key != "ok"}
        states = list(host.plugins())
    report["cache"] = _cached(config.cache_dir)
    problems += _examine_search(config, report)
    from carrel.state import examine_store

    report["store"] = examine_store(config)
    if "problem" in report["store"]:
        problems.append(f"store {report['store']['problem']}")
    problems += plugin_problems(states)
    problems += folder_problems(report.get("folders", {}))
    if online:
        from .online import ask_hosts

        with Progress("asking the granted hosts") as progress:
            report["online"] = ask_hosts(config, states, on_progress=progress.update)
        problems += [
            f"{answer['host']} does not answer: {answer['error']}"
            for answer in report["online"]
            if "error" in answer
        ]
    report["ok"] = not problems
    return report


def _environment(env: Mapping[str, str]) -> list[str]:
    """Returns the names of Carrel's variables that are set; never a value."""
    from carrel.config import TOOL_IDENTIFIER
    from carrel.credentials import usual_variables

    usual = (*usual_variables(), TOOL_IDENTIFIER)
    return sorted(
        name for name in env if (name.startswith("CARREL_") or name in usual) and env[name].strip()
    )


def plugin_problems(states: Iterable[PluginState]) -> list[str]:
    """Returns why plugins cannot be used."""
    return [f"plugin {state.error.message}" for state in states if state.error is not None]


def folder_problems(folders: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns what is wrong with the folders of a report of `Host.health`."""
    problems = []
    for name, folder in folders.items():
        if not folder["writable"]:
            problems.append(f"{name} folder {folder['path']} cannot be written to")
        free = _free_bytes(Path(folder["path"]))
        if free is not None and free < _ENOUGH_BYTES:
            problems.append(f"{name} folder {folder['path']} has only {free:,} bytes left")
    return problems


def unknown_variables(env: Mapping[str, str]) -> list[str]:
    """Returns a sentence for each variable that looks like Carrel's and is not."""
    import difflib

    from carrel.config import AGREEMENTS, ENVIRONMENT, TOOL_IDENTIFIER
    from carrel.config.store import PASSWORD, PASSWORD_FILE
    from carrel.credentials import PREFIX, usual_variables
    from carrel.runtime.ffi import VARIABLE

    known = ["CARREL_CONFIG", VARIABLE, *ENVIRONMENT, *usual_variables(), TOOL_IDENTIFIER]
    known += [PASSWORD, PASSWORD_FILE]
    known += AGREEMENTS.values()
    found = []
    for name in _environment(env):
        if name not in known and not name.startswith(PREFIX):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            found.append(f"environment: {name} is not a variable of Carrel's{hint}")
    return found


def _examine_search(config: Config, report: dict[str, Any]) -> list[str]:
    """Adds the providers of web searches to the report; returns what the unusable ones lack."""
    if not config.web.search:
        return []
    from carrel.plugins.plugin_set import PluginSet
    from carrel.web.search.providers import find_providers

    plugins = PluginSet(config)
    try:
        found = find_providers(plugins, config)
    finally:
        plugins.close()
    report["search"] = [
        {"name": provider.name, "usable": provider.remedy is None}
        | ({} if provider.remedy is None else {"remedy": provider.remedy})
        for provider in found
    ]
    return [
        f"web.search: {provider.name} cannot be asked: {provider.remedy}"
        for provider in found
        if provider.remedy is not None
    ]


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


def _notes(report: Mapping[str, Any]) -> list[str]:
    """Returns what an operator should know although it is not a problem."""
    notes = [
        f"{plugin['name']}: {note}"
        for plugin in report.get("plugins", [])
        for note in plugin.get("notes", [])
    ]
    return notes + [f"store: {advice}" for advice in report.get("store", {}).get("advice", [])]


def _show(report: Mapping[str, Any]) -> None:
    from .render import console, facts, table, text

    pairs: list[tuple[str, object]] = [
        (name, version) for name, version in report.get("versions", {}).items()
    ]
    if "versions" in report:
        pairs += [
            ("platform", report.get("platform")),
            ("configuration", report.get("configuration") or "defaults (no file)"),
            ("contact address", "set" if report.get("contact_set") else "not set"),
            ("mode", report.get("mode")),
        ]
    pairs += [("environment", ", ".join(report["environment"]) or "nothing set")]
    pairs += [
        (
            f"{name} folder",
            f"{folder['path']} ({'writable' if folder['writable'] else 'NOT writable'})",
        )
        for name, folder in report.get("folders", {}).items()
    ]
    if "cache" in report:
        cache = report["cache"]
        compiled, answers = cache["compiled_bytes"], cache["answers_bytes"]
        pairs.append(("cached", f"{compiled:,} bytes compiled, {answers:,} bytes of answers"))
        pairs.append(("store", "{kind}, {where}".format_map(report["store"])))
    sandbox = report["sandbox"]
    pairs.append(("wasmtime interface", f"{sandbox['interface']}: {sandbox['reason']}"))
    facts(pairs, title="Carrel")
    if report.get("plugins"):
        table(
            ("plugin", "state", "version", "where"),
            [
                (plugin["name"], plugin["state"], plugin.get("version", ""), plugin["url"])
                for plugin in report["plugins"]
            ],
            title="Plugins",
        )
    if report.get("search"):
        table(
            ("provider", "state"),
            [(provider["name"], provider.get("remedy", "ready")) for provider in report["search"]],
            title="Web search",
        )
    if "online" in report:
        table(
            ("host", "answer"),
            [
                (
                    answer["host"],
                    answer.get("error") or f"{answer['status']}, {answer['seconds']:.2f} s",
                )
                for answer in report["online"]
            ],
            title="Hosts",
        )
    out = console()
    out.print()
    for note in _notes(report):
        out.print(text(f"note: {note}", "yellow"))
    for warning in report.get("warnings", []):
        out.print(text(f"not offered: {warning}", "yellow"))
    for problem in report["problems"]:
        out.print(text(f"problem: {problem}", "red"))
    if report["ok"]:
        out.print(text("Everything that was checked works.", "green"))
