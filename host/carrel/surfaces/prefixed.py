"""Lists the plugins of the configuration file under names with the plugin's name as prefix.

For clients of hosts that only run plugins: they list neither host tools nor plugins that the file
does not name. The plugin's name in the configuration is the prefix of tools and prompts, and the
first segment of the path of resources' URIs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.awaiting import run_in_thread
from carrel.errors import UnknownNameError
from carrel.plugins.plugin_subset import PluginSubset
from carrel.tools.naming import Naming
from carrel.tools.resources import find_resources, find_templates, start_reading
from carrel.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.calls.result import Result
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet


class PrefixedNames(Naming):
    """The names of a surface.

    Args:
        pattern: with `{plugin}` and `{name}`.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def tool(self, plugin: str, _manifest: Manifest, own: str) -> str:
        """Returns a tool's name, whatever its length and characters."""
        return self.pattern.format(plugin=plugin, name=own)

    def prompt(self, plugin: str, manifest: Manifest, own: str) -> str:
        """Returns a prompt's name."""
        return self.tool(plugin, manifest, own)

    def uri(self, plugin: str, own: str) -> str:
        """Returns a URI with the plugin's name before its path: `doc://host/PLUGIN/path`."""
        head, rest = _parts(own)
        return f"{head}{plugin}/{rest.lstrip('/')}"


def own_uri(uri: str) -> tuple[str, str]:
    """Returns the plugin that a URI names, and the URI as the plugin has it."""
    head, rest = _parts(uri)
    plugin, _, path = rest.lstrip("/").partition("/")
    return plugin, head + path


def _parts(uri: str) -> tuple[str, str]:
    """Returns scheme and authority with what ends them, and the rest."""
    scheme, colon, rest = uri.partition(":")
    if not rest.startswith("//"):
        return f"{scheme}{colon}", rest
    authority, slash, path = rest[2:].partition("/")
    if not slash:
        # A query or fragment may follow the authority at once.
        end = len(re.split("[?#]", authority, maxsplit=1)[0])
        authority, path = authority[:end], authority[end:]
    return f"{scheme}://{authority}/", path


class PrefixedToolbox(Toolbox):
    """The plugins that the configuration file names, and no host tools.

    Args:
        pattern: of names, see `PrefixedNames`.
        config: as for `Toolbox`.
        plugin_set: likewise.
        on_pulled: likewise.
    """

    def __init__(
        self,
        pattern: str,
        config: Config,
        *,
        plugin_set: PluginSet | None = None,
        on_pulled: Callable[[], None] | None = None,
    ) -> None:
        self._names = PrefixedNames(pattern)
        super().__init__(
            _only_named(config), plugin_set=plugin_set, on_pulled=on_pulled, naming=self._names
        )

    def successor(self, config: Config) -> Toolbox:
        """Returns the toolbox of another configuration, with the same names."""
        config = _only_named(config)
        plugin_set = self._plugin_set.successor(config)
        return PrefixedToolbox(self._names.pattern, config, plugin_set=plugin_set)

    def restricted(
        self,
        config: Config,
        toolsets: Collection[str] | None,  # noqa: ARG002 - it has none
    ) -> Toolbox:
        """See `Toolbox.restricted`."""
        plugin_set = PluginSubset(self._plugin_set, config)
        return PrefixedToolbox(self._names.pattern, config, plugin_set=plugin_set)

    async def read_resource(
        self, uri: str, *, call_started: Callable[[Call], None] | None = None
    ) -> Result:
        """Reads a resource of the plugin that its URI names; see `Toolbox.read_resource`."""
        plugin, own = await run_in_thread(self._find, uri)
        running = await run_in_thread(start_reading, self._plugin_set, plugin, own)
        if call_started is not None:
            call_started(running.call)
        return await running.wait()

    def read_resource_sync(self, uri: str) -> Result:
        """As `read_resource`, but waits."""
        plugin, own = self._find(uri)
        return start_reading(self._plugin_set, plugin, own).result()

    def has_resource(self, uri: str) -> bool:
        """See `Toolbox.has_resource`."""
        try:
            self._find(uri)
        except UnknownNameError:
            return False
        return True

    def on_resource_updated(self, listener: Callable[[str], None]) -> None:
        """Sets the listener for URIs of changed resources, as clients know them.

        Two plugins may have one URI, and a module does not say which of them changed: then both
        are reported.
        """

        def report(own: str) -> None:
            for uri in self._listed_as(own):
                listener(uri)

        super().on_resource_updated(report)

    def _listed_as(self, own: str) -> list[str]:
        """Returns what clients call a plugin's URI, for each plugin that has it."""
        from carrel.plugins.manifests.templates import covers

        listed = find_resources(self._plugin_set, self._config, self._names).values()
        templates = find_templates(self._plugin_set, self._config, self._names).values()
        found = [resource.uri for resource in listed if own in (resource.own_uri, resource.uri)]
        found += [
            self._names.uri(template.plugin, own)
            for template in templates
            if covers(template.own_uri_template or template.uri_template, own)
        ]
        return list(dict.fromkeys(found))

    def _find(self, uri: str) -> tuple[str, str]:
        """Returns the plugin and its own URI for one that is listed, or that a template covers."""
        from carrel.plugins.manifests.templates import covers

        resources = find_resources(self._plugin_set, self._config, self._names)
        if uri in resources:
            return resources[uri].plugin, resources[uri].own_uri or uri
        plugin, own = own_uri(uri)
        entry = self._config.plugin(plugin)
        for template in find_templates(self._plugin_set, self._config, self._names).values():
            is_hidden = entry is not None and entry.grant_of_resource(own) is not None
            if template.plugin == plugin and covers(template.uri_template, uri) and not is_hidden:
                return plugin, own
        raise UnknownNameError("resource", uri, known=list(resources))


def _only_named(config: Config) -> Config:
    """Returns the configuration without plugins that are on because the file does not name them."""
    named = tuple(plugin for plugin in config.plugins if plugin.name not in config.unnamed)
    return replace(config, plugins=named)
