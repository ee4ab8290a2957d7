"""Implements `carrel plugin prune`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .command import AS_JSON, command
from .output import stdout_is_terminal, write_json, write_text
from .report import OK
from .session import Session

if TYPE_CHECKING:
    from carrel.config import Config


@command("prune", example="plugin prune", options=(AS_JSON,))
def prune_command(session: Session, as_json: bool) -> int:
    """Remove unreferenced plugins from the disk.

    Kept are plugins that a tag named when it was last pulled, that the configuration or its
    carrel.lock names by digest, or that are younger than an hour. Plugins that only another
    configuration names by digest are removed, and pulled again when needed.
    """
    from carrel.oci.pruning import prune
    from carrel.plugins.sources.oci_source import plugin_store

    config = session.config()
    store = plugin_store(config)
    freed = prune(store, keep=_named_digests(config))
    if as_json or not stdout_is_terminal():
        write_json({"folder": str(store.folder), "freed_bytes": freed})
    else:
        write_text(f"{freed:,} bytes freed in {store.folder}\n")
    return OK


def _named_digests(config: Config) -> set[str]:
    """Returns the digests that the configuration and its lock name.

    Raises:
        CarrelError: either cannot be read, so the needed digests are unknown.
    """
    from carrel.oci.reference import parse_reference
    from carrel.plugins.approval.lockfile import read_lock

    locked = {entry.digest for entry in read_lock(config.lock_path).values()}
    addresses = [plugin.url for plugin in config.plugins if plugin.url.startswith("oci://")]
    named = {parse_reference(address).digest for address in addresses}
    return {digest for digest in locked | named if digest}
