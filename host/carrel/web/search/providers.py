"""Finds the providers that the operator named, and what each can do.

A provider is a plugin with the tool `web_search` of `plugins/websearch`. The host reads from the
tool's input schema which filters it applies, how long a query may be and how many hosts it takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from carrel.config import SEARCH_PLUGINS
from carrel.errors import CarrelError

from .schema import MAX_QUERY, MAX_RESULTS

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

#: The tool's name in each provider's plugin.
TOOL: Final = "web_search"
#: The provider that takes the identifier of a search engine.
GOOGLE: Final = "google"


@dataclass(frozen=True, slots=True)
class Abilities:
    """The arguments that a provider's tool takes.

    Attributes:
        filters: names of its arguments, `since` and `engine` among them.
        query: characters of the longest query.
        count: the most results of one request.
        sites: the most hosts of one request; 0 if it takes none.
    """

    filters: frozenset[str]
    query: int = MAX_QUERY
    count: int = MAX_RESULTS
    sites: int = 0


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that the operator named.

    Attributes:
        name: of the plugin in the configuration.
        abilities: None if its plugin cannot be read.
        remedy: what to set before it can be asked; None if it can be.
        plugin: name of the built-in plugin that it is; its own name for another.
    """

    name: str
    abilities: Abilities | None
    remedy: str | None = None
    plugin: str = ""


def find_providers(plugins: PluginSet, config: Config) -> list[Provider]:
    """Returns the providers of the setting `web.search`, in its order."""
    return [_find(plugins, config, name) for name in config.web.search]


def known_names(config: Config) -> list[str]:
    """Returns the names of all providers that Carrel supports or the operator added, once each."""
    return sorted({*SEARCH_PLUGINS, *config.web.search})


def _find(plugins: PluginSet, config: Config, name: str) -> Provider:
    entry = config.plugin(name)
    own = entry.url.removeprefix("builtin:") if entry is not None and entry.is_builtin else name
    try:
        manifest = plugins.manifest(name)
    except CarrelError as error:
        return Provider(name, None, error.message, own)
    spec = manifest.tool(TOOL)
    if spec is None:
        return Provider(
            name, None, f"its plugin has no tool {TOOL}; take it out of web.search", own
        )
    remedy = plugins.missing_requirement(name)
    if remedy is None and own == "searxng" and entry is not None and entry.endpoint is None:
        remedy = _ENDPOINT.format(name=name) if config.replay_dir is None else None
    return Provider(name, _abilities(spec.input_schema), remedy, own)


_ENDPOINT: Final = (
    "no instance is configured; start one and set plugins.{name}.runtime_config.endpoint, such as "
    '{{ url = "http://127.0.0.1:8080", private = true }} (docs/how-to/search-the-web.md)'
)


def _abilities(schema: Mapping[str, Any]) -> Abilities:
    members: Mapping[str, Any] = schema.get("properties", {})

    def limit(name: str, key: str, default: int) -> int:
        member = members.get(name)
        value = member.get(key, default) if isinstance(member, Mapping) else default
        return value if isinstance(value, int) else default

    sites = limit("sites", "maxItems", 10) if "sites" in members else 0
    return Abilities(
        frozenset(members),
        limit("query", "maxLength", MAX_QUERY),
        limit("count", "maximum", MAX_RESULTS),
        sites,
    )
