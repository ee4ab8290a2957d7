"""Joins two entries of one work: members united, the kept entry's values first."""

from __future__ import annotations

import copy
import posixpath
from typing import Any, Final

from carrel.bibliography.item import Item

from .answers import Difference
from .file.json_edit import same
from .names import custom_of, text_of, uuid_of, words_of

#: Members that say which entry replaces an entry.
_SUCCESSION: Final = ("superseded_by", "superseded_reason", "superseded_at")


def joined(
    kept: Item, other: Item, now: str
) -> tuple[Item, tuple[str, ...], tuple[Difference, ...]]:
    """Returns the joined item, the members taken from the other, and the differences."""
    item = copy.deepcopy(kept)
    taken: list[str] = []
    differences: list[Difference] = []
    for name, value in other.items():
        if name in ("id", "custom"):
            continue
        if name not in item or item[name] in ("", [], {}, None):
            item[name] = copy.deepcopy(value)
            taken.append(name)
        elif name == "keyword" and words_of(item[name]) and words_of(value):
            words = list(dict.fromkeys([*words_of(item[name]), *words_of(value)]))
            item[name] = words if isinstance(item[name], list) else "; ".join(words)
        elif not same(item[name], value):
            differences.append(Difference(name, item[name], value))
    custom, custom_differences = _custom(kept, other)
    item["custom"] = {**custom, "timestamp": now}
    return item, tuple(taken), (*differences, *custom_differences)


def _custom(kept: Item, other: Item) -> tuple[dict[str, Any], list[Difference]]:
    custom = copy.deepcopy(custom_of(kept))
    differences = []
    for name, value in custom_of(other).items():
        if name in _SUCCESSION:
            continue  # what the other states about itself does not hold for the kept entry
        mine = custom.get(name)
        united = value if mine is None else _united(name, mine, value)
        if united is not None:
            custom[name] = copy.deepcopy(united)
        elif not same(mine, value):
            differences.append(Difference(f"custom.{name}", mine, value))
    if custom.get("superseded_by") in (uuid_of(kept), uuid_of(other)):
        for name in _SUCCESSION:
            custom.pop(name, None)
    _keep_url(custom, text_of(kept, "URL"), text_of(other, "URL"))
    return custom, differences


def _united(name: str, mine: Any, value: Any) -> Any:
    """Returns one value for a member that both have; None if they exclude each other."""
    if name in ("uuid", "timestamp"):
        return mine
    if name == "created_at" and isinstance(mine, str) and isinstance(value, str):
        return min(mine, value)
    if name in ("tags", "additional_urls") and isinstance(mine, list):
        return mine + [text for text in words_or_urls(value) if text not in mine]
    if name == "attachments" and isinstance(mine, dict) and isinstance(value, dict):
        return _attachments(mine, value)
    return None


def words_or_urls(value: Any) -> list[str]:
    """Returns the texts of a list."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _keep_url(custom: dict[str, Any], kept: str, other: str) -> None:
    """Keeps the other's URL among the additional ones."""
    if kept and other and kept != other:
        urls = words_or_urls(custom.get("additional_urls"))
        if other not in urls:
            custom["additional_urls"] = [*urls, other]


def _attachments(mine: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """Returns both entries' files; those of another folder with their path from the kept one's."""
    folder, other_folder = mine.get("directory"), value.get("directory")
    files = [*mine.get("files", [])] if isinstance(mine.get("files"), list) else []
    for file in value.get("files", []) if isinstance(value.get("files"), list) else []:
        moved = file
        if (
            isinstance(file, dict)
            and isinstance(file.get("filename"), str)
            and other_folder != folder
        ):
            path = posixpath.join(str(other_folder or ""), file["filename"])
            moved = {**file, "filename": posixpath.relpath(path, str(folder or "."))}
        if moved not in files:
            files.append(moved)
    return {**value, **mine, "files": files}
