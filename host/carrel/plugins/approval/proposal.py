"""Proposals for approval: compares plugins with their approved entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.errors import ArgumentError, UnknownNameError
from carrel.plugins.grants.review import bucket_lines
from carrel.plugins.plugin_set import PluginSet

from .lock import LockEntry, changes, first_sight
from .lockfile import read_lock
from .pinning import entry_of

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig

ProgressHandler = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One plugin as it is now.

    Attributes:
        name: the plugin's.
        approved: its entry in the lock; None when it was never approved.
        found: the entry to approve.
        buckets: a line for each host: the token buckets that its requests go through.
    """

    name: str
    approved: LockEntry | None
    found: LockEntry
    buckets: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Returns what a person is asked to approve; empty when it is approved already."""
        if self.approved is None:
            return [*first_sight(self.found), *self.buckets]
        lines = changes(self.approved, self.found)
        # The manifest's hash covers the paces; their effect is worth showing when it changed.
        return [*lines, *self.buckets] if self.approved.manifest != self.found.manifest else lines


def wanted_names(config: Config, names: Sequence[str]) -> list[str]:
    """Returns the plugins to check: those named, else all from registries or in the lock.

    Raises:
        UnknownNameError: nothing of that name is configured.
        ArgumentError: a built-in plugin is named, whose bytes come with Carrel.
    """
    if not names:
        locked = read_lock(config.lock_path)
        return [
            entry.name
            for entry in config.plugins
            if entry.enabled and (entry.url.startswith("oci:") or entry.name in locked)
            if not entry.is_builtin
        ]
    configured = [entry.name for entry in config.plugins]
    for name in names:
        entry = config.plugin(name)
        if entry is None:
            raise UnknownNameError("plugin", name, known=configured)
        if entry.is_builtin:
            raise ArgumentError([f"{name}: a built-in plugin is pinned by Carrel itself"])
    return list(dict.fromkeys(names))


def propose(config: Config, name: str, on_progress: ProgressHandler | None = None) -> Proposal:
    """Pulls what the plugin's address names now, verifies it, and reads its manifest.

    Raises:
        LoadError: it cannot be pulled, no signature is trusted, or it is no plugin.
    """
    entry = config.plugin(name)
    assert entry is not None, "names were checked"
    approved = read_lock(config.lock_path).get(name)
    found, buckets = _found(config, entry, on_progress)
    return Proposal(name, approved, found, tuple(buckets))


def _found(
    config: Config, entry: PluginConfig, on_progress: ProgressHandler | None
) -> tuple[LockEntry, list[str]]:
    from carrel.plugins.sources.oci_source import pull_newest
    from carrel.plugins.sources.source import read_source

    if entry.url.startswith("oci:"):
        source = pull_newest(config, entry, on_progress)
    else:
        source = read_source(entry.name, entry.url)
    plugin_set = PluginSet(config)
    try:
        manifest = plugin_set.read_manifest(entry, source)
        plugin_set.require_agreement(entry, source)
        return entry_of(entry, source, manifest), bucket_lines(config, entry, manifest)
    finally:
        plugin_set.close()
