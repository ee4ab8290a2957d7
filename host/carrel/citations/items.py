"""Reads the items to render: CSL-JSON, or any other format of bibliographies."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from carrel.bibliography import BibliographyError, read_bibliography
from carrel.errors import ArgumentError

from .request import Item

#: Characters of the shortest part of a key by which other keys are proposed.
_PART: Final = 3


def read_items(data: bytes, name: str) -> tuple[list[Item], list[str]]:
    """Returns the items of a file, and what of it could not be read.

    Args:
        data: the file.
        name: of the file, for errors.

    Raises:
        ArgumentError: it is no bibliography.
    """
    items = _csl_json(data)
    if items is not None:
        return [_checked(item, f"{name}: item {n}") for n, item in enumerate(items, 1)], []
    try:
        found = read_bibliography(data, name=name)
    except BibliographyError as error:
        raise ArgumentError([f"{name}: {error}"]) from None
    unread = [f"{name}: {entry.label}: {entry.problem}" for entry in found.unread]
    return [entry.item for entry in found.entries], unread


def by_id(items: Iterable[Item]) -> tuple[dict[str, Item], list[str]]:
    """Returns items by their ids, and the ids that occur more than once; the first one counts."""
    found: dict[str, Item] = {}
    twice = []
    for item in items:
        name = str(item["id"])
        if name in found:
            twice.append(name)
        else:
            found[name] = item
    return found, twice


def nearest(key: str, known: Iterable[str]) -> str | None:
    """Returns the known key that resembles one that is not known."""
    found = nearest_keys(key, known, most=1)
    return found[0] if found else None


def nearest_keys(key: str, known: Iterable[str], *, most: int = 3) -> Sequence[str]:
    """Returns known keys that resemble one that is not known, the nearest first.

    Keys that contain it follow those that are spelt alike.
    """
    lower = {name.lower(): name for name in known}
    lower_key = key.lower()
    near = difflib.get_close_matches(lower_key, list(lower), n=most)
    if len(lower_key) >= _PART:
        near += [name for name in lower if lower_key in name and name not in near]
    return [lower[name] for name in near[:most]]


def _csl_json(data: bytes) -> Sequence[Any] | None:
    """Returns the items of CSL-JSON: a list, one item, or a list in a member `items`."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"[", b"{"}:
        return None
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict):
        found = found["items"] if isinstance(found.get("items"), list) else [found]
    return found if isinstance(found, list) else None


def _checked(item: object, where: str) -> Item:
    if not isinstance(item, Mapping):
        raise ArgumentError([f"{where} is not an object; CSL-JSON is a list of objects"])
    name = item.get("id")
    if isinstance(name, bool) or not isinstance(name, (str, int, float)) or name == "":
        raise ArgumentError([f"{where} has no id; each item needs one"])
    return {**item, "id": str(name)}
