"""Defines `Library`: the entries of one file, which other programs may change at any time."""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Final, TypeVar

from carrel.bibliography.item import Item
from carrel.files.folders import user_dir

from .answers import Addition, LibraryChanges, Merge, Page
from .draft import Draft, not_found
from .errors import LibraryError
from .file.backups import MOST
from .file.csl_json import CslJsonText
from .file.library_file import Content, LibraryFile
from .file.library_text import LibraryText, entry_digest
from .file.watching import LibraryWatcher, OwnWrites
from .keys import KeyTemplate
from .names import key_of, uuid_of
from .search.asking import (
    SORTS,
    IndexFinder,
    Order,
    Sort,
    keys_like,
    listed,
    searched,
    source_of,
)
from .search.index import LibraryIndex
from .search.query import parse_query
from .search.sources import decoded_item, encoded_item

_log = logging.getLogger("carrel.library")

#: Endings of libraries that are BibTeX or BibLaTeX; others are CSL-JSON.
BIBTEX_ENDINGS: Final = (".bib", ".bibtex", ".biblatex")
#: Entries of which the library remembers what it last returned.
_REMEMBERED: Final = 1000
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
        most_backups: earlier contents that are kept.
        now: the clock, seconds since 1970.
    """

    def __init__(
        self,
        path: Path,
        *,
        cache_folder: Path,
        key_template: str | None = None,
        backup_folder: Path | None = None,
        most_backups: int = MOST,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self._template = KeyTemplate(key_template) if key_template else None
        folder = backup_folder or user_dir("data", os.environ) / "library-backups"
        self._file = LibraryFile(path, folder, most_backups=most_backups)
        self._index = LibraryIndex(path, cache_folder)
        self._now = now
        self._lock = threading.RLock()
        #: Key or UUID → the entry as this object last returned it, as JSON.
        self._seen: OrderedDict[str, bytes] = OrderedDict()
        self._own = OwnWrites(self._lock)
        self._subscribers: dict[object, Callable[[LibraryChanges], None]] = {}
        self._watcher: LibraryWatcher | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        cache_folder: Path,
        key_template: str | None = None,
        backup_folder: Path | None = None,
        most_backups: int = MOST,
    ) -> Library:
        """Opens the library at `path`, and creates nothing.

        Raises:
            LibraryError: `READ_ERROR`: the file cannot be read, or is not a library; `INVALID`: the
                template cannot be used.
        """
        library = cls(
            path,
            cache_folder=cache_folder,
            key_template=key_template,
            backup_folder=backup_folder,
            most_backups=most_backups,
        )
        library._ask(lambda _: None)
        return library

    def close(self) -> None:
        """Ends watching and closes the index."""
        with self._lock:
            watcher, self._watcher = self._watcher, None
            self._subscribers.clear()
        if watcher is not None:
            watcher.stop()
        self._index.close()

    def subscribe(self, changed: Callable[[LibraryChanges], None]) -> Callable[[], None]:
        """Calls `changed`, from a thread of its own, when other programs changed entries.

        Writes of this object are not reported: their callers know them. The file is watched from
        the first subscription until `close`, or until the last subscription ends.

        Returns:
            What ends the subscription.

        Raises:
            LibraryError: `READ_ERROR`.
        """
        with self._lock:
            if self._watcher is None:
                watcher = LibraryWatcher(self._file, self._parsed, self._own, self._publish)
                watcher.start()
                self._watcher = watcher
            token = object()
            self._subscribers[token] = changed
        return partial(self._unsubscribe, token)

    def _unsubscribe(self, token: object) -> None:
        watcher = None
        with self._lock:
            self._subscribers.pop(token, None)
            if not self._subscribers:
                watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    def _publish(self, changes: LibraryChanges) -> None:
        with self._lock:
            subscribers = [*self._subscribers.values()]
        for changed in subscribers:
            try:
                changed(changes)
            except Exception:  # noqa: BLE001 - logged; other subscribers are still called
                _log.exception("a subscriber of %s failed", self.path)

    # Reading

    def items(self) -> Sequence[Item]:
        """Returns all entries, in the order of the file, as it is now.

        Raises:
            LibraryError: `READ_ERROR`.
        """
        text = self._parsed(self._file.read())
        found = (text.item(position) for position in range(len(text.sources)))
        items = [item for item in found if item is not None]
        self._remember((item, encoded_item(item)) for item in items[-_REMEMBERED:])
        return items

    def get(self, key: str) -> Item:
        """Returns the entry with a key or UUID.

        Raises:
            LibraryError: `NOT_FOUND`, `READ_ERROR`.
        """
        source = self._ask(lambda connection: source_of(connection, key))
        if source is None:
            from carrel.citations.items import nearest

            raise not_found(key, nearest(key, self._ask(partial(keys_like, key))))
        return self._returned([source])[0]

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
            sort: by which member; `created` and `updated` are those of `custom`; `relevance` is
                the order of the file.
            order: `asc` or `desc`.
            limit: the most entries of a page; 0 for all.
            offset: entries before the page.
            superseded: whether to include entries that name a successor.

        Raises:
            LibraryError: `INVALID`: an argument cannot be used. `READ_ERROR`.
        """
        _check(sort, order, limit, offset)
        found = self._ask(
            lambda connection: listed(
                connection,
                sort=sort,
                order=order,
                limit=limit,
                offset=offset,
                superseded=superseded,
            )
        )
        return Page(tuple(self._returned(found.sources)), found.total, limit, offset)

    def search(
        self,
        query: str,
        *,
        sort: Sort = "relevance",
        order: Order = "desc",
        limit: int = 20,
        offset: int = 0,
    ) -> Page:
        """Returns a page of the entries that a query matches, superseded ones too.

        Args:
            query: in the language of docs/reference/library.md; one of blanks matches nothing.
            sort: as `list`; `relevance` has the best match first.
            order: `asc` or `desc`.
            limit: the most entries of a page; 0 for all.
            offset: entries before the page.

        Raises:
            LibraryError: `INVALID`: the query cannot be parsed, with its offset, or another
                argument cannot be used. `READ_ERROR`.
        """
        _check(sort, order, limit, offset)
        terms = parse_query(query)
        found = self._ask(
            lambda connection: searched(
                connection, terms, sort=sort, order=order, limit=limit, offset=offset
            )
        )
        return Page(tuple(self._returned(found.sources)), found.total, limit, offset)

    def _ask(self, work: Callable[[Connection], T]) -> T:
        """Answers a question from the index, which is brought up to date first."""
        return self._index.ask(work, self._file.stamp(), self._now_read)

    def _now_read(self) -> tuple[Content, Callable[[], LibraryText]]:
        content = self._file.read()
        return content, partial(self._parsed, content)

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
        item = self._write(lambda draft: draft.update(key, changes))
        self._remember([(item, encoded_item(item))])
        return item

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
                content = self._file.read()
                text = self._parsed(content)
                result, draft, data = self._index.ask_about(
                    partial(self._drafted, work, text), content, partial(_same, text)
                )
                if data is None:
                    return result
                written = self._file.replace(content, data)
                if written is not None:
                    new = self._parsed(written)
                    if self._watcher is not None:
                        self._own.add(_written_entries(draft, text, new))
                    self._index.written(content, written, draft.changed, draft.added, new)
                    return copy.deepcopy(result)
        raise LibraryError("WRITE_ERROR", f"{self.path}: another program changes it all the time")

    def _drafted(
        self, work: Callable[[Draft], T], text: LibraryText, connection: Connection
    ) -> tuple[T, Draft, bytes | None]:
        """Returns the outcome of changes to one state, and the new file, if it is another."""
        draft = Draft(
            text,
            IndexFinder(connection),
            seen=self._last_seen,
            template=self._template,
            now=self._time(),
        )
        try:
            result = work(draft)
        except LibraryError as error:
            if error.library_code == "CONFLICT":
                self._forget(error)
            raise
        except RecursionError:
            raise LibraryError("INVALID", "the entry is nested too deeply") from None
        return result, draft, None if draft.is_empty else self._data(draft)

    @staticmethod
    def _data(draft: Draft) -> bytes:
        try:
            return draft.data()
        except (TypeError, ValueError, RecursionError) as error:
            raise LibraryError("INVALID", f"the entry cannot be written as JSON: {error}") from None

    def _parsed(self, content: Content) -> LibraryText:
        try:
            self._file.check_emptiness(content)
            if self.path.suffix.lower() in BIBTEX_ENDINGS:
                # Imported here, because it takes long, and few libraries are BibTeX.
                from .file.bibtex import BibtexLibraryText

                return BibtexLibraryText(content.data)
            return CslJsonText(content.data)
        except LibraryError as error:
            raise self._file.damaged(error) from None

    # What the caller saw

    def _returned(self, sources: Sequence[bytes]) -> Sequence[Item]:
        """Returns the items, and remembers them as their caller sees them."""
        items = [decoded_item(source) for source in sources]
        self._remember(zip(items[-_REMEMBERED:], sources[-_REMEMBERED:], strict=True))
        return items

    def _remember(self, items: Iterable[tuple[Item, bytes]]) -> None:
        with self._lock:
            # Of entries with one key, the first is the one that a key names.
            for item, source in reversed([*items]):
                for name in (key_of(item), uuid_of(item)):
                    if name:
                        self._seen[name] = source
                        self._seen.move_to_end(name)
            while len(self._seen) > 2 * _REMEMBERED:
                self._seen.popitem(last=False)

    def _last_seen(self, key: str) -> Item | None:
        """Returns the entry as this object last returned it."""
        source = self._seen.get(key)
        return None if source is None else decoded_item(source)

    def _forget(self, error: LibraryError) -> None:
        """Forgets an entry whose change was refused: a caller that repeats it has seen why."""
        for conflict in error.conflicts:
            seen = self._last_seen(conflict["id"]) or {}
            for name in (conflict["id"], key_of(seen), uuid_of(seen)):
                self._seen.pop(name, None)

    def _time(self) -> str:
        moment = datetime.fromtimestamp(self._now(), UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _written_entries(
    draft: Draft, before: LibraryText, after: LibraryText
) -> dict[str, bytes | None]:
    """Returns key → digest of the entries that a draft added, changed, or removed (None)."""
    found: dict[str, bytes | None] = {}
    gone = 0
    for position, item in sorted(draft.changed.items()):
        old = before.item(position)
        if old is not None:
            found[key_of(old)] = None
        if item is None:
            gone += 1
        else:
            found[key_of(item)] = entry_digest(after, position - gone)
    whole = len(after.sources)
    for position, item in enumerate(draft.added, start=whole - len(draft.added)):
        found[key_of(item)] = entry_digest(after, position)
    return found


def _same(text: LibraryText) -> LibraryText:
    return text


def _check(sort: str, order: str, limit: int, offset: int) -> None:
    for name, value in (("limit", limit), ("offset", offset)):
        if value < 0:
            raise LibraryError("INVALID", f"{name} is {value}; expected 0 or more")
    if sort not in SORTS:
        raise LibraryError("INVALID", f"sort is {sort!r}; expected one of {', '.join(SORTS)}")
    if order not in ("asc", "desc"):
        raise LibraryError("INVALID", f"order is {order!r}; expected asc or desc")
