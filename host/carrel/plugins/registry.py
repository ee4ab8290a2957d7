"""The plugins of a configuration: found, verified, loaded, each at first need.

A plugin that cannot be loaded is a state, not an exception: the others go on, and whoever asks for
it is told why.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, LoadError, UnknownNameError
from carrel.runtime.sections import custom_section

from .limits import effective_limits
from .plugin import Plugin
from .source import Source, read_source

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.exchange import Fetcher, Limits
    from carrel.fetch.client import FetchClient
    from carrel.runtime.loader import Runtime

    from .access import Access
    from .manifest import Manifest

_log = logging.getLogger("carrel.plugins")

#: The custom section that holds what `describe()` returns, so that listing tools compiles nothing.
MANIFEST_SECTION = "carrel:manifest"


@dataclass(frozen=True, slots=True)
class PluginState:
    """What can be said about a configured plugin.

    Attributes:
        digest: SHA-256 of the component; None when it could not be read.
        manifest: None when it could not be read.
        granted: hosts that both the manifest declares and the operator grants.
        error: why it cannot be used; None when it can.
    """

    name: str
    url: str
    enabled: bool
    digest: str | None
    manifest: Manifest | None
    granted: tuple[str, ...]
    error: CarrelError | None

    @property
    def loaded(self) -> bool:
        """Whether the plugin can be called."""
        return self.error is None and self.enabled


class Registry:
    """All plugins of a configuration. Thread-safe."""

    def __init__(self, config: Config, *, fetch_client: FetchClient | None = None) -> None:
        self._config = config
        self._lock = threading.RLock()
        self._runtime: Runtime | None = None
        self._fetch_client = fetch_client
        self._access: Access | None = None
        self._plugins: dict[str, Plugin | CarrelError] = {}
        self._manifests: dict[str, Manifest] = {}
        self._sources: dict[str, Source] = {}

    def names(self) -> tuple[str, ...]:
        """Names of the plugins that are on, in the configuration's order."""
        return tuple(plugin.name for plugin in self._config.plugins if plugin.enabled)

    def plugin(self, name: str) -> Plugin:
        """The plugin of that name, loaded.

        Raises:
            UnknownNameError: nothing of that name is configured and on.
            LoadError: it cannot be loaded.
        """
        with self._lock:
            found = self._plugins.get(name)
            if found is None:
                entry = self._entry(name)
                try:
                    found = self._load(entry)
                except CarrelError as error:
                    _log.warning("%s", error)
                    found = error
                self._plugins[name] = found
                if name in self._manifests:
                    del self._sources[name]  # its bytes are in use as code now
        if isinstance(found, CarrelError):
            raise found
        return found

    def loaded(self, name: str) -> Plugin | None:
        """The plugin if it is loaded already; never blocks on loading."""
        found = self._plugins.get(name)
        return found if isinstance(found, Plugin) else None

    def manifest(self, name: str) -> Manifest:
        """The manifest of a plugin; from its custom section when it has one.

        Raises:
            UnknownNameError: nothing of that name is configured and on.
            LoadError: it cannot be read, or is refused.
        """
        with self._lock:
            if name not in self._manifests:
                entry = self._entry(name)
                section = custom_section(self._source(entry).wasm, MANIFEST_SECTION)
                if section is not None:
                    text = section.decode("utf-8", "replace")
                else:
                    text = self._component_text(entry)
                from .manifest import parse_manifest

                manifest = parse_manifest(text, name)
                if manifest.name != name and not entry.url.startswith("file:"):
                    raise LoadError(
                        f"{name}: the component calls itself {manifest.name!r}", plugin=name
                    )
                self._manifests[name] = manifest
            return self._manifests[name]

    def secrets_set(self, name: str) -> list[str]:
        """Names of those secrets of a plugin's manifest that the operator has set."""
        from .access import provided_secrets

        provided = provided_secrets(self._config, self.manifest(name))
        return sorted(one for one, value in provided.items() if value)

    def states(self) -> list[PluginState]:
        """The state of every configured plugin, without running any of them."""
        return [self._state(entry) for entry in self._config.plugins]

    def close(self) -> None:
        """Ends threads and connections; running calls finish."""
        with self._lock:
            for plugin in self._plugins.values():
                if isinstance(plugin, Plugin):
                    plugin.close()
            if self._runtime is not None:
                self._runtime.close()
            if self._access is not None:
                self._access.close()

    # -- loading -----------------------------------------------------------------------------------

    def _entry(self, name: str) -> PluginConfig:
        entry = self._config.plugin(name)
        if entry is None or not entry.enabled:
            raise UnknownNameError("plugin", name, known=self.names())
        return entry

    def _source(self, entry: PluginConfig) -> Source:
        if entry.name not in self._sources:
            self._sources[entry.name] = read_source(entry.name, entry.url)
        return self._sources[entry.name]

    def _load(self, entry: PluginConfig) -> Plugin:
        source = self._source(entry)
        component = self._get_runtime().load(entry.name, source.wasm, source.digest)

        def limits(manifest: Manifest | None) -> Limits:
            overrides = {**self._config.limits, **entry.limits}
            asked = manifest.limits if manifest is not None else {}
            return effective_limits(asked, overrides, trusted=source.builtin)

        return Plugin(
            entry.name,
            component,
            lambda: self.manifest(entry.name),
            make_fetcher=lambda manifest: self._fetcher(entry, manifest),
            limits=limits,
            settings=entry.settings,
            trusted=source.builtin,
            result_bytes=self._config.runtime.result_bytes,
        )

    def _component_text(self, entry: PluginConfig) -> str:
        source = self._source(entry)
        component = self._get_runtime().load(entry.name, source.wasm, source.digest)
        try:
            return component.describe()
        finally:
            component.close()

    def _get_runtime(self) -> Runtime:
        with self._lock:
            if self._runtime is None:
                from carrel.exchange import Limits
                from carrel.runtime.loader import Runtime, RuntimeSettings

                runtime = self._config.runtime
                self._runtime = Runtime(
                    RuntimeSettings(
                        code_folder=self._config.cache_dir / "code",
                        workers=runtime.workers,
                        stack_bytes=int(
                            self._config.limits.get("stack_bytes", Limits().stack_bytes)
                        ),
                        max_component_bytes=runtime.max_component_bytes,
                        compile_seconds=runtime.compile_seconds,
                        compile_memory_bytes=runtime.compile_memory_bytes,
                    )
                )
            return self._runtime

    def _fetcher(self, entry: PluginConfig, manifest: Manifest) -> Fetcher:
        from .access import Access

        with self._lock:
            if self._access is None:
                self._access = Access(self._config, self._fetch_client)
        return self._access.fetcher(entry, manifest)

    def _state(self, entry: PluginConfig) -> PluginState:
        digest: str | None = None
        manifest: Manifest | None = None
        error: CarrelError | None = None
        granted: Sequence[str] = ()
        if entry.enabled:
            try:
                digest = self._source(entry).digest
                manifest = self.manifest(entry.name)
                from .access import granted_hosts

                granted = granted_hosts(entry, manifest)
                self.plugin(entry.name)
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
        )
