"""Caches answers for half an hour; calls of the same search at the same time share one request."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from .results import FRESH_SECONDS

if TYPE_CHECKING:
    from carrel.exchange import Call

#: Answers that are kept; each is a few kilobytes.
_MOST: Final = 500

T = TypeVar("T")


@dataclass(slots=True)
class _Turn:
    """A search that is under way, and how many calls wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0


class SearchCache(Generic[T]):
    """Answers by their keys, in memory. Thread-safe. A search that fails leaves nothing.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, tuple[float, T]] = OrderedDict()
        self._turns: dict[str, _Turn] = {}

    def get_or_make(self, key: str, make: Callable[[], T], call: Call) -> tuple[T, float | None]:
        """Returns an answer and its age, or makes it; the age is then None.

        Args:
            key: of everything that changes the answer.
            make: makes the answer; what it raises is raised here, and nothing is kept.
            call: that waits; with `refresh` it makes the answer anew.
        """
        with self._turn(key, call):
            if not call.refresh:
                known = self._get(key)
                if known is not None:
                    return known
            answer = make()
            with self._lock:
                self._answers[key] = (self._clock(), answer)
                self._answers.move_to_end(key)
                while len(self._answers) > _MOST:
                    self._answers.popitem(last=False)
            return answer, None

    def _get(self, key: str) -> tuple[T, float] | None:
        with self._lock:
            found = self._answers.get(key)
            if found is None:
                return None
            age = self._clock() - found[0]
            if age >= FRESH_SECONDS:
                del self._answers[key]
                return None
            self._answers.move_to_end(key)
            return found[1], age

    @contextmanager
    def _turn(self, key: str, call: Call) -> Iterator[None]:
        """Lets one call at a time make an answer; the others then find it."""
        with self._lock:
            turn = self._turns.setdefault(key, _Turn())
            turn.users += 1
        try:
            while not turn.lock.acquire(timeout=0.05):
                call.check()
            try:
                yield
            finally:
                turn.lock.release()
        finally:
            with self._lock:
                turn.users -= 1
                if not turn.users:
                    del self._turns[key]
