"""Lists and reads plugins' resources.

A component's resource is read by calling its reserved tool `resource`, a module's by its export
`read_resource`, with the same sandbox, limits and checks as for a tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from carrel.errors import UnknownNameError

from .naming import Naming

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.calls.result import Result
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.plugins.plugin_set import PluginSet

#: The reserved name that the host calls; see `contract/v1/manifest.schema.json`.
RESOURCE: Final = "resource"
#: The names that clients see unless a surface has others.
CARREL: Final = Naming()


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as clients see it.

    Attributes:
        uri: identifies it.
        plugin: the plugin's name in the configuration.
        mime_type: its media type; None if a module does not give one.
        size: in bytes, if a module gives it.
        own_uri: as the plugin has it, where that is another one.
    """

    uri: str
    name: str
    title: str | None
    description: str
    plugin: str
    mime_type: str | None = "application/json"
    size: int | None = None
    own_uri: str | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """A resource template as clients see it.

    Attributes:
        own_uri_template: as the plugin has it, where that is another one.
    """

    uri_template: str
    name: str
    title: str | None
    description: str
    mime_type: str | None
    plugin: str
    own_uri_template: str | None = None


def find_resources(
    plugin_set: PluginSet, config: Config, naming: Naming = CARREL
) -> dict[str, Resource]:
    """Returns the resources of the plugins that can be loaded, by URI, in the configuration's
    order.

    `skip_resources` hides those whose URI it matches; a `skip_tools` that matches `resource` hides
    all of a plugin's resources.
    """
    found: dict[str, Resource] = {}
    for plugin, manifest in plugin_set.manifests():
        entry = config.plugin(plugin)
        for spec in manifest.resources:
            if entry is not None and entry.grant_of_resource(spec.uri) is not None:
                continue
            # If two have the same URI, the first in the configuration is used, as for tools.
            uri = naming.uri(plugin, spec.uri)
            found.setdefault(
                uri,
                Resource(
                    uri,
                    spec.name,
                    spec.title,
                    spec.description,
                    plugin,
                    spec.mime_type,
                    spec.size,
                    None if uri == spec.uri else spec.uri,
                ),
            )
    return found


def find_templates(
    plugin_set: PluginSet, config: Config, naming: Naming = CARREL
) -> dict[str, Template]:
    """The templates of the plugins that can be loaded, by URI template."""
    found: dict[str, Template] = {}
    for plugin, manifest in plugin_set.manifests():
        entry = config.plugin(plugin)
        skipped = entry.skip_resource_templates if entry is not None else ()
        for spec in manifest.templates:
            if not matches_any(skipped, spec.uri_template):
                uri_template = naming.uri(plugin, spec.uri_template)
                found.setdefault(
                    uri_template,
                    Template(
                        uri_template,
                        spec.name,
                        spec.title,
                        spec.description,
                        spec.mime_type,
                        plugin,
                        None if uri_template == spec.uri_template else spec.uri_template,
                    ),
                )
    return found


def find_plugin(plugin_set: PluginSet, config: Config, uri: str) -> str:
    """Returns the plugin for a URI: the first that lists it, else the first whose template matches
    it. May load plugins, which takes a while.

    Raises:
        UnknownNameError: there is none.
    """
    found = find_resources(plugin_set, config)
    if uri in found:
        return found[uri].plugin
    from carrel.plugins.manifests.templates import covers

    for template in find_templates(plugin_set, config).values():
        if covers(template.uri_template, uri):
            entry = config.plugin(template.plugin)
            if entry is None or entry.grant_of_resource(uri) is None:
                return template.plugin
    raise UnknownNameError("resource", uri, known=list(found))


def matches_any(patterns: Sequence[str], text: str) -> bool:
    """Returns whether one of an operator's regular expressions matches the whole text."""
    if not patterns:
        return False
    import re

    return any(re.fullmatch(pattern, text) for pattern in patterns)


def start_reading(plugin_set: PluginSet, plugin_name: str, uri: str) -> RunningCall[Result]:
    """Starts the call that reads a resource; loads the plugin, so it may take a while.

    Raises:
        LoadError: the plugin cannot be loaded.
    """
    plugin = plugin_set.plugin(plugin_name)
    call = plugin.new_call(RESOURCE)
    return plugin.start_reading(uri, plugin_set.secrets_set(plugin_name), call)
