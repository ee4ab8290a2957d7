"""Implements `carrel plugin`, `list` and `inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.errors import UnknownNameError

from .authoring import build_command, new_command, test_command
from .command import AS_JSON, ExampleGroup, command
from .component_file import with_component
from .inspection import inspect_plugin, show_inspection
from .locking import lock_command
from .output import stdout_is_terminal, write_json
from .pruning import prune_command
from .publishing import pull_command, push_command
from .report import FAILED, OK, report
from .session import Session
from .signing import keys_group, sign_command, verify_command

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.state import PluginState


plugin = ExampleGroup(
    "plugin",
    help="List, inspect, create, publish, pull, sign and verify plugins.",
    no_args_is_help=True,
)
plugin.example = "plugin inspect arxiv"


@command("list", example="plugin list", options=(AS_JSON,))
def list_command(session: Session, as_json: bool) -> int:
    """List the configured plugins and their states.

    The exit code is 1 if an enabled plugin cannot be loaded.
    """
    with session.open() as host:
        states = list(host.plugins())
    if as_json or not stdout_is_terminal():
        write_json([summary(state) for state in states])
    else:
        from .render import table

        table(
            ("plugin", "version", "state", "tools", "formats", "hosts", "where"),
            [_row(summary(state)) for state in states],
        )
    broken = [state.error for state in states if state.error is not None]
    for error in broken:
        report(error, as_json=session.options.json_errors)
    return FAILED if broken else OK


@command("inspect", example="plugin inspect arxiv", options=(AS_JSON,))
@click.argument("name", metavar="NAME | FILE")
def inspect_command(session: Session, name: str, as_json: bool) -> int:
    """Show what a plugin requests and what it is granted.

    NAME is a configured plugin. FILE is a component that is not configured: it is shown as it would
    be with an empty grant.
    """
    config = session.config()
    if _is_file(name, config):
        config = with_component(config, Path(name))
        entry_name = config.plugins[-1].name
    else:
        entry_name = name
    with session.open(config) as host:
        states = {state.name: state for state in host.plugins()}
    if entry_name not in states:
        raise UnknownNameError("plugin", name, known=sorted(states))
    entry = config.plugin(entry_name)
    assert entry is not None, "a state belongs to an entry"
    inspection = inspect_plugin(config, entry, states[entry_name])
    if as_json or not stdout_is_terminal():
        write_json(inspection)
    else:
        from .remedy import configuration_file

        is_configured = not _is_file(name, session.config())
        show_inspection(inspection, configuration_file(), is_configured=is_configured)
    error = states[entry_name].error
    if error is not None:
        report(error, as_json=session.options.json_errors)
        return FAILED
    return OK


plugin.add_command(list_command)
plugin.add_command(inspect_command)
plugin.add_command(lock_command)
plugin.add_command(push_command)
plugin.add_command(pull_command)
plugin.add_command(prune_command)
plugin.add_command(sign_command)
plugin.add_command(verify_command)
plugin.add_command(keys_group)
plugin.add_command(new_command)
plugin.add_command(build_command)
plugin.add_command(test_command)


def summary(state: PluginState) -> dict[str, Any]:
    """Returns a summary of a plugin's state."""
    manifest = state.manifest
    fields: dict[str, Any] = {
        "name": state.name,
        "url": state.url,
        "state": "off" if not state.enabled else "failed" if state.error else "ready",
        "version": manifest.version if manifest else None,
        "digest": f"sha256:{state.digest}" if state.digest else None,
        "tools": [tool.name for tool in manifest.tools] if manifest else [],
        "formats": [declared.name for declared in manifest.formats] if manifest else [],
        "granted_hosts": list(state.granted),
        "locked": state.locked,
        "notes": list(state.notes),
    }
    if state.error is not None:
        fields["error"] = state.error.to_dict()
    return fields


def _row(fields: dict[str, Any]) -> list[str]:
    return [
        fields["name"],
        fields["version"] or "",
        fields["state"],
        str(len(fields["tools"])),
        ", ".join(fields["formats"]),
        ", ".join(fields["granted_hosts"]),
        fields["url"],
    ]


def _is_file(name: str, config: Config) -> bool:
    if config.plugin(name) is not None:
        return False
    return name.endswith(".wasm") or Path(name).is_file()
