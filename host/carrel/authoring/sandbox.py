"""Runs components in the sandbox for their authors, as an operator's host would."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from carrel.exchange import Limits
from carrel.plugins.component_plugin import ComponentPlugin
from carrel.plugins.grants.limits import effective_limits
from carrel.plugins.plugin import Plugin
from carrel.plugins.sources.source import MANIFEST_SECTION
from carrel.runtime.loader import Runtime, RuntimeSettings
from carrel.runtime.sections import custom_section

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Fetcher
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.runtime.component import SandboxedComponent


class Sandbox:
    """Runs components under the default limits. A context manager."""

    def __init__(self, config: Config) -> None:
        self._config = config
        stack = int(config.limits.get("stack_bytes", Limits().stack_bytes))
        self._runtime = Runtime(
            RuntimeSettings(
                code_folder=config.cache_dir / "code",
                workers=1,
                stack_bytes=stack,
                max_component_bytes=config.runtime.max_component_bytes,
                compile_seconds=config.runtime.compile_seconds,
                compile_memory_bytes=config.runtime.compile_memory_bytes,
            )
        )

    def load(self, wasm: bytes, name: str) -> SandboxedComponent:
        """Returns the component, compiled and its imports checked.

        Raises:
            LoadError: a host would refuse it.
        """
        return self._runtime.load(name, wasm, hashlib.sha256(wasm).hexdigest())

    def describe(self, wasm: bytes, name: str) -> str:
        """Returns what a component's `describe` returns, unchecked.

        Raises:
            CarrelError: it is refused, or fails.
        """
        return self.load(wasm, name).describe()

    def refile_code(self, wasm: bytes, to: bytes) -> None:
        """Reuses the code of a component for the same one with sections appended."""
        assert to.startswith(wasm), "only sections were appended"
        self._runtime.refile_code(hashlib.sha256(wasm).hexdigest(), hashlib.sha256(to).hexdigest())

    def plugin(
        self,
        component: SandboxedComponent,
        manifest: Manifest,
        fetcher: Fetcher,
        settings: Mapping[str, Any],
    ) -> Plugin:
        """Returns the component as a plugin that reaches upstreams by `fetcher` alone."""

        def limits(asking: Manifest | None, defaults: Limits | None = None) -> Limits:
            requested = asking.limits if asking is not None else {}
            return effective_limits(
                requested, self._config.limits, trusted=False, defaults=defaults
            )

        return ComponentPlugin(
            manifest.name,
            component,
            lambda: manifest,
            make_fetcher=lambda _: fetcher,
            limits=limits,
            settings=settings,
            trusted=False,
        )

    def close(self) -> None:
        """Ends the threads."""
        self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def embedded_manifest(wasm: bytes) -> str | None:
    """Returns the manifest in a component's custom section; None when it has none."""
    section = custom_section(wasm, MANIFEST_SECTION)
    return None if section is None else section.decode("utf-8", "replace")
