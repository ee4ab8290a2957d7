"""A table of objects by name that removes those which were used least recently."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class LeastRecent(Generic[Value]):
    """Objects by name. Of more than `most`, the least recently used are removed where they may be.

    An object that may not be removed stays, so there can be more than `most` of them: as many as
    are in use. An object that was removed while something still refers to it is found again, so
    there are never two objects of one name. Adding one takes constant time: an object that stays is
    moved to the end, and is not looked at again before all others.

    Args:
        most: objects that are kept although they may be removed.
        removable: whether an object may be removed.
    """

    def __init__(self, most: int, removable: Callable[[Value], bool]) -> None:
        self._most = most
        self._removable = removable
        self._kept: OrderedDict[str, Value] = OrderedDict()
        self._alive: WeakValueDictionary[str, Value] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, name: str) -> Value | None:
        """Returns an object, which is then the one that was used last."""
        found = self._alive.get(name)
        if found is not None:
            self._keep(name, found)
        return found

    def peek(self, name: str) -> Value | None:
        """Returns an object, and does not count that as a use."""
        return self._alive.get(name)

    def items(self) -> list[tuple[str, Value]]:
        """Returns the names and objects that are kept."""
        return list(self._kept.items())

    def put(self, name: str, value: Value) -> None:
        """Adds an object."""
        self._alive[name] = value
        self._keep(name, value)

    def _keep(self, name: str, value: Value) -> None:
        """Makes an object the one that was used last; removes at most two others."""
        self._kept[name] = value
        self._kept.move_to_end(name)
        for _ in range(2):
            if len(self._kept) <= self._most:
                return
            oldest, candidate = next(iter(self._kept.items()))
            if oldest != name and self._removable(candidate):
                del self._kept[oldest]
            else:
                self._kept.move_to_end(oldest)
