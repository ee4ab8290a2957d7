"""A fixture from a real call: its arguments, its exchanges, what came out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config import PluginConfig
from carrel.errors import ArgumentError, SourceError
from carrel.plugins.manifest import parse_manifest

from .cases import CASE, EXCHANGES, EXPECTED, write_json
from .check import told_error
from .project import find_project
from .sandbox import embedded_manifest

if TYPE_CHECKING:
    from carrel.config import Config


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


def write_fixture(
    folder: Path, tool: str, arguments: Mapping[str, Any], outcome: Mapping[str, Any] | SourceError
) -> None:
    """Writes what `carrel plugin test` reads, beside the exchanges.

    Args:
        folder: of the fixture.
        tool: its name in the manifest, without namespace.
        arguments: as they were given.
        outcome: the result, or the plugin's own report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / CASE, {"tool": tool, "arguments": dict(arguments)})
    found = {"error": told_error(outcome)} if isinstance(outcome, SourceError) else outcome
    write_json(folder / EXPECTED, found)
