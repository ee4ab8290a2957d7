"""A fixture from a real call: its arguments, its exchanges, what came out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config import PluginConfig
from carrel.errors import ArgumentError, SourceError
from carrel.plugins.access import provided_secrets
from carrel.plugins.manifest import RESERVED_TOOLS, parse_manifest
from carrel.plugins.registry import PluginState, Registry

from .cases import CASE, EXCHANGES, EXPECTED, write_json
from .project import find_project
from .reserved import reserved_tools
from .run import call_plugin, told_error
from .sandbox import embedded_manifest

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import ProgressHandler
    from carrel.result import Result


def require_new(folder: Path) -> None:
    """Refuses a fixture's folder that is there already.

    Raises:
        ArgumentError: it is.
    """
    if folder.exists():
        raise ArgumentError(
            [f"{folder}: exists already; remove it first, or choose another name for the case"]
        )


def recording_config(config: Config, folder: Path) -> Config:
    """The configuration to record a fixture with: its exchanges go to the fixture.

    A fixture inside a project is recorded with the project's own component, which may reach what
    its manifest declares: who builds a plugin is its operator here.

    Args:
        config: the author's own.
        folder: of the fixture.

    Raises:
        ArgumentError: the project has not been built.
        LoadError: the component is not one that a host would take.
    """
    config = dataclasses.replace(config, record_dir=folder.absolute() / EXCHANGES)
    try:
        project = find_project(folder.absolute().parent.parent)
    except ArgumentError:
        return config
    path = project.component()
    text = embedded_manifest(path.read_bytes())
    if text is None:
        raise ArgumentError([f"{path}: carries no manifest; 'carrel plugin build' embeds it"])
    manifest = parse_manifest(text, path.stem)
    hosts = tuple(rule.host for rule in manifest.hosts)
    entry = PluginConfig(manifest.name, path.absolute().as_uri(), allowed_hosts=hosts)
    return dataclasses.replace(config, plugins=(entry,))


def find_reserved(states: Sequence[PluginState], name: str) -> tuple[PluginState, str] | None:
    """The plugin and the reserved tool that a name means; None when it means a tool, or nothing.

    Args:
        states: of the configured plugins.
        name: with the plugin's namespace in front or, where only one plugin has it, without.

    Raises:
        ArgumentError: a reserved name that several plugins have, or none.
    """
    offered = {
        f"{state.manifest.namespace}_{tool}": (state, tool)
        for state in states
        if state.manifest is not None
        for tool in reserved_tools(state.manifest)
    }
    if name not in RESERVED_TOOLS:
        return offered.get(name)
    named = [full for full, (_, tool) in offered.items() if tool == name]
    if not named:
        raise ArgumentError([f"{name}: no plugin's manifest offers it"])
    if len(named) > 1:
        raise ArgumentError([f"{name}: several plugins offer it; name one: {', '.join(named)}"])
    return offered[named[0]]


def secrets_told(config: Config, state: PluginState) -> list[str]:
    """Names of the secrets that the host would tell a plugin's `resource`."""
    entry = config.plugin(state.name)
    assert entry is not None, "a state belongs to an entry"
    assert state.manifest is not None, "it offers something"
    provided = provided_secrets(config, entry, state.manifest)
    return sorted(name for name, value in provided.items() if value)


def call_reserved(
    config: Config,
    plugin: str,
    tool: str,
    arguments: Mapping[str, Any],
    on_progress: ProgressHandler | None = None,
) -> Result:
    """What a plugin answers to a call that else the host makes by itself.

    Raises:
        ArgumentError: a host would never ask this.
        CarrelError: what the call ended with.
    """
    with closing(Registry(config)) as registry:
        return call_plugin(registry.plugin(plugin), tool, arguments, on_progress)


def write_fixture(
    folder: Path, tool: str, arguments: Mapping[str, Any], outcome: Mapping[str, Any] | SourceError
) -> None:
    """Writes what `carrel plugin test` reads, beside the exchanges.

    Args:
        folder: of the fixture.
        tool: its name in the manifest, without namespace, or a reserved one.
        arguments: as they were given.
        outcome: the result, or the plugin's own report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / CASE, {"tool": tool, "arguments": dict(arguments)})
    found = {"error": told_error(outcome)} if isinstance(outcome, SourceError) else outcome
    write_json(folder / EXPECTED, found)
