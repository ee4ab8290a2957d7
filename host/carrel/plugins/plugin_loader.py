"""Makes plugins of verified bytes: compiles them, reads their manifests, sets their limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from carrel.errors import LoadError
from carrel.runtime.documents import exports_documents
from carrel.runtime.sections import custom_section, is_core_module

from .compiling.compile_news import CompileNews
from .component_plugin import ComponentPlugin
from .extism.changes import Changes
from .grants.limits import call_limits, module_limits
from .sources.source import MANIFEST_SECTION, PluginSource, embedded_formats

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.runtime.component import SandboxedComponent

    from .grants.limits import LimitsOf
    from .manifests.manifest import Manifest
    from .plugin import Plugin
    from .shared_resources import SharedResources


class PluginLoader:
    """Loads components and Extism modules. Thread-safe.

    Args:
        config: with the limits of calls.
        shared: the runtime that compiles them, and what makes their fetchers.

    Attributes:
        changed: notified of a list that a module changed: `tools`, `prompts` or `resources`.
        updated: notified of the URI of a document that a module changed.
        compile_news: notified when a plugin is being compiled.
    """

    def __init__(self, config: Config, shared: SharedResources) -> None:
        self._config = config
        self._shared = shared
        self.changed = Changes()
        self.updated = Changes()
        self.compile_news = CompileNews()

    def load(
        self, entry: PluginConfig, source: PluginSource, manifest: Callable[[], Manifest]
    ) -> Plugin:
        """Compiles a plugin.

        Args:
            entry: the plugin's.
            source: its bytes, verified.
            manifest: returns its manifest, verified.

        Raises:
            LoadError: it cannot be loaded.
        """
        shared, config = self._shared, self._config
        # The callbacks below hold no reference to the source: its bytes can be freed once compiled.
        builtin, digest, is_module = source.builtin, source.digest, is_core_module(source.wasm)

        limits = partial(
            call_limits,
            overrides={**config.limits, **entry.limits},
            builtin=builtin,
            is_module=is_module,
        )
        if is_module:
            return self._module(entry, source, limits, manifest)
        component = self._component(entry.name, source)
        in_hand = builtin and component.reads_bytes
        return ComponentPlugin(
            entry.name,
            component,
            manifest,
            make_fetcher=lambda verified: shared.access().fetcher(entry, verified, digest),
            limits=limits,
            settings=entry.settings,
            trusted=builtin,
            formats=embedded_formats(source.wasm) if in_hand else None,
            result_bytes=config.runtime.result_bytes,
        )

    def read_manifest(self, entry: PluginConfig, source: PluginSource) -> Manifest:
        """Reads a plugin's manifest: its custom section, else what `describe` returns.

        Raises:
            LoadError: it cannot be read, or is refused.
        """
        from .manifests.agreement import require_documents
        from .manifests.manifest import parse_manifest

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
            text = self._described(name, source)
        manifest = parse_manifest(text, name, trusted=source.builtin)
        if manifest.name != name and entry.is_builtin:
            raise LoadError(f"{name}: the component calls itself {manifest.name!r}", plugin=name)
        require_documents(manifest, exported=exports_documents(source.wasm))
        return manifest

    def require_agreement(self, entry: PluginConfig, source: PluginSource) -> None:
        """Compiles a component and compares what `describe` returns with its manifest.

        Raises:
            LoadError: they differ, or it cannot be loaded.
        """
        if not is_core_module(source.wasm):
            self._component(entry.name, source).close()

    def _module(
        self,
        entry: PluginConfig,
        source: PluginSource,
        limits: LimitsOf,
        manifest: Callable[[], Manifest] | None = None,
    ) -> Plugin:
        """Compiles a module; without `manifest` it makes its own of what it lists."""
        from .extism.load import load_module

        shared, digest = self._shared, source.digest
        with self.compile_news.loading(entry.name) as compiling:
            module = shared.runtime().load_module(
                entry.name, source.wasm, source.digest, on_compile=compiling
            )
        return load_module(
            entry,
            module,
            manifest=manifest,
            make_fetcher=lambda made: shared.access().fetcher(entry, made, digest),
            limits=limits,
            changed=self.changed,
            updated=self.updated,
        )

    def _component(self, name: str, source: PluginSource) -> SandboxedComponent:
        """Compiles a component; one that is not built in must agree with its manifest."""
        with self.compile_news.loading(name) as compiling:
            component = self._shared.runtime().load(
                name, source.wasm, source.digest, urgent=source.builtin, on_compile=compiling
            )
        if not source.builtin:
            from .manifests.agreement import require_agreement

            try:
                require_agreement(component, source.wasm)
            except BaseException:
                component.close()
                raise
        return component

    def _described(self, name: str, source: PluginSource) -> str:
        component = self._shared.runtime().load(name, source.wasm, source.digest)
        try:
            return component.describe()
        finally:
            component.close()
