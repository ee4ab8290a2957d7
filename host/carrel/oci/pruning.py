"""Which files of the plugin store nothing leads to any more."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .reference import is_digest

if TYPE_CHECKING:
    from .store import PluginStore


def prune(store: PluginStore, keep: Collection[str], *, older_than: float) -> int:
    """Removes names and content that no tag and no digest of `keep` leads to.

    Args:
        store: the store.
        keep: digests of manifests that stay.
        older_than: seconds since 1970; what was written later stays, for it may belong to a pull
            that is under way.

    Returns:
        How many bytes were freed.
    """
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
    return freed


def _live(store: PluginStore, names: list[dict[str, Any]], roots: set[str]) -> set[str]:
    """Every digest that a tag or one of `roots` leads to, referrers and signatures included."""
    from .store import children

    about: dict[str, set[str]] = {}
    for value in names:
        key, digest = str(value["name"]), value.get("digest")
        subject = _subject(value)
        if subject is not None and isinstance(value.get("referrers"), list):
            listed = {one["digest"] for one in value["referrers"] if is_digest(one.get("digest"))}
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
        roots |= about.get(digest, set()) | set(children(data) if data is not None else ())
    return live


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
