"""`carrel plugin prune`: gives back the space of plugins that nothing names any more."""

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
    """Remove plugins from the disk that nothing names any more.

    What stays: what a tag named when it was last pulled, what the configuration and its carrel.lock
    name by digest, and what is younger than an hour. What only another configuration names by
    digest is removed, and fetched again when it is needed.
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
    """The digests that the configuration and its lock name.

    Raises:
        CarrelError: either cannot be read; then nothing is known of what is needed.
    """
    from carrel.oci.reference import parse_reference
    from carrel.plugins.approval.lockfile import read_lock

    locked = {one.digest for one in read_lock(config.lock_path).values()}
    addresses = [one.url for one in config.plugins if one.url.startswith("oci://")]
    named = {parse_reference(address).digest for address in addresses}
    return {digest for digest in locked | named if digest}
