"""Makes the next state of a library from the present one; the changes to one file, not yet written.

A draft is made anew, and its changes are made again, if the file changes before it is written.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from carrel.bibliography.item import Item

from .answers import Addition, Merge
from .errors import LibraryError
from .file.json_edit import same
from .file.library_text import LibraryText
from .file.merging import MemberConflict, merged_item
from .identity import Name, contradict, names_of
from .joining import joined
from .keys import KeyTemplate, make_key
from .names import custom_of, key_of, text_of, uuid_of

#: Ids of more entries are not tried to make a key.
_TOOLS_OWN = ("uuid", "created_at", "timestamp")


class Finder(Protocol):
    """Finds entries of one state of the file by their place in it."""

    def place_of(self, key: str) -> int | None:
        """Returns the place of the entry with a key or UUID."""

    def has_key(self, key: str) -> bool:
        """Returns whether an entry has this key, in any case."""

    def is_unique(self, key: str) -> bool:
        """Returns whether at most one entry has this key."""

    def places_named(self, name: Name) -> Sequence[int]:
        """Returns the places of the entries with a name."""

    def superseded_by(self, uuid: str) -> Sequence[int]:
        """Returns the places of the entries that name this UUID as their successor."""


class Draft:
    """Changes to one state of a library.

    Args:
        text: the present state.
        finder: of the same state.
        seen: entries as the caller last saw them, by key.
        template: of new keys.
        now: the present time, as the file has it.
    """

    def __init__(
        self,
        text: LibraryText,
        finder: Finder,
        *,
        seen: Callable[[str], Item | None],
        template: KeyTemplate | None,
        now: str,
    ) -> None:
        self._text = text
        self._finder = finder
        self._seen = seen
        self._template = template
        self._now = now
        self.changed: dict[int, Item | None] = {}
        self.added: list[Item] = []
        self._new_keys: dict[str, str] = {}
        self._new_names: dict[Name, Item] = {}

    def data(self) -> bytes:
        """Returns the whole file with the changes."""
        return self._text.edited(self.changed, self.added)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was changed."""
        return not self.changed and not self.added

    def item(self, key: str) -> tuple[int, Item]:
        """Returns position and item of an entry.

        Raises:
            LibraryError: `NOT_FOUND`.
        """
        position = self._finder.place_of(key)
        item = None if position is None else self._text.item(position)
        if position is None or item is None:
            raise not_found(key)
        return position, item

    def add(self, item: Item) -> Addition:
        """Adds an item, unless its work is there."""
        title = text_of(item, "title")
        names = names_of(item)
        duplicate = self._duplicate(names)
        if duplicate is not None:
            kind, found = duplicate
            key = key_of(found)
            return Addition("skipped", key, title, key, kind, uuid_of(found))
        new = self._prepared(item)
        self.added.append(new)
        self._new_keys[key_of(new).casefold()] = key_of(new)
        for name in names:
            self._new_names.setdefault(name, new)
        return Addition("added", key_of(new), title, uuid=uuid_of(new))

    def update(self, key: str, changes: Mapping[str, Any]) -> Item:
        """Changes members of an entry; see `Library.update`."""
        position, theirs = self.item(key)
        base = self._last_seen(key, theirs) or theirs
        mine = _changed(base, changes)
        if key_of(mine) != key_of(base) and self._is_taken(key_of(mine), but=theirs):
            raise LibraryError(
                "DUPLICATE", f"another entry has the key {key_of(mine)!r}", advice="choose another"
            )
        if same(base, mine):
            return theirs
        own = uuid_of(theirs) or uuid_of(mine) or str(uuid.uuid4())
        mine["custom"] = {**_custom_to_write(mine), "uuid": own, "timestamp": self._now}
        merged, conflicts = merged_item(base, mine, theirs)
        if conflicts:
            raise _conflict(key, conflicts)
        self.changed[position] = merged
        return merged

    def remove(self, key: str) -> Item:
        """Removes an entry that is as the caller saw it."""
        position, theirs = self.item(key)
        seen = self._last_seen(key, theirs)
        if seen is not None and not same(seen, theirs):
            members = [
                MemberConflict(name, seen.get(name), None, theirs.get(name))
                for name in {**seen, **theirs}
                if not same(seen.get(name), theirs.get(name))
            ]
            raise _conflict(key, members)
        self.changed[position] = None
        return theirs

    def merge(self, keep: str, other: str, *, dry_run: bool) -> Merge:
        """Joins two entries; see `Library.merge`."""
        position, kept = self.item(keep)
        other_position, dropped = self.item(other)
        if position == other_position:
            raise LibraryError("INVALID", f"{keep!r} and {other!r} are the same entry")
        item, taken, differences = joined(kept, dropped, self._now)
        if not dry_run:
            self.changed[position] = item
            self.changed[other_position] = None
            self._redirect(uuid_of(dropped), uuid_of(item), besides={position, other_position})
        return Merge(item, dropped, taken, differences, dry_run)

    def _last_seen(self, key: str, theirs: Item) -> Item | None:
        """Returns the entry as the caller last saw it, unless that was another one of this key.

        An entry gets its UUID with the first change that Carrel makes, and loses it when another
        program writes no `custom`: of two versions of which one has none, the key decides.
        """
        seen = self._seen(key)
        if seen is None:
            return None
        own, current = uuid_of(seen), uuid_of(theirs)
        if own and current:
            return seen if own == current else None
        if not self._finder.is_unique(key_of(theirs)):
            return None
        if own:
            # Its tags and times are gone with the UUID: there is nothing to merge them with.
            rest = {name: value for name, value in seen.items() if name != "custom"}
            return {**rest, "custom": theirs["custom"]} if "custom" in theirs else rest
        return seen

    def _redirect(self, old: str, new: str, *, besides: set[int]) -> None:
        """Names the kept entry in those that named the other as their successor."""
        if not old or not new:
            return
        for position in self._finder.superseded_by(old):
            item = self._text.item(position)
            if position not in besides and item is not None:
                item["custom"] = {**custom_of(item), "superseded_by": new}
                self.changed[position] = item

    def _duplicate(self, names: Sequence[Name]) -> tuple[Any, Item] | None:
        for name in names:
            found = [self._text.item(position) for position in self._finder.places_named(name)]
            for item in (*found, self._new_names.get(name)):
                if item is None:
                    continue
                if name.type == "title" and contradict(names, names_of(item)):
                    continue
                return name.type, item
        return None

    def _prepared(self, item: Item) -> Item:
        """Returns a copy of an item with key, UUID and times."""
        new = copy.deepcopy(item)
        key = key_of(new)
        if not key or self._is_taken(key):
            key = make_key(new, self._is_taken, self._template)
        custom = _custom_to_write(new)
        own = uuid_of(new)
        if not own or self._finder.place_of(own) is not None:
            own = str(uuid.uuid4())
        created = custom.get("created_at")
        keyword = new.get("keyword")
        if isinstance(keyword, list) and all(isinstance(word, str) for word in keyword):
            new["keyword"] = "; ".join(keyword)
        rest = {name: value for name, value in new.items() if name not in ("id", "custom")}
        extra = {name: value for name, value in custom.items() if name not in _TOOLS_OWN}
        return {
            "id": key,
            **rest,
            "custom": {
                "uuid": own,
                "created_at": created if isinstance(created, str) else self._now,
                "timestamp": self._now,
                **extra,
            },
        }

    def _is_taken(self, key: str, *, but: Item | None = None) -> bool:
        if but is not None and key.casefold() == key_of(but).casefold():
            return False
        return key.casefold() in self._new_keys or self._finder.has_key(key)


