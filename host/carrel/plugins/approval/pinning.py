"""Enforces the lock: nothing from a registry is loaded unless it is approved as it is."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, LoadError, LockError
from carrel.plugins.sources.source import MANIFEST_SECTION, PluginSource, read_source
from carrel.runtime.sections import custom_section

# The lock's modules are imported where they are needed: built-in plugins do without them.
if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.plugins.manifests.manifest import Manifest

    from .lock import LockEntry

_log = logging.getLogger("carrel.plugins")

#: Seconds before a failed pull is tried again.
_RETRY_SECONDS = 60.0


class Pins:
    """Reads and pulls the approved bytes of a configuration's plugins, and enforces the lock.

    Args:
        config: with the plugins, the lock and the registries.
        on_pulled: called from a thread when a plugin was pulled; None pulls while the caller waits.
        pulls: running and failed ones, to be shared; new ones are added.
    """

    def __init__(
        self,
        config: Config,
        on_pulled: Callable[[], None] | None = None,
        pulls: dict[tuple[str, str], Pull] | None = None,
    ) -> None:
        self._config = config
        self._on_pulled = on_pulled
        self._entries: dict[str, LockEntry] | None = None
        self._pulls = {} if pulls is None else pulls
        self._lock = threading.Lock()

    def successor(self, config: Config) -> Pins:
        """Returns the same for another configuration; running pulls continue."""
        return Pins(config, self._on_pulled, self._pulls)

    def read(self, entry: PluginConfig) -> PluginSource:
        """Returns the approved bytes of a plugin from a registry.

        Raises:
            LockError: the plugin, its address or its digest is not approved.
            LoadError: it cannot be pulled, is being pulled, or no signature is trusted.
        """
        from carrel.plugins.sources.oci_source import pull_locked, read_locked

        approved = self._approved(entry)
        source = read_locked(self._config, entry, approved)
        if source is None and self._on_pulled is None:
            pull_locked(self._config, entry, approved)
            source = read_locked(self._config, entry, approved)
        if source is not None:
            return source
        raise self._pull_in_background(entry, approved)

    def require_present(self, entry: PluginConfig) -> None:
        """Refuses a plugin from a registry that is not on this machine; uses no network.

        Raises:
            LoadError: it is not on this machine.
        """
        from carrel.plugins.sources.oci_source import read_locked

        approved = self._approved(entry)
        altered: list[str] = []
        if read_locked(self._config, entry, approved, altered=altered) is None:
            pull = self._pulls.get((entry.name, approved.digest or ""))
            if pull is not None and pull.error is not None:
                raise pull.error
            state = f"{approved.digest} is not on this machine yet; it is fetched"
            if altered:
                state = f"{altered[0]} was altered on this machine, and is removed; it is fetched"
            raise LoadError(
                f"{entry.name}: {state} when it is needed, or now by: carrel plugin lock "
                f"{entry.name}",
                plugin=entry.name,
            )

    def require_bytes(self, entry: PluginConfig, source: PluginSource) -> None:
        """Refuses bytes that are not the approved ones, before any of them runs.

        Raises:
            LockError: with the changes that can be read from the bytes without running them.
        """
        approved = None if source.builtin else self._find(entry)
        if approved is None or approved.wasm == f"sha256:{source.digest}":
            return
        found = _embedded_entry(entry, source)
        from .lock import changes

        lines = changes(approved, found) if found is not None else []
        if not lines:
            lines = [f"component: {approved.wasm} → sha256:{source.digest}"]
        raise LockError(
            f"{entry.name}: not what was approved: {'; '.join(lines[:8])}; "
            f"to approve it: carrel plugin lock {entry.name}",
            plugin=entry.name,
            changes=lines,
        )

    def require(self, entry: PluginConfig, source: PluginSource, manifest: Manifest) -> None:
        """Refuses a plugin that differs in anything from the approved one.

        A local file is checked only if the lock has it.

        Raises:
            LockError: with the changes.
        """
        if source.builtin:
            return
        approved = self._find(entry)
        if approved is None and source.oci_digest is None:
            return
        from .lock import require_locked

        require_locked(entry.name, approved, entry_of(entry, source, manifest))

    def tools(self, entry: PluginConfig) -> tuple[str, ...]:
        """Returns the plugin's own names of its approved tools; empty if it is not approved.

        For a plugin that cannot be loaded nothing else is known.
        """
        try:
            approved = self._find(entry)
        except CarrelError:
            return ()
        return () if approved is None else tuple(approved.tools)

    def locked(self, entry: PluginConfig, error: CarrelError | None) -> bool | None:
        """Whether the plugin matches the lock; None when the lock does not have it."""
        if entry.is_builtin:
            return None
        try:
            approved = self._find(entry)
        except CarrelError:
            return False
        return None if approved is None else not isinstance(error, LockError)

    def signer(self, entry: PluginConfig) -> str | None:
        """Returns who signed the approved bytes; None without a signature or an approval."""
        if entry.is_builtin:
            return None
        try:
            approved = self._find(entry)
        except CarrelError:
            return None
        return None if approved is None else approved.signer

    def _find(self, entry: PluginConfig) -> LockEntry | None:
        if not self._config.with_lock:
            return None
        with self._lock:
            if self._entries is None:
                from .lockfile import read_lock

                self._entries = read_lock(self._config.lock_path)
            return self._entries.get(entry.name)

    def _approved(self, entry: PluginConfig) -> LockEntry:
        approved = self._find(entry)
        if approved is None:
            from .lock import not_locked

            raise not_locked(entry.name, entry.url)
        return approved

    def _pull_in_background(self, entry: PluginConfig, approved: LockEntry) -> LoadError:
        """Starts a pull unless one runs or failed just now; returns the error until then."""
        key = (entry.name, approved.digest or "")
        with self._lock:
            pull = self._pulls.get(key)
            if pull is None or pull.is_stale():
                pull = self._pulls[key] = Pull(self._config, entry, approved, self._on_pulled)
                pull.start()
        return pull.error or LoadError(
            f"{entry.name}: {approved.digest} is being fetched; try again shortly",
            plugin=entry.name,
        )


class Pull:
    """The pull of one plugin from its registry."""

    def __init__(
        self,
        config: Config,
        entry: PluginConfig,
        approved: LockEntry,
        on_pulled: Callable[[], None] | None,
    ) -> None:
        self.error: LoadError | None = None
        self._ended: float | None = None
        self._work = (config, entry, approved)
        self._on_pulled = on_pulled

    def start(self) -> None:
        """Starts in a daemon thread."""
        threading.Thread(target=self._run, name="carrel-pull", daemon=True).start()

    def is_stale(self) -> bool:
        """Whether it failed long ago, or its content was removed since."""
        return self._ended is not None and (
            self.error is None or time.monotonic() > self._ended + _RETRY_SECONDS
        )

    def _run(self) -> None:
        from carrel.plugins.sources.oci_source import pull_locked

        config, entry, approved = self._work
        try:
            pull_locked(config, entry, approved)
        except CarrelError as error:
            _log.warning("%s", error)
            failure = LoadError(error.message, plugin=entry.name)
            self.error = error if isinstance(error, LoadError) else failure
        except Exception as error:  # noqa: BLE001 - the state reports it
            _log.exception("%s could not be fetched", entry.name)
            self.error = LoadError(f"{entry.name}: {type(error).__name__}", plugin=entry.name)
        self._ended = time.monotonic()
        if self.error is None and self._on_pulled is not None:
            self._on_pulled()


def local_bytes(config: Config, entry: PluginConfig) -> bytes:
    """Reads the bytes of a plugin that are on this machine, for inspection.

    Raises:
        LoadError: there are none, or they may not be read.
    """
    if entry.url.startswith("oci:"):
        pins = Pins(config)
        pins.require_present(entry)
        return pins.read(entry).wasm
    return read_source(entry.name, entry.url).wasm


def entry_of(entry: PluginConfig, source: PluginSource, manifest: Manifest) -> LockEntry:
    """Returns the lock's entry of a plugin as it was read."""
    from .lock import lock_entry

    return lock_entry(
        manifest,
        url=entry.locked_url,
        digest=source.oci_digest,
        wasm=source.digest,
        signer=source.signer,
    )


def _embedded_entry(entry: PluginConfig, source: PluginSource) -> LockEntry | None:
    """Returns the entry that the embedded manifest gives, without running anything."""
    from carrel.plugins.manifests.manifest import parse_manifest

    try:
        section = custom_section(source.wasm, MANIFEST_SECTION)
        if section is None:
            return None
        manifest = parse_manifest(section.decode("utf-8", "replace"), entry.name)
        return entry_of(entry, source, manifest)
    except CarrelError:
        return None
