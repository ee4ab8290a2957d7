"""Defines `Library`: the entries of one file, which other programs may change at any time."""

from __future__ import annotations

import copy
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from carrel.bibliography.item import Item
from carrel.files.folders import user_dir

from .answers import Addition, Merge, Page
from .draft import Draft, not_found
from .errors import LibraryError
from .file.csl_json import CslJsonText
from .file.library_file import Content, LibraryFile
from .file.library_text import LibraryText
from .identity import Name, names_of
from .keys import KeyTemplate
from .names import custom_of, date_of, family_of, key_of, people_of, text_of, uuid_of

Sort = Literal["created", "updated", "published", "author", "title", "relevance"]
Order = Literal["asc", "desc"]

#: Entries of which the library remembers what it last returned.
_REMEMBERED: Final = 5000
#: Times that a write starts again because another program changed the file.
_ATTEMPTS: Final = 100

T = TypeVar("T")


class Library:
    """The entries of a library file. Usable from any thread.

    Args:
        path: of the file; a missing file is an empty library.
        cache_folder: for the search index, which may be deleted at any time.
        key_template: of new keys, see `keys.PLACEHOLDERS`; None for author and year.
        backup_folder: for earlier contents; by default in the user's data folder.
        now: the clock, seconds since 1970.
    """

    def __init__(
        self,
        path: Path,
        *,
        cache_folder: Path,
        key_template: str | None = None,
        backup_folder: Path | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self._template = KeyTemplate(key_template) if key_template else None
        folder = backup_folder or user_dir("data", os.environ) / "library-backups"
        self._file = LibraryFile(path, folder)
        self._cache_folder = cache_folder
        self._now = now
        self._lock = threading.RLock()
        self._seen: OrderedDict[str, Item] = OrderedDict()
        self._read: tuple[Content, LibraryText] | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        cache_folder: Path,
        key_template: str | None = None,
        backup_folder: Path | None = None,
    ) -> Library:
        """Opens the library at `path`, and creates nothing.

        Raises:
            LibraryError: `READ_ERROR`: the file cannot be read, or is not a library; `INVALID`: the
                template cannot be used.
        """
        library = cls(
            path, cache_folder=cache_folder, key_template=key_template, backup_folder=backup_folder
        )
        library._state()
        return library

    def close(self) -> None:
        """Ends watching and closes the index."""

    # Reading

    def items(self) -> Sequence[Item]:
        """Returns all entries, in the order of the file, as it is now.

        Raises:
            LibraryError: `READ_ERROR`.
        """
        with self._lock:
            _, text = self._state()
            found = (text.item(place) for place in range(len(text.sources)))
            items = [item for item in found if item is not None]
            return self._returned(items)

    def get(self, key: str) -> Item:
        """Returns the entry with a key or UUID.

        Raises:
            LibraryError: `NOT_FOUND`, `READ_ERROR`.
        """
        with self._lock:
            _, text = self._state()
            place = _MemoryFinder(text).place_of(key)
            item = None if place is None else text.item(place)
            if item is None:
                raise not_found(key)
            return self._returned([item])[0]

    def list(
        self,
        *,
        sort: Sort = "updated",
        order: Order = "desc",
        limit: int = 20,
        offset: int = 0,
        superseded: bool = False,
    ) -> Page:
        """Returns a page of the entries, in an order.

        Args:
            sort: by which member; `created` and `updated` are those of `custom`.
            order: `asc` or `desc`.
            limit: the most entries of a page; 0 for all.
            offset: entries before the page.
            superseded: whether to include entries that name a successor.

        Raises:
            LibraryError: `INVALID`: limit or offset is negative. `READ_ERROR`.
        """
        _check(limit, offset)
        items = [
            one for one in self.items() if superseded or not custom_of(one).get("superseded_by")
        ]
        items.sort(key=lambda one: _sort_value(one, sort), reverse=order == "desc")
        end = offset + limit if limit else None
        return Page(tuple(items[offset:end]), len(items), limit, offset)

    # Writing

    def add(self, items: Sequence[Item]) -> Sequence[Addition]:
        """Adds items of works that are not there, each with its outcome, in one write.

        An item keeps its key if no entry has it; otherwise it gets a new one.

        Raises:
            LibraryError: `INVALID`: something is not an item; `READ_ERROR`, `WRITE_ERROR`,
                `LOCK_TIMEOUT`. Nothing was added.
        """
        for item in items:
            if not isinstance(item, dict):
                raise LibraryError("INVALID", f"expected an item but found {type(item).__name__}")
        return self._write(lambda draft: [draft.add(item) for item in items])

    def update(self, key: str, changes: Mapping[str, Any]) -> Item:
        """Changes members of an entry, and returns it.

        Args:
            key: its key or UUID.
            changes: member → new value, None to remove it; the members of `custom` are changed one
                by one.

        Raises:
            LibraryError: `NOT_FOUND`; `CONFLICT`: the same member was changed in the file since
                this object last returned the entry; `DUPLICATE`: another entry has the new key;
                `READ_ERROR`, `WRITE_ERROR`, `LOCK_TIMEOUT`. Nothing was written.
        """
        return self._returned([self._write(lambda draft: draft.update(key, changes))])[0]

    def remove(self, key: str) -> Item:
        """Removes an entry, and returns it.

        Raises:
            LibraryError: as `update`; `CONFLICT`: any member was changed meanwhile.
        """
        return self._write(lambda draft: draft.remove(key))

    def merge(self, keep: str, other: str, *, dry_run: bool = False) -> Merge:
        """Joins two entries: the kept one gets the other's members that it does not have, its tags
        and attachments; the other is removed.

        Args:
            keep: key or UUID of the entry that stays.
            other: of the entry that is removed.
            dry_run: only return what would be done.

        Raises:
            LibraryError: `NOT_FOUND`; `INVALID`: both are one entry; `READ_ERROR`, `WRITE_ERROR`,
                `LOCK_TIMEOUT`.
        """
        return self._write(lambda draft: draft.merge(keep, other, dry_run=dry_run))

    def _write(self, work: Callable[[Draft], T]) -> T:
        with self._lock, self._file.lock():
            for _ in range(_ATTEMPTS):
                content, text = self._state()
                draft = Draft(
                    text,
                    _MemoryFinder(text),
                    seen=self._seen.get,
                    template=self._template,
                    now=self._time(),
                )
                try:
                    result = work(draft)
                except LibraryError as error:
                    if error.library_code == "CONFLICT":
                        self._forget(error)
                    raise
                if draft.is_empty:
                    return result
                written = self._file.replace(content, self._data(draft))
                if written is not None:
                    self._read = written, self._parsed(written)
                    return copy.deepcopy(result)
        raise LibraryError("WRITE_ERROR", f"{self.path}: another program changes it all the time")

    @staticmethod
    def _data(draft: Draft) -> bytes:
        try:
            return draft.data()
        except (TypeError, ValueError, RecursionError) as error:
            raise LibraryError("INVALID", f"the entry cannot be written as JSON: {error}") from None

    # The file

    def _state(self) -> tuple[Content, LibraryText]:
        """Returns the present content, parsed."""
        stamp = self._file.stamp()
        if self._read is not None and self._read[0].stamp == stamp:
            return self._read
        content = self._file.read()
        self._read = content, self._parsed(content)
        return self._read

    def _parsed(self, content: Content) -> LibraryText:
        try:
            self._file.check_emptiness(content)
            return CslJsonText(content.data)
        except LibraryError as error:
            raise self._file.damaged(error) from None

    # What the caller saw

    def _returned(self, items: Sequence[Item]) -> Sequence[Item]:
        """Remembers items as their caller sees them."""
        for item in items[:_REMEMBERED]:
            kept = copy.deepcopy(item)
            for name in (key_of(item), uuid_of(item)):
                if name:
                    self._seen[name] = kept
                    self._seen.move_to_end(name)
        while len(self._seen) > 2 * _REMEMBERED:
            self._seen.popitem(last=False)
        return items

    def _forget(self, error: LibraryError) -> None:
        """Forgets an entry whose change was refused: a caller that repeats it has seen why."""
        for conflict in error.conflicts:
            seen = self._seen.pop(conflict["id"], None)
            for name in (key_of(seen), uuid_of(seen)) if seen else ():
                self._seen.pop(name, None)

    def _time(self) -> str:
        moment = datetime.fromtimestamp(self._now(), UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


class _MemoryFinder:
    def __init__(self, text: LibraryText) -> None:
        self._items = [text.item(place) or {} for place in range(len(text.sources))]

    def place_of(self, key: str) -> int | None:
        for of in (key_of, uuid_of):
            for place, item in enumerate(self._items):
                if key and of(item) == key:
                    return place
        return None

    def has_key(self, key: str) -> bool:
        return any(key_of(item).casefold() == key.casefold() for item in self._items)

    def places_named(self, name: Name) -> Sequence[int]:
        return [place for place, item in enumerate(self._items) if name in names_of(item)]

    def superseded_by(self, uuid: str) -> Sequence[int]:
        return [
            place
            for place, item in enumerate(self._items)
            if custom_of(item).get("superseded_by") == uuid
        ]


def _check(limit: int, offset: int) -> None:
    for name, value in (("limit", limit), ("offset", offset)):
        if value < 0:
            raise LibraryError("INVALID", f"{name} is {value}; expected 0 or more")


def _sort_value(item: Item, sort: str) -> str:
    custom = custom_of(item)
    if sort == "title":
        return text_of(item, "title").casefold()
    if sort == "author":
        return ";".join(family_of(one) for one in people_of(item)).casefold()
    if sort == "published":
        return date_of(item)
    return str(custom.get("created_at" if sort == "created" else "timestamp") or "")
