"""Removes files of the plugin store that no name leads to."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import RegistryError

from .documents import INDEXES, MANIFESTS, read_object
from .reference import is_digest

if TYPE_CHECKING:
    from .store import PluginStore


#: Files younger than this stay: they may belong to a pull that another process is making.
_GRACE_SECONDS = 3600.0


def prune(store: PluginStore, *, keep: Collection[str] = ()) -> int:
    """Removes names, content and partial downloads that no tag and no digest of `keep` leads to.

    Args:
        store: the store.
        keep: digests of manifests that stay with everything they need, whatever tags say: those
            that a lock or a configuration names.

    Returns:
        How many bytes were freed.
    """
    older_than = time.time() - _GRACE_SECONDS
    names = list(store.names())
    live = _live(store, [value for _, value in names], set(keep))
    freed = 0
    for path, value in names:
        digest = _subject(value)
        if digest is not None and digest not in live:
            freed += _remove(path, older_than)
    for path in store.files():
        if path.suffix == ".tmp" or f"sha256:{path.name}" not in live:
            freed += _remove(path, older_than)
    return freed + store.prune_partial_blobs()


def _live(store: PluginStore, names: list[dict[str, Any]], roots: set[str]) -> set[str]:
    """Every digest that a tag or one of `roots` leads to, referrers and signatures included."""
    about: dict[str, set[str]] = {}
    for value in names:
        key, digest = str(value["name"]), value.get("digest")
        subject = _subject(value)
        if subject is not None and isinstance(value.get("referrers"), list):
            listed = {
                referrer["digest"]
                for referrer in value["referrers"]
                if is_digest(referrer.get("digest"))
            }
            about.setdefault(subject, set()).update(listed)
        elif subject is None and is_digest(digest):
            tag = key.rpartition(":")[2]
            signed = _signed(tag)
            if signed is None:
                roots.add(str(digest))
            else:
                about.setdefault(signed, set()).add(str(digest))
    live: set[str] = set()
    while roots:
        digest = roots.pop()
        if digest in live:
            continue
        live.add(digest)
        data = store.read(digest, max_bytes=4 * 2**20)
        roots |= about.get(digest, set()) | set(_children(data) if data is not None else ())
    return live


def _children(data: bytes) -> list[str]:
    """The digests that a manifest or index leads to; none for any other content."""
    try:
        body = read_object(data, "content")
    except RegistryError:
        return []
    if "schemaVersion" not in body and body.get("mediaType") not in [*MANIFESTS, *INDEXES]:
        return []
    listed: list[object] = [body.get("config")]
    for key in ("layers", "manifests"):
        found = body.get(key)
        listed += found if isinstance(found, list) else []
    digests = [entry.get("digest") for entry in listed if isinstance(entry, dict)]
    return [str(digest) for digest in digests if is_digest(digest)]


def _subject(value: dict[str, Any]) -> str | None:
    """The digest that a name is about; None for a tag."""
    at = str(value["name"]).rpartition("@")[2].partition("#")[0]
    return at if is_digest(at) else None


def _signed(tag: str) -> str | None:
    """The digest whose signatures a tag such as `sha256-….sig` holds."""
    stem = tag.removesuffix(".sig")
    digest = stem.replace("-", ":", 1)
    return digest if is_digest(digest) else None


def _remove(path: Path, older_than: float) -> int:
    try:
        found = path.stat()
        if found.st_mtime >= older_than:
            return 0
        path.unlink()
    except OSError:
        return 0  # another process was quicker, or it is in use
    return found.st_size
