"""`carrel tools`: what is on offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .command import AS_JSON, command
from .output import stdout_is_terminal, write_json
from .report import OK, report
from .session import Host, Session

if TYPE_CHECKING:
    from carrel.server.toolbox import Tool


@command("tools", example="tools --json", options=(AS_JSON,))
def tools(session: Session, as_json: bool) -> int:
    """List the tools on offer.

    As JSON: one array of {name, title, description, plugin, input_schema, output_schema,
    annotations}. A plugin that cannot be loaded is named on stderr and does not hide the others.
    """
    with session.open() as host:
        offered = [_as_json(tool) for tool in host.tools()]
        complain_about_broken_plugins(host, as_json=session.options.json_errors)
    if as_json or not stdout_is_terminal():
        write_json(offered)
        return OK
    from .render import table

    table(
        ("tool", "plugin", "reads", "what it does"),
        [
            (tool["name"], tool["plugin"], _reach(tool["annotations"]), _summary(tool))
            for tool in offered
        ],
    )
    return OK


def complain_about_broken_plugins(host: Host, *, as_json: bool) -> None:
    """One message on stderr for each plugin that is on and could not be loaded."""
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
    """What the plugin says of the tool; null where a module says nothing."""
    if tool.hints is None:
        return {
            "read_only": tool.read_only,
            "destructive": tool.destructive,
            "idempotent": tool.idempotent,
            "open_world": tool.open_world,
        }
    given = {key: value for key, value in tool.hints.items() if isinstance(value, bool)}
    return {
        "read_only": given.get("readOnlyHint"),
        "destructive": given.get("destructiveHint"),
        "idempotent": given.get("idempotentHint"),
        "open_world": given.get("openWorldHint"),
    }


def _reach(annotations: dict[str, bool | None]) -> str:
    reach = "local" if annotations["open_world"] is False else "network"
    if annotations["read_only"] is None:
        return f"{reach}, may write"
    return reach if annotations["read_only"] else f"{reach}, writes"


def _summary(tool: dict[str, Any]) -> str:
    lines = str(tool["description"]).strip().splitlines()
    return lines[0] if lines else tool["title"] or ""
