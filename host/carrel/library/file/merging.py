"""Merges three versions of an entry: what was read, what is wanted, and what the file has now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from carrel.bibliography.item import Item

from .json_edit import same

_MISSING: Final = object()
#: Lists of texts in `custom` of which the order does not count.
_SETS: Final = frozenset({"tags", "additional_urls"})


@dataclass(frozen=True, slots=True)
class MemberConflict:
    """A member that both sides changed to different values; None stands for no member."""

    member: str
    base: Any
    mine: Any
    theirs: Any

    def to_json(self) -> dict[str, Any]:
        """Returns the conflict as JSON."""
        return {
            "member": self.member, "base": self.base, "mine": self.mine, "theirs": self.theirs
        }  # fmt: skip


def merged_item(base: Item, mine: Item, theirs: Item) -> tuple[Item, list[MemberConflict]]:
    """Returns the merged item, and the members that were changed on both sides.

    A member that one side changed has that side's value. The members of `custom` are merged one by
    one; its tags and URLs are united; of its times, the earliest creation and the latest change
    count. A conflict leaves the value of the file.
    """
    return _merged(base, mine, theirs, "")


def _merged(
    base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any], path: str
) -> tuple[Item, list[MemberConflict]]:
    merged: Item = {}
    conflicts: list[MemberConflict] = []
    for name in (*theirs, *(name for name in mine if name not in theirs)):
        value, found = _member(
            base.get(name, _MISSING),
            mine.get(name, _MISSING),
            theirs.get(name, _MISSING),
            f"{path}{name}",
        )
        conflicts += found
        if value is not _MISSING:
            merged[name] = value
    return merged, conflicts


def _member(base: Any, mine: Any, theirs: Any, path: str) -> tuple[Any, list[MemberConflict]]:
    if same(mine, theirs) or same(base, mine):
        return theirs, []
    if same(base, theirs):
        return mine, []
    if path == "custom" and isinstance(mine, dict) and isinstance(theirs, dict):
        return _merged(base if isinstance(base, dict) else {}, mine, theirs, "custom.")
    name = path.removeprefix("custom.")
    if path != name:
        if name in _SETS and isinstance(mine, list) and isinstance(theirs, list):
            return _united(base if isinstance(base, list) else [], mine, theirs), []
        if name in ("timestamp", "created_at") and isinstance(mine, str):
            if not isinstance(theirs, str):
                return mine, []
            return (max if name == "timestamp" else min)(mine, theirs), []
    values = (None if value is _MISSING else value for value in (base, mine, theirs))
    return theirs, [MemberConflict(path, *values)]


def _united(base: list[Any], mine: list[Any], theirs: list[Any]) -> list[Any]:
    """Returns the list of theirs with my additions and without what I removed."""
    remaining = [value for value in theirs if value in mine or value not in base]
    return remaining + [value for value in mine if value not in theirs and value not in base]
