"""The lock at work: nothing from a registry is loaded that was not approved as it is."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, LoadError, LockError
from carrel.plugins.sources.source import MANIFEST_SECTION, PluginSource, read_source
from carrel.runtime.sections import custom_section

# The lock's own modules are imported where they are needed: built-in plugins do without them.
if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.plugins.manifests.manifest import Manifest

    from .lock import LockEntry

_log = logging.getLogger("carrel.plugins")

#: A registry that failed is left alone for so long.
_RETRY_SECONDS = 60.0


class Pins:
    """What the lock says of a configuration's plugins, and what it says is fetched.

    Args:
        config: names the plugins, the lock and the registries.
        on_pulled: called from a thread when a plugin has been pulled; None pulls while the caller
            waits.
        pulls: those that run or have failed; filled in further.
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
        """The same for another configuration; what is being pulled goes on."""
        return Pins(config, self._on_pulled, self._pulls)

    def read(self, entry: PluginConfig) -> PluginSource:
        """The approved bytes of a plugin from a registry.

        Raises:
            LockError: it was never approved, or its address or digest was not.
            LoadError: it cannot be had, is on its way, or carries no signature that counts.
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
        """Refuses a plugin from a registry that is not on this machine; asks nobody for it.

        Raises:
            LoadError: as it says.
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
        """Refuses bytes that are not those that were approved, before any of them runs.

        Raises:
            LockError: with what changed, as far as the bytes tell without being run.
        """
        approved = None if source.builtin else self._find(entry)
        if approved is None or approved.wasm == f"sha256:{source.digest}":
            return
        found = _told_by_section(entry, source)
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
        """Refuses a plugin that differs in anything from what was approved.

        A file is held against the lock when it is in it, and free otherwise.

        Raises:
            LockError: with what changed.
        """
        if source.builtin:
            return
        approved = self._find(entry)
        if approved is None and source.oci_digest is None:
            return
        from .lock import require_locked

        require_locked(entry.name, approved, entry_of(entry, source, manifest))

    def tools(self, entry: PluginConfig) -> tuple[str, ...]:
        """The plugin's own names of the tools that were approved; none where the lock tells none.

        Of a plugin that cannot be loaded this is all that is known.
        """
        try:
            approved = self._find(entry)
        except CarrelError:
            return ()
        return () if approved is None else tuple(approved.tools)

    def locked(self, entry: PluginConfig, error: CarrelError | None) -> bool | None:
        """Whether the plugin is what the lock says; None when the lock does not have it."""
        if entry.is_builtin:
            return None
        try:
            approved = self._find(entry)
        except CarrelError:
            return False
        return None if approved is None else not isinstance(error, LockError)

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
        """Starts a pull unless one runs or has just failed; the error to tell meanwhile."""
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
    """One plugin on its way from its registry."""

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
        """Begins, in a thread that nobody waits for."""
        threading.Thread(target=self._run, name="carrel-pull", daemon=True).start()

    def is_stale(self) -> bool:
        """Whether it has failed long ago, or its content has gone since."""
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
        except Exception as error:  # noqa: BLE001 - who waits is told by the state
            _log.exception("%s could not be fetched", entry.name)
            self.error = LoadError(f"{entry.name}: {type(error).__name__}", plugin=entry.name)
        self._ended = time.monotonic()
        if self.error is None and self._on_pulled is not None:
            self._on_pulled()


def local_bytes(config: Config, entry: PluginConfig) -> bytes:
    """The bytes of a plugin that are on this machine, to be looked at.

    Raises:
        LoadError: there are none that may be read.
    """
    if entry.url.startswith("oci:"):
        pins = Pins(config)
        pins.require_present(entry)
        return pins.read(entry).wasm
    return read_source(entry.name, entry.url).wasm


def entry_of(entry: PluginConfig, source: PluginSource, manifest: Manifest) -> LockEntry:
    """What there is to approve of a plugin as it was read."""
    from .lock import lock_entry

    return lock_entry(
        manifest,
        url=entry.locked_url,
        digest=source.oci_digest,
        wasm=source.digest,
        signer=source.signer,
    )


def _told_by_section(entry: PluginConfig, source: PluginSource) -> LockEntry | None:
    """What the bytes say of themselves without being run, if they do."""
    from carrel.plugins.manifests.manifest import parse_manifest

    try:
        section = custom_section(source.wasm, MANIFEST_SECTION)
        if section is None:
            return None
        manifest = parse_manifest(section.decode("utf-8", "replace"), entry.name)
        return entry_of(entry, source, manifest)
    except CarrelError:
        return None
