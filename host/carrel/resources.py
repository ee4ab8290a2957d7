"""Documents that plugins offer by URI: who offers what, and reading one.

A resource is read by calling the plugin's reserved tool `resource`: the same sandbox, limits and
checks as for a tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .errors import CarrelError

if TYPE_CHECKING:
    from .config import Config
    from .exchange import Call
    from .plugins.plugin import Plugin
    from .plugins.registry import Registry
    from .runtime.pending import Pending

#: The reserved name that the host calls; see `contract/v1/manifest.schema.json`.
RESOURCE: Final = "resource"


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as clients see it; its content is JSON.

    Attributes:
        uri: what it is read by.
        plugin: the plugin's name in the configuration.
    """

    uri: str
    name: str
    title: str | None
    description: str
    plugin: str


def find_resources(registry: Registry, config: Config) -> dict[str, Resource]:
    """What the plugins that can be loaded offer, by URI, in the configuration's order.

    An operator's `skip_resources` hides those whose URI it matches; a `skip_tools` that matches
    `resource` switches all of a plugin's resources off.
    """
    found: dict[str, Resource] = {}
    for plugin in registry.names():
        try:
            manifest = registry.manifest(plugin)
        except CarrelError:
            continue
        entry = config.plugin(plugin)
        for spec in manifest.resources:
            if entry is not None and entry.grant_of_resource(spec.uri) is not None:
                continue
            # As for tools, the configuration's order decides between two with one URI.
            found.setdefault(
                spec.uri, Resource(spec.uri, spec.name, spec.title, spec.description, plugin)
            )
    return found


def start_reading(registry: Registry, resource: Resource) -> tuple[Plugin, Call, Pending]:
    """Starts the call that reads a resource; loads the plugin, so it may take a while.

    Raises:
        LoadError: the plugin cannot be loaded.
    """
    plugin = registry.plugin(resource.plugin)
    call = plugin.new_call(RESOURCE)
    arguments = {"uri": resource.uri, "secrets": registry.secrets_set(resource.plugin)}
    return plugin, call, plugin.submit_call(RESOURCE, arguments, call)
