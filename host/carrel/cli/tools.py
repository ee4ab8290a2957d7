"""Implements `carrel tools`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from .command import AS_JSON, command
from .output import stdout_is_terminal, write_json
from .report import OK, report
from .session import Host, Session

if TYPE_CHECKING:
    from carrel.tools import Tool


@command("tools", example="tools pubmed_search", options=(AS_JSON,))
@click.argument("names", metavar="[NAME]…", nargs=-1)
def tools(session: Session, names: tuple[str, ...], as_json: bool) -> int:
    """List the tools, or show how to call the named ones.

    As JSON: one array of {name, title, description, plugin, input_schema, output_schema,
    annotations}. A plugin that cannot be loaded is named on stderr; the others are listed.
    """
    with session.open() as host:
        if names:
            offered = [host.tool(name) for name in dict.fromkeys(names)]
        else:
            offered = list(host.tools())
            complain_about_broken_plugins(host, as_json=session.options.json_errors)
    if as_json or not stdout_is_terminal():
        write_json([_as_json(tool) for tool in offered])
    elif names:
        _show(offered)
    else:
        _show_table(offered)
    return OK


def _show(offered: Sequence[Tool]) -> None:
    from .render import console
    from .toolhelp import show_tool

    for number, tool in enumerate(offered):
        if number:
            console().print()
        show_tool(tool)


def _show_table(offered: Sequence[Tool]) -> None:
    from .render import table
    from .summaries import summaries

    lines = summaries([tool.description or tool.title or "" for tool in offered])
    table(
        ("tool", "plugin", "reads", "what it does"),
        [
            (tool.name, tool.plugin, _reach(_annotations(tool)), line)
            for tool, line in zip(offered, lines, strict=True)
        ],
    )


def complain_about_broken_plugins(host: Host, *, as_json: bool) -> None:
    """Writes a message to stderr for each enabled plugin that could not be loaded."""
    for state in host.plugins():
        if state.error is not None:
            report(state.error, as_json=as_json)


def _as_json(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "plugin": tool.plugin,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "annotations": _annotations(tool),
    }


def _annotations(tool: Tool) -> dict[str, bool | None]:
    """Returns the tool's annotations; null for those that a module does not set."""
    if tool.hints is None:
        return {
            "read_only": tool.read_only,
            "destructive": tool.destructive,
            "idempotent": tool.idempotent,
            "open_world": tool.open_world,
        }
    hints = {key: value for key, value in tool.hints.items() if isinstance(value, bool)}
    return {
        "read_only": hints.get("readOnlyHint"),
        "destructive": hints.get("destructiveHint"),
        "idempotent": hints.get("idempotentHint"),
        "open_world": hints.get("openWorldHint"),
    }


def _reach(annotations: dict[str, bool | None]) -> str:
    reach = "local" if annotations["open_world"] is False else "network"
    if annotations["read_only"] is None:
        return f"{reach}, may write"
    return reach if annotations["read_only"] else f"{reach}, writes"
