"""Some of the plugins of a set: those that one principal may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from carrel.errors import CarrelError, UnknownNameError

from .plugin_set import PluginSet

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.exchange import FileFetcher

    from .grants.downloads import DownloadRule
    from .grants.public_web import PageRule
    from .manifests.manifest import Manifest
    from .plugin import Plugin
    from .state import PluginState


class PluginSubset(PluginSet):
    """The plugins of a configuration that has some of the entries of another set's.

    Everything is loaded by the other set, which is closed later: plugins, their threads, cache and
    pace are shared. Its own configuration only decides which plugins there are.

    Args:
        whole: the set that loads the plugins.
        config: with the entries of the plugins that may be used.
    """

    def __init__(self, whole: PluginSet, config: Config) -> None:
        super().__init__(config, shared=whole.shared)
        self._whole = whole

    def names(self) -> tuple[str, ...]:
        """Returns the names of the plugins that are enabled in both."""
        own = {plugin.name for plugin in self._config.plugins if plugin.enabled}
        return tuple(name for name in self._whole.names() if name in own)

    def successor(self, config: Config) -> PluginSet:
        """Returns another subset of the same set."""
        return PluginSubset(self._whole, config)

    def plugin(self, name: str, on_compile: Callable[[], None] | None = None) -> Plugin:
        """See `PluginSet.plugin`."""
        self._require(name)
        return self._whole.plugin(name, on_compile)

    def downloader(self, rule: DownloadRule | PageRule) -> FileFetcher:
        """See `PluginSet.downloader`."""
        return self._whole.downloader(rule)

    def precompile(self) -> None:
        """Does nothing: the other set compiles its plugins."""

    def loaded(self, name: str) -> Plugin | None:
        """See `PluginSet.loaded`."""
        return self._whole.loaded(name) if self._has(name) else None

    def manifest(self, name: str) -> Manifest:
        """See `PluginSet.manifest`."""
        self._require(name)
        return self._whole.manifest(name)

    def formats(self, name: str) -> Sequence[Mapping[str, Any]]:
        """See `PluginSet.formats`."""
        self._require(name)
        return self._whole.formats(name)

    def manifests(
        self, on_unreadable: Callable[[str, CarrelError], None] | None = None
    ) -> Iterator[tuple[str, Manifest]]:
        """See `PluginSet.manifests`."""
        for name in self.names():
            try:
                manifest = self._whole.manifest(name)
            except CarrelError as error:
                if on_unreadable is not None:
                    on_unreadable(name, error)
            else:
                yield name, manifest

    def approved_tools(self, name: str) -> tuple[str, ...]:
        """See `PluginSet.approved_tools`."""
        self._require(name)
        return self._whole.approved_tools(name)

    def secrets_set(self, name: str) -> list[str]:
        """See `PluginSet.secrets_set`."""
        self._require(name)
        return self._whole.secrets_set(name)

    def missing_requirement(self, name: str) -> str | None:
        """See `PluginSet.missing_requirement`."""
        self._require(name)
        return self._whole.missing_requirement(name)

    def unset_keys(self, name: str) -> tuple[str, ...]:
        """See `PluginSet.unset_keys`."""
        self._require(name)
        return self._whole.unset_keys(name)

    def states(
        self, only: Collection[str] | None = None, *, load: bool = True
    ) -> list[PluginState]:
        """Returns the states of the own plugins."""
        own = {plugin.name for plugin in self._config.plugins}
        return self._whole.states(own if only is None else own.intersection(only), load=load)

    def close(self) -> None:
        """Does nothing: the other set closes its plugins."""

    def _has(self, name: str) -> bool:
        entry = self._config.plugin(name)
        return entry is not None and entry.enabled

    def _require(self, name: str) -> PluginConfig:
        entry = self._config.plugin(name)
        if entry is None or not entry.enabled:
            raise UnknownNameError("plugin", name, known=self.names())
        return entry
