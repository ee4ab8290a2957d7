"""Reads the surfaces: one folder each, with `surface.json`, `tools.json` and `shapes.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from carrel.errors import ConfigError
from carrel.plugins.manifests.tool_spec import ToolSpec

from .shape import ResourceShape, Shape

_FOLDER: Final = Path(__file__).parent
_DESCRIPTION: Final = "surface.json"


@dataclass(frozen=True, slots=True)
class SurfaceTool:
    """A tool of a surface.

    Attributes:
        spec: as clients see it; the name has no prefix.
        target: the tool of Carrel that it calls.
        shape: translates its arguments and results.
    """

    spec: ToolSpec
    target: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class SurfaceResource:
    """A resource of a surface.

    Attributes:
        uri: as clients see it.
        name: likewise.
        description: likewise.
        mime_type: likewise.
        target: the URI of the plugin's resource that it reads.
        shape: returns the JSON value for clients from that of the plugin.
    """

    uri: str
    name: str
    description: str
    mime_type: str
    target: str
    shape: ResourceShape


class Surface:
    """One surface.

    Args:
        folder: of its files.

    Attributes:
        name: by which the option `--surface` and the setting `server.surface` choose it.
        plugin_names: the names of plugins' tools and prompts, with `{plugin}` and `{name}`; None
            for a surface that lists its tools.
        environment: variable of the original server → the setting that it sets.
        defaults: path setting that must have a value → the name in the data folder that it has
            when it is not set.
        switches: settings that are switched on where they are off.
        resources_of: names of the features whose resources are offered as they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        described = _read(folder / _DESCRIPTION)
        self.name: str = described["name"]
        self.plugin_names: str | None = described.get("plugin_names")
        self.environment: Mapping[str, str] = described.get("environment", {})
        self.defaults: Mapping[str, str] = described.get("defaults", {})
        self.switches: Sequence[str] = described.get("switches", ())
        self.resources_of: Sequence[str] = described.get("resources_of", ())
        self._resources: list[dict[str, Any]] = described.get("resources", [])

    @cached_property
    def tools(self) -> Mapping[str, SurfaceTool]:
        """The tools by name, in the order of the list."""
        shapes: Mapping[str, Shape] = getattr(self.shapes, "SHAPES", {})
        listed = _read(self._folder / "tools.json") if self.plugin_names is None else []
        return {tool["name"]: _tool(tool, shapes.get(tool["name"], Shape())) for tool in listed}

    @cached_property
    def resources(self) -> Mapping[str, SurfaceResource]:
        """The resources by URI."""
        shapes: Mapping[str, ResourceShape] = getattr(self.shapes, "RESOURCES", {})
        return {
            resource["uri"]: SurfaceResource(
                uri=resource["uri"],
                name=resource["name"],
                description=resource["description"],
                mime_type=resource["mimeType"],
                target=resource["reads"],
                shape=shapes[resource["name"]],
            )
            for resource in self._resources
        }

    @cached_property
    def shapes(self) -> ModuleType | None:
        """The module with the functions; None for a surface without."""
        if not (self._folder / "shapes.py").is_file():
            return None
        return import_module(f"{__package__}.{self._folder.name}.shapes")


def surface_names() -> list[str]:
    """Returns the names of all surfaces, sorted."""
    return sorted(_read(path)["name"] for path in _FOLDER.glob(f"*/{_DESCRIPTION}"))


def find_surface(name: str) -> Surface:
    """Returns the surface of that name.

    Raises:
        ConfigError: there is none; the message lists the known names.
    """
    for path in sorted(_FOLDER.glob(f"*/{_DESCRIPTION}")):
        if _read(path)["name"] == name:
            return Surface(path.parent)
    names = ", ".join(surface_names())
    raise ConfigError([f"server.surface: unknown surface {name!r}; known: {names}"])


def _tool(listed: Mapping[str, Any], shape: Shape) -> SurfaceTool:
    """Returns a tool from its entry in `tools.json`, which has MCP's members and `calls`."""
    hints = listed["annotations"]
    spec = ToolSpec(
        name=listed["name"],
        title=listed.get("title"),
        description=listed["description"],
        input_schema=listed["inputSchema"],
        output_schema=listed.get("outputSchema"),
        read_only=hints["readOnlyHint"],
        destructive=hints["destructiveHint"],
        idempotent=hints["idempotentHint"],
        open_world=hints["openWorldHint"],
    )
    return SurfaceTool(spec, listed["calls"], shape)


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
