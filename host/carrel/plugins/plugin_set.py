"""The plugins of a configuration: found, verified, loaded, each at first need.

A plugin that cannot be loaded is a state, not an exception: the others go on, and whoever asks for
it is told why.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, LoadError, UnknownNameError
from carrel.runtime.documents import exports_documents
from carrel.runtime.sections import custom_section, is_core_module

from .compiling import CompileNews
from .limits import STRANGERS_LIMITS, LimitsOf, effective_limits, module_limits
from .naming import MAX_NAME
from .pinning import Pins
from .plugin import ComponentPlugin, Plugin
from .shared_resources import SharedResources
from .source import MANIFEST_SECTION, PluginSource, builtin_names, read_source

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.exchange import Limits
    from carrel.fetch.client import FetchClient
    from carrel.runtime.component import SandboxedComponent

    from .manifest import Manifest
    from .reading import Reading

_log = logging.getLogger("carrel.plugins")

#: Things of which it is remembered when they were told; as many can be told in a second.
_REMEMBERED = 100


@dataclass(frozen=True, slots=True)
class PluginState:
    """What can be said about a configured plugin.

    Attributes:
        digest: SHA-256 of the component; None when it could not be read.
        manifest: None when it could not be read.
        granted: hosts that both the manifest declares and the operator grants.
        error: why it cannot be used; None when it can.
        notes: what the configuration asks for and it does not get, whose place it takes, and which
            names of its tools were changed, for a person.
        locked: whether it is what the lock says; None when there is no lock for it.
    """

    name: str
    url: str
    enabled: bool
    digest: str | None
    manifest: Manifest | None
    granted: tuple[str, ...]
    error: CarrelError | None
    notes: tuple[str, ...] = ()
    locked: bool | None = None

    @property
    def loaded(self) -> bool:
        """Whether the plugin can be called."""
        return self.error is None and self.enabled


def notes_of(entry: PluginConfig, manifest: Manifest | None) -> list[str]:
    """What an operator should know of a plugin that works, one sentence each.

    Args:
        entry: the plugin's.
        manifest: None when it could not be read.
    """
    notes = []
    if not entry.is_builtin and entry.name in builtin_names():
        note = f"{entry.name} takes the place of the built-in plugin of that name"
        if manifest is not None and manifest.lookup is None:
            note += ", and work_lookup goes without it"
        notes.append(f"{note}; another key in `plugins` keeps both")
    if manifest is not None:
        notes += [
            f"the tool {own!r} is offered as {name}: clients take letters, digits, _ and -, and "
            f"{MAX_NAME} characters"
            for own, name in manifest.renamed().items()
        ]
    return notes


class Changes:
    """Passes on that something changed, at most once a second for each thing.

    Attributes:
        listener: is told `tools`, `prompts` or `resources`, or the URI of a document.
    """

    def __init__(self) -> None:
        self.listener: Callable[[str], None] | None = None
        self._told: dict[str, float] = {}

    def __call__(self, what: str) -> None:
        """Tells the listener, unless that was done just now; from any thread."""
        now = time.monotonic()
        if self.listener is not None and now - self._told.get(what, -1.0) >= 1.0:
            if len(self._told) >= _REMEMBERED:
                self._told = {one: at for one, at in self._told.items() if now - at < 1.0}
            if len(self._told) < _REMEMBERED:
                self._told[what] = now
                self.listener(what)


class PluginSet:
    """All plugins of a configuration. Thread-safe.

    Args:
        config: names them.
        fetch_client: what reaches upstreams; made at first need when None.
        on_pulled: called from a thread when a plugin has come from its registry, or has been
            compiled. With it, a plugin that is missing on this machine, or takes long to compile,
            is made ready in the background and unavailable meanwhile; without it, whoever needs
            the plugin waits.
        machinery: what is shared with another registry; made when None.
        pins: what the lock says; read at first need when None.
        readings: plugins that another registry asks what they are; none when None.
    """

    def __init__(
        self,
        config: Config,
        *,
        fetch_client: FetchClient | None = None,
        on_pulled: Callable[[], None] | None = None,
        machinery: SharedResources | None = None,
        pins: Pins | None = None,
        readings: Mapping[str, tuple[PluginConfig, str, Reading]] | None = None,
    ) -> None:
        self._config = config
        self._lock = threading.RLock()
        self._locks: dict[str, threading.RLock] = {}
        self._machinery = machinery or SharedResources(config, fetch_client)
        self._pins = pins or Pins(config, on_pulled)
        self._on_pulled = on_pulled
        self._readings = {
            name: known for name, known in (readings or {}).items() if not known[2].failed
        }
        self._plugins: dict[str, Plugin | CarrelError] = {}
        self._manifests: dict[str, Manifest] = {}
        self._unreadable: dict[str, CarrelError] = {}
        self._sources: dict[str, PluginSource] = {}
        #: Told what changed when a module says so: `tools`, `prompts` or `resources`.
        self.changed = Changes()
        #: Told the URI of a document that changed when a module says so.
        self.updated = Changes()
        self._compile_news = CompileNews()
        self._closed = False

    def successor(self, config: Config) -> PluginSet:
        """A registry of another configuration; what did not change is shared with this one.

        Both are closed, in any order.
        """
        shared = self._machinery.taken_for(config)
        registry = PluginSet(
            config,
            on_pulled=self._on_pulled,
            machinery=shared,
            pins=self._pins.successor(config),
            readings=self._readings if shared is not None else {},
        )
        if shared is not None:
            for name in self.names():
                plugin = self.loaded(name)
                if plugin is not None and config.plugin(name) == self._config.plugin(name):
                    registry.adopt(name, plugin)
        return registry

    def adopt(self, name: str, plugin: Plugin) -> None:
        """Takes over a loaded plugin of another registry, if its bytes are still the ones."""
        entry = self._entry(name)
        try:
            source = self._source(entry)  # read and verified anew
            if source.digest == plugin.digest:
                self._pins.require(entry, source, plugin.manifest)
                self._plugins[name] = self._machinery.hold(plugin)
                self._manifests[name] = plugin.manifest
                del self._sources[name]
        except CarrelError:
            self._sources.pop(name, None)  # what is wrong is told when it is asked for

    def names(self) -> tuple[str, ...]:
        """Names of the plugins that are on, in the configuration's order."""
        return tuple(plugin.name for plugin in self._config.plugins if plugin.enabled)

    def plugin(self, name: str, on_compile: Callable[[], None] | None = None) -> Plugin:
        """The plugin of that name, loaded.

        Args:
            name: as configured.
            on_compile: called, from any thread, if the plugin is compiled first.

        Raises:
            UnknownNameError: nothing of that name is configured and on.
            LoadError: it cannot be loaded.
        """
        loaded = self.loaded(name)
        if loaded is not None:
            return loaded
        entry = self._entry(name)
        with self._compile_news.listening(name, on_compile), self._loading(name):
            found = self._plugins.get(name)
            if found is None:
                try:
                    found = self._load(entry)
                except CarrelError as error:
                    _log.warning("%s", error)
                    found = error
                self._plugins[name] = found
                if name in self._manifests:
                    self._sources.pop(name, None)  # its bytes are in use as code now
        if isinstance(found, CarrelError):
            raise found
        return found

    def precompile(self) -> None:
        """Begins to compile the built-in plugins in the background, before they are needed."""
        entries = [self._config.plugin(name) for name in self.names()]
        named = [one.url.removeprefix("builtin:") for one in entries if one and one.is_builtin]
        known = builtin_names()
        self._machinery.precompile([name for name in named if name in known])

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
        entry = self._entry(name)
        with self._loading(name):
            if name not in self._manifests:
                source = self._source(entry)
                manifest = self._readable(entry, source)
                self._pins.require(entry, source, manifest)
                self._manifests[name] = manifest
            return self._manifests[name]

    def manifests(
        self, on_unreadable: Callable[[str, CarrelError], None] | None = None
    ) -> Iterator[tuple[str, Manifest]]:
        """Names and manifests of the plugins that are on, in the configuration's order.

        Those whose manifest cannot be read, or is refused, are left out: the others go on.

        Args:
            on_unreadable: is given the name of each that is left out, and why it is.
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
        """What a component says of itself; one that could not be read is not read again."""
        if entry.name in self._unreadable:
            raise self._unreadable[entry.name]
        on_ready = self._on_pulled
        if on_ready is not None and custom_section(source.wasm, MANIFEST_SECTION) is None:
            return self._reading(entry, source, on_ready).result()
        try:
            return self.read_manifest(entry, source)
        except CarrelError as error:
            self._unreadable[entry.name] = error  # compiling a bomb again would not help
            raise

    def _begin_readings(self) -> None:
        """Begins to ask every plugin that has to be compiled first, all at once."""
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
                continue  # told when the plugin's turn comes

    def _reading(
        self, entry: PluginConfig, source: PluginSource, on_ready: Callable[[], None]
    ) -> Reading:
        """The reading of a plugin's manifest, begun now unless it was before, of the same bytes."""
        known = self._readings.get(entry.name)
        if known is None or known[0] != entry or known[1] != source.digest:
            from .reading import Reading

            reading = Reading(entry.name, lambda: self.read_manifest(entry, source), on_ready)
            known = self._readings[entry.name] = entry, source.digest, reading
        return known[2]

    def read_manifest(self, entry: PluginConfig, source: PluginSource) -> Manifest:
        """What a component says of itself: its custom section, else what `describe` returns.

        Raises:
            LoadError: it cannot be read, or is refused.
        """
        from .agreement import require_documents
        from .manifest import parse_manifest

        name = entry.name
        if is_core_module(source.wasm):
            overrides = {**self._config.limits, **entry.limits}
            module = self._module(entry, source, lambda *_: module_limits(overrides))
            try:
                return module.manifest
            finally:
                module.close()
        section = custom_section(source.wasm, MANIFEST_SECTION)
        if section is not None:
            text = section.decode("utf-8", "replace")
        else:
            text = self._component_text(name, source)
        manifest = parse_manifest(text, name)
        if manifest.name != name and entry.is_builtin:
            raise LoadError(f"{name}: the component calls itself {manifest.name!r}", plugin=name)
        require_documents(manifest, exported=exports_documents(source.wasm))
        return manifest

    def require_agreement(self, entry: PluginConfig, source: PluginSource) -> None:
        """Compiles a component and holds what `describe` returns against its manifest.

        Raises:
            LoadError: they differ, or it cannot be loaded.
        """
        if not is_core_module(source.wasm):
            self._component(entry.name, source).close()

    def approved_tools(self, name: str) -> tuple[str, ...]:
        """The plugin's own names of its tools, as the lock has them; none where it has none."""
        return self._pins.tools(self._entry(name))

    def secrets_set(self, name: str) -> list[str]:
        """Names of those secrets of a plugin's manifest that the operator has set."""
        from .access import provided_secrets

        provided = provided_secrets(self._config, self._entry(name), self.manifest(name))
        return sorted(one for one, value in provided.items() if value)

    def states(self) -> list[PluginState]:
        """The state of every configured plugin, without running any of them."""
        return [self._state(entry) for entry in self._config.plugins]

    def close(self) -> None:
        """Ends threads and connections; running calls finish."""
        with self._lock:
            for plugin in self._plugins.values():
                if isinstance(plugin, Plugin):
                    self._machinery.release(plugin)
            self._plugins = {}
            if not self._closed:
                self._closed = True
                self._machinery.drop()

    def _loading(self, name: str) -> threading.RLock:
        """The lock of one plugin: one that takes minutes to compile holds up no other."""
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
            self.manifest(entry.name)  # nothing runs that says other than what was approved
        machinery, config = self._machinery, self._config
        # Not the source itself: its bytes need not stay once they are code.
        builtin, digest, is_module = source.builtin, source.digest, is_core_module(source.wasm)

        def limits(manifest: Manifest | None, defaults: Limits | None = None) -> Limits:
            overrides = {**config.limits, **entry.limits}
            if is_module:
                return module_limits(overrides)
            if manifest is None or builtin:
                asked = manifest.limits if manifest is not None else {}
                return effective_limits(asked, overrides, trusted=builtin, defaults=defaults)
            return effective_limits(
                manifest.limits, overrides, trusted=False, defaults=STRANGERS_LIMITS
            )

        if is_core_module(source.wasm):
            return machinery.hold(
                self._module(entry, source, limits, lambda: self.manifest(entry.name))
            )
        component = self._component(entry.name, source)
        return machinery.hold(
            ComponentPlugin(
                entry.name,
                component,
                lambda: self.manifest(entry.name),
                make_fetcher=lambda manifest: machinery.access().fetcher(entry, manifest, digest),
                limits=limits,
                settings=entry.settings,
                trusted=builtin,
                result_bytes=config.runtime.result_bytes,
            )
        )

    def _module(
        self,
        entry: PluginConfig,
        source: PluginSource,
        limits: LimitsOf,
        manifest: Callable[[], Manifest] | None = None,
    ) -> Plugin:
        """A plugin that is a module; without `manifest` it makes its own of what it lists."""
        from .extism.load import load_module

        machinery, digest = self._machinery, source.digest
        with self._compile_news.loading(entry.name) as compiling:
            module = machinery.runtime().load_module(
                entry.name, source.wasm, source.digest, on_compile=compiling
            )
        return load_module(
            entry,
            module,
            manifest=manifest,
            make_fetcher=lambda made: machinery.access().fetcher(entry, made, digest),
            limits=limits,
            changed=self.changed,
            updated=self.updated,
        )

    def _component(self, name: str, source: PluginSource) -> SandboxedComponent:
        """The component, compiled; a stranger's only if it is what its manifest says."""
        with self._compile_news.loading(name) as compiling:
            component = self._machinery.runtime().load(
                name, source.wasm, source.digest, urgent=source.builtin, on_compile=compiling
            )
        if not source.builtin:
            from .agreement import require_agreement

            try:
                require_agreement(component, source.wasm)
            except BaseException:
                component.close()
                raise
        return component

    def _component_text(self, name: str, source: PluginSource) -> str:
        component = self._machinery.runtime().load(name, source.wasm, source.digest)
        try:
            return component.describe()
        finally:
            component.close()

    def _state(self, entry: PluginConfig) -> PluginState:
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
            notes=(*entry.notes, *notes_of(entry, manifest)),
            locked=self._pins.locked(entry, error),
        )

    def _source_digest(self, entry: PluginConfig) -> str:
        plugin = self.loaded(entry.name)
        return plugin.digest if plugin is not None else self._source(entry).digest
