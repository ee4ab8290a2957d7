"""Caches documents that were read, so that a call for the next section does not read them again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, Protocol, TypeVar

#: Documents that one cache holds, and the characters of text that all of them may have.
_DOCUMENTS: Final = 8
_CHARACTERS: Final = 2**24


class HasText(Protocol):
    """A value whose size is that of its text."""

    @property
    def text(self) -> str:
        """The text."""
        ...


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value", bound=HasText)


class RecentDocuments(Generic[Key, Value]):
    """The documents that were used last, at most 8 with 16 Mi characters in all. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._documents: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """Returns the document, which is then the one that was used last."""
        with self._lock:
            found = self._documents.get(key)
            if found is not None:
                self._documents.move_to_end(key)
            return found

    def put(self, key: Key, value: Value) -> None:
        """Adds a document; removes those that were used least recently if there is no room."""
        with self._lock:
            self._documents[key] = value
            self._documents.move_to_end(key)
            while len(self._documents) > 1 and (
                len(self._documents) > _DOCUMENTS
                or sum(len(document.text) for document in self._documents.values()) > _CHARACTERS
            ):
                self._documents.popitem(last=False)

    def remove(self, key: Key) -> None:
        """Removes a document, if it is there."""
        with self._lock:
            self._documents.pop(key, None)