def not_found(key: str, near: str | None = None) -> LibraryError:
    """Returns the error of an unknown key; `near` is a key that resembles it."""
    hint = f"; did you mean {near!r}?" if near else ""
    return LibraryError(
        "NOT_FOUND",
        f"no entry has the key or UUID {key!r}{hint}",
        advice="search or list the library",
    )


def _changed(item: Item, changes: Mapping[str, Any]) -> Item:
    new = copy.deepcopy(item)
    for name, value in changes.items():
        if name == "custom" and isinstance(value, Mapping):
            custom = _custom_to_write(new)
            for part, inner in value.items():
                if inner is None:
                    custom.pop(part, None)
                else:
                    custom[part] = copy.deepcopy(inner)
            new["custom"] = custom
        elif value is None:
            new.pop(name, None)
        else:
            new[name] = copy.deepcopy(value)
    return new


def _custom_to_write(item: Item) -> dict[str, Any]:
    """Returns a copy of `custom`; what another program put in its place is kept in it."""
    custom = item.get("custom")
    if custom is None or isinstance(custom, dict):
        return dict(custom or {})
    return {"original": custom}


def _conflict(key: str, members: Sequence[MemberConflict]) -> LibraryError:
    names = ", ".join(conflict.member for conflict in members)
    return LibraryError(
        "CONFLICT",
        f"{key!r} was changed in the file meanwhile: {names}; nothing was written",
        advice="read the entry again, then repeat the change if it is still wanted",
        conflicts=tuple({"id": key, **conflict.to_json()} for conflict in members),
    )
