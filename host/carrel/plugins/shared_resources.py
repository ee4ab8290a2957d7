"""Resources that the plugins of a configuration share, with reference counts.

A reload makes a new plugin set beside the old one. Unchanged plugins belong to both for a while,
and so do the runtime and the fetch client: each is closed when the last set releases it.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.config import Config
    from carrel.fetch.client import FetchClient
    from carrel.runtime.loader import Runtime
    from carrel.telemetry import UpstreamState

    from .compiling.precompile import Precompiler
    from .grants.access import Access
    from .plugin import Plugin


class SharedResources:
    """The runtime and the fetch client of one configuration, each made when first needed."""

    def __init__(self, config: Config, fetch_client: FetchClient | None = None) -> None:
        self._config = config
        self._fetch_client = fetch_client
        self._lock = threading.Lock()
        self._users = 1
        self._runtime: Runtime | None = None
        self._access: Access | None = None
        self._held: Counter[Plugin] = Counter()
        self._precompiler: Precompiler | None = None

    def taken_for(self, config: Config) -> SharedResources | None:
        """Returns the same resources for another set; None when its configuration needs others."""
        if _without_plugins(config) != _without_plugins(self._config):
            return None
        with self._lock:
            if self._users == 0:
                return None
            self._users += 1
        return self

    def runtime(self) -> Runtime:
        """The sandbox's runtime."""
        with self._lock:
            if self._runtime is None:
                self._runtime = _make_runtime(self._config)
            return self._runtime

    def precompile(self, builtin: Sequence[str]) -> None:
        """Starts to compile built-in plugins in the background, once."""
        from .compiling.precompile import Precompiler

        with self._lock:
            if self._precompiler is None and self._users > 0:
                config = self._config
                self._precompiler = Precompiler(
                    builtin,
                    _code_folder(config),
                    stack_bytes=_stack_bytes(config),
                    compile_seconds=config.runtime.compile_seconds,
                    compile_memory_bytes=config.runtime.compile_memory_bytes,
                )

    def access(self) -> Access:
        """Returns the object that makes fetchers."""
        with self._lock:
            if self._access is None:
                from .grants.access import Access

                self._access = Access(self._config, self._fetch_client)
            return self._access

    def upstreams(self) -> list[UpstreamState]:
        """Returns the state of every upstream that was asked."""
        with self._lock:
            access = self._access
        return [] if access is None else access.upstreams()

    def hold(self, plugin: Plugin) -> Plugin:
        """Counts one more set that uses the plugin."""
        with self._lock:
            self._held[plugin] += 1
        return plugin

    def release(self, plugin: Plugin) -> None:
        """Closes the plugin if no other set uses it."""
        with self._lock:
            self._held[plugin] -= 1
            last = self._held[plugin] <= 0
            if last:
                del self._held[plugin]
        if last:
            plugin.close()

    def drop(self) -> None:
        """Closes threads and connections if no other set uses them."""
        with self._lock:
            self._users -= 1
            if self._users > 0:
                return
            runtime, access, precompiler = self._runtime, self._access, self._precompiler
            self._runtime = self._access = self._precompiler = None
        if precompiler is not None:
            precompiler.stop()
        if runtime is not None:
            runtime.close()
        if access is not None:
            access.close()


def _without_plugins(config: Config) -> Config:
    """Returns the settings that the shared resources depend on: not those of plugins or server."""
    from carrel.config import ServerConfig

    return dataclasses.replace(
        config,
        plugins=(),
        server=ServerConfig(),
        trust=None,
        registries={},
        source_path=None,
        warnings=(),
    )


def _code_folder(config: Config) -> Path:
    return config.cache_dir / "code"


def _stack_bytes(config: Config) -> int:
    from carrel.exchange import Limits

    return int(config.limits.get("stack_bytes", Limits().stack_bytes))


def _make_runtime(config: Config) -> Runtime:
    from carrel.runtime.loader import Runtime, RuntimeSettings

    runtime = config.runtime
    return Runtime(
        RuntimeSettings(
            code_folder=_code_folder(config),
            workers=runtime.workers,
            stack_bytes=_stack_bytes(config),
            max_component_bytes=runtime.max_component_bytes,
            compile_seconds=runtime.compile_seconds,
            compile_memory_bytes=runtime.compile_memory_bytes,
        )
    )
