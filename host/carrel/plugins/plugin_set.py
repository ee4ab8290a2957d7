"""The plugins of a configuration: found, verified and loaded when they are first needed.

A plugin that cannot be loaded has no effect on the others: listings leave it out, its state has the
reason, and only a call of it raises.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from carrel.errors import CarrelError, UnknownNameError
from carrel.exchange import FileFetcher
from carrel.runtime.sections import custom_section

from .approval.pinning import Pins
from .plugin import Plugin
from .plugin_loader import PluginLoader
from .shared_resources import SharedResources
from .sources.source import (
    MANIFEST_SECTION,
    PluginSource,
    builtin_names,
    embedded_format_list,
    read_source,
)
from .state import PluginState, notes_of

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.fetch.client import FetchClient
    from carrel.telemetry import UpstreamState

    from .grants.downloads import DownloadRule
    from .grants.public_web import PageRule
    from .manifests.manifest import Manifest
    from .manifests.reading import Reading

_log = logging.getLogger("carrel.plugins")


class PluginSet:
    """All plugins of a configuration. Thread-safe.

    Args:
        config: lists them.
        fetch_client: makes their requests; made when first needed if None.
        on_pulled: called from a thread when a plugin was pulled or compiled. With it, a plugin that
            is not on this machine or takes long to compile is prepared in the background and
            unavailable meanwhile; without it, callers wait.
        shared: resources of the set that this one succeeds; made when None.
        pins: the lock's entries; read when first needed if None.
        readings: manifests that the set before this one is reading; none when None.

    Attributes:
        changed: notified of a list that a module changed: `tools`, `prompts` or `resources`.
        updated: notified of the URI of a document that a module changed.
    """

    def __init__(
        self,
        config: Config,
        *,
        fetch_client: FetchClient | None = None,
        on_pulled: Callable[[], None] | None = None,
        shared: SharedResources | None = None,
        pins: Pins | None = None,
        readings: Mapping[str, tuple[PluginConfig, str, Reading]] | None = None,
    ) -> None:
        self._config = config
        self._lock = threading.RLock()
        self._locks: dict[str, threading.RLock] = {}
        self._shared = shared or SharedResources(config, fetch_client)
        self._loader = PluginLoader(config, self._shared)
        self.changed = self._loader.changed
        self.updated = self._loader.updated
        self._pins = pins or Pins(config, on_pulled)
        self._on_pulled = on_pulled
        self._readings = {
            name: cached for name, cached in (readings or {}).items() if not cached[2].failed
        }
        self._plugins: dict[str, Plugin | CarrelError] = {}
        self._manifests: dict[str, Manifest] = {}
        self._unreadable: dict[str, CarrelError] = {}
        self._sources: dict[str, PluginSource] = {}
        self._closed = False

    def successor(self, config: Config) -> PluginSet:
        """Returns the plugins of another configuration; unchanged ones are shared with this set.

        Both are closed, in any order.
        """
        shared = self._shared.taken_for(config)
        successor = PluginSet(
            config,
            on_pulled=self._on_pulled,
            shared=shared,
            pins=self._pins.successor(config),
            readings=self._readings if shared is not None else {},
        )
        if shared is not None:
            unlisted = (*self._config.unlisted_readers, *self._config.unlisted_providers)
            for name in (*self.names(), *unlisted):
                plugin = self.loaded(name)
                if plugin is not None and config.plugin(name) == self._config.plugin(name):
                    successor.adopt(name, plugin)
        return successor

    @property
    def shared(self) -> SharedResources:
        """The resources that successors and subsets of this set use too."""
        return self._shared

    def adopt(self, name: str, plugin: Plugin) -> None:
        """Shares a loaded plugin of another set if its bytes and approval are unchanged."""
        entry = self._entry(name)
        try:
            source = self._source(entry)  # read and verified again
            if source.digest == plugin.digest:
                self._pins.require(entry, source, plugin.manifest)
                self._plugins[name] = self._shared.hold(plugin)
                self._manifests[name] = plugin.manifest
                del self._sources[name]
        except CarrelError:
            self._sources.pop(name, None)  # `plugin` reports the fault

    def names(self) -> tuple[str, ...]:
        """Returns the names of the enabled plugins, in the configuration's order."""
        return tuple(plugin.name for plugin in self._config.plugins if plugin.enabled)

    def plugin(self, name: str, on_compile: Callable[[], None] | None = None) -> Plugin:
        """Returns a plugin, loaded.

        Args:
            name: as configured.
            on_compile: called, from any thread, if the plugin is compiled first.

        Raises:
            UnknownNameError: no enabled plugin has that name.
            LoadError: it cannot be loaded.
        """
        loaded = self.loaded(name)
        if loaded is not None:
            return loaded
        entry = self._entry(name)
        with self._loader.compile_news.listening(name, on_compile), self._loading(name):
            found = self._plugins.get(name)
            if found is None:
                try:
                    found = self._shared.hold(self._load(entry))
                except CarrelError as error:
                    _log.warning("%s", error)
                    found = error
                self._plugins[name] = found
                if name in self._manifests:
                    self._sources.pop(name, None)  # its bytes are compiled
        if isinstance(found, CarrelError):
            raise found
        return found

    def downloader(self, rule: DownloadRule | PageRule) -> FileFetcher:
        """Returns what downloads files for a feature of the host."""
        fetcher = self._shared.access().fetcher_of(rule.policy(), rule.secrets())
        assert isinstance(fetcher, FileFetcher), "the fetchers of the fetch layer are"
        return fetcher

    def precompile(self) -> None:
        """Starts to compile the built-in plugins in the background, before they are needed.

        Readers without an entry are among them where a tool may read files or pages, and the
        providers that searches ask.
        """
        reads = self._config.documents.folders or self._config.web.hosts
        readers = self._config.unlisted_readers if reads else ()
        providers = self._config.unlisted_providers
        entries = [self._config.plugin(name) for name in (*self.names(), *readers, *providers)]
        names = [
            entry.url.removeprefix("builtin:") for entry in entries if entry and entry.is_builtin
        ]
        known = builtin_names()
        self._shared.precompile([name for name in names if name in known])

    def loaded(self, name: str) -> Plugin | None:
        """Returns the plugin if it is loaded; never waits for loading."""
        found = self._plugins.get(name)
        return found if isinstance(found, Plugin) else None

    def manifest(self, name: str) -> Manifest:
        """Returns the manifest of a plugin; read from its custom section if it has one.

        Raises:
            UnknownNameError: no enabled plugin has that name.
            LoadError: it cannot be read, or is refused.
        """
        entry = self._entry(name)
        with self._loading(name):
            if name not in self._manifests:
                source = self._source(entry)
                manifest = self._readable(entry, source)
                self._pins.require(entry, source, manifest)
                self._manifests[name] = manifest
            return self._manifests[name]

    def formats(self, name: str) -> Sequence[Mapping[str, Any]]:
        """Returns the formats of a plugin, as in its manifest; that of a built-in one is unchecked.

        Raises as `manifest`.
        """
        entry = self._entry(name)
        with self._loading(name):
            if name not in self._manifests and entry.is_builtin:
                return embedded_format_list(self._source(entry).wasm)
        formats: Sequence[Mapping[str, Any]] = self.manifest(name).raw.get("formats", ())
        return formats

    def manifests(
        self, on_unreadable: Callable[[str, CarrelError], None] | None = None
    ) -> Iterator[tuple[str, Manifest]]:
        """Yields names and manifests of the enabled plugins, in the configuration's order.

        Leaves out plugins whose manifest cannot be read or is refused.

        Args:
            on_unreadable: called with the name of each that is left out, and the error.
        """
        self._begin_readings()
        for name in self.names():
            try:
                manifest = self.manifest(name)
            except CarrelError as error:
                if on_unreadable is not None:
                    on_unreadable(name, error)
            else:
                yield name, manifest

    def _readable(self, entry: PluginConfig, source: PluginSource) -> Manifest:
        """Reads a manifest; a failure is not tried again."""
        if entry.name in self._unreadable:
            raise self._unreadable[entry.name]
        on_ready = self._on_pulled
        if on_ready is not None and custom_section(source.wasm, MANIFEST_SECTION) is None:
            return self._reading(entry, source, on_ready).result()
        try:
            return self._loader.read_manifest(entry, source)
        except CarrelError as error:
            self._unreadable[entry.name] = error  # compiling a bomb again would not help
            raise

    def _begin_readings(self) -> None:
        """Starts to read every manifest that needs compiling first, concurrently."""
        on_ready = self._on_pulled
        if on_ready is None:
            return
        for name in self.names():
            try:
                entry = self._entry(name)
                with self._loading(name):
                    if name in self._manifests or entry.is_builtin:
                        continue
                    source = self._source(entry)
                    if custom_section(source.wasm, MANIFEST_SECTION) is None:
                        self._reading(entry, source, on_ready)
            except CarrelError:
                continue  # `manifest` reports it

    def _reading(
        self, entry: PluginConfig, source: PluginSource, on_ready: Callable[[], None]
    ) -> Reading:
        """Returns the reading of a manifest; starts one unless the same bytes are being read."""
        cached = self._readings.get(entry.name)
        if cached is None or cached[0] != entry or cached[1] != source.digest:
            from .manifests.reading import Reading

            reading = Reading(
                entry.name, lambda: self._loader.read_manifest(entry, source), on_ready
            )
            cached = self._readings[entry.name] = entry, source.digest, reading
        return cached[2]

    def read_manifest(self, entry: PluginConfig, source: PluginSource) -> Manifest:
        """Reads the manifest of these bytes, which need not be approved.

        Raises:
            LoadError: it cannot be read, or is refused.
        """
        return self._loader.read_manifest(entry, source)

    def require_agreement(self, entry: PluginConfig, source: PluginSource) -> None:
        """Compiles a component and compares what `describe` returns with its manifest.

        Raises:
            LoadError: they differ, or it cannot be loaded.
        """
        self._loader.require_agreement(entry, source)

    def approved_tools(self, name: str) -> tuple[str, ...]:
        """Returns the plugin's own names of its tools in the lock; empty if it is not approved."""
        return self._pins.tools(self._entry(name))

    def secrets_set(self, name: str) -> list[str]:
        """Returns the names of the manifest's secrets that the operator has set."""
        from .grants.secrets import provided_secrets

        provided = provided_secrets(self._config, self._entry(name), self.manifest(name))
        return sorted(secret for secret, value in provided.items() if value)

    def missing_requirement(self, name: str) -> str | None:
        """Returns which required secret of a plugin is not set and how to set it; None if all are.

        While one is missing, the plugin is not asked for lookups and roles.
        """
        manifest = self.manifest(name)
        if not any(secret.get("required") for secret in manifest.raw.get("secrets", ())):
            return None
        return self._shared.access().missing_requirement(self._entry(name), manifest)

    def unset_keys(self, name: str) -> tuple[str, ...]:
        """Returns how to set each key that raises the limits of a plugin's source."""
        from .grants.requirements import unset_keys

        return unset_keys(self._config, self._entry(name), self.manifest(name))

    def upstreams(self) -> list[UpstreamState]:
        """Returns the pace and the breaker of every upstream that was asked."""
        return self._shared.upstreams()

    def states(
        self, only: Collection[str] | None = None, *, load: bool = True
    ) -> list[PluginState]:
        """Returns the state of every configured plugin, without running any of them.

        Args:
            only: names of the plugins to leave out all others; None for all.
            load: whether to load, and compile, those that are not loaded.
        """
        entries = self._config.plugins
        return [
            self._state(entry, load=load) for entry in entries if only is None or entry.name in only
        ]

    def close(self) -> None:
        """Closes threads and connections; running calls finish."""
        with self._lock:
            for plugin in self._plugins.values():
                if isinstance(plugin, Plugin):
                    self._shared.release(plugin)
            self._plugins = {}
            if not self._closed:
                self._closed = True
                self._shared.drop()

    def _loading(self, name: str) -> threading.RLock:
        """The lock of one plugin: compiling one for minutes does not block the others."""
        with self._lock:
            return self._locks.setdefault(name, threading.RLock())

    def _entry(self, name: str) -> PluginConfig:
        entry = self._config.plugin(name)
        if entry is None or not entry.enabled:
            raise UnknownNameError("plugin", name, known=self.names())
        return entry

    def _source(self, entry: PluginConfig) -> PluginSource:
        if entry.name not in self._sources:
            if entry.url.startswith("oci:"):
                source = self._pins.read(entry)
            else:
                source = read_source(entry.name, entry.url)
            self._pins.require_bytes(entry, source)
            self._sources[entry.name] = source
        return self._sources[entry.name]

    def _load(self, entry: PluginConfig) -> Plugin:
        source = self._source(entry)
        if not source.builtin:
            self.manifest(entry.name)  # raises unless the manifest is the approved one
        return self._loader.load(entry, source, lambda: self.manifest(entry.name))

    def _state(self, entry: PluginConfig, *, load: bool) -> PluginState:
        digest: str | None = None
        manifest: Manifest | None = None
        error: CarrelError | None = None
        granted: Sequence[str] = ()
        if entry.enabled:
            try:
                if entry.url.startswith("oci:"):
                    self._pins.require_present(entry)
                digest = self._source_digest(entry)
                manifest = self.manifest(entry.name)
                from .grants.access import granted_hosts

                granted = granted_hosts(entry, manifest)
                cached = self._plugins.get(entry.name)
                if load:
                    self.plugin(entry.name)
                elif isinstance(cached, CarrelError):
                    error = cached
            except CarrelError as fault:
                error = fault
        return PluginState(
            name=entry.name,
            url=entry.url,
            enabled=entry.enabled,
            digest=digest,
            manifest=manifest,
            granted=tuple(granted),
            error=error,
            notes=(*entry.notes, *notes_of(entry, manifest), *self._requirement(entry, manifest)),
            locked=self._pins.locked(entry, error),
            signer=self._pins.signer(entry),
        )

    def _requirement(self, entry: PluginConfig, manifest: Manifest | None) -> Sequence[str]:
        """Returns a note for the operator if the plugin's source is not asked."""
        missing = self.missing_requirement(entry.name) if manifest is not None else None
        return () if missing is None else (f"lookups and searches go without it: {missing}",)

    def _source_digest(self, entry: PluginConfig) -> str:
        plugin = self.loaded(entry.name)
        return plugin.digest if plugin is not None else self._source(entry).digest
