"""Caches answers for half an hour; calls of the same search at the same time share one request."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from carrel.errors import CarrelError

from .results import FRESH_SECONDS

if TYPE_CHECKING:
    from carrel.exchange import Call

#: Answers that are kept; each is a few kilobytes.
_MOST: Final = 500

T = TypeVar("T")


@dataclass(slots=True)
class _PendingSearch:
    """A search that is under way.

    Attributes:
        lock: held by the call that makes the answer.
        users: calls that make it or wait for it.
        failure: of the latest attempt, and when it failed.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    failure: tuple[float, CarrelError] | None = None


class SearchCache(Generic[T]):
    """Answers by their keys, in memory. Thread-safe.

    A search that fails leaves nothing, but the calls that waited for it fail with it.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, tuple[float, T]] = OrderedDict()
        self._pending: dict[str, _PendingSearch] = {}

    def get_or_make(self, key: str, make: Callable[[], T], call: Call) -> tuple[T, float | None]:
        """Returns an answer and its age, or makes it; the age is then None.

        Args:
            key: of everything that changes the answer.
            make: makes the answer; what it raises is raised here, and nothing is kept.
            call: that waits; with `refresh` it makes the answer anew.
        """
        came = self._clock()
        with self._locked(key, call) as (pending, waited):
            if not call.refresh or waited:
                cached = self._get(key)
                if cached is not None and (not call.refresh or cached[1] <= self._clock() - came):
                    return cached
            if waited and pending.failure is not None and pending.failure[0] >= came:
                raise pending.failure[1]
            try:
                answer = make()
            except CarrelError as error:
                # A failure that ended only this call does not concern the others.
                if not call.cancelled and call.remaining > 0:
                    pending.failure = self._clock(), error
                raise
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
    def _locked(self, key: str, call: Call) -> Iterator[tuple[_PendingSearch, bool]]:
        """Lets one call at a time make an answer; the others then find it.

        Yields the pending search, and whether another call was making an answer before.
        """
        with self._lock:
            pending = self._pending.setdefault(key, _PendingSearch())
            pending.users += 1
        try:
            waited = not pending.lock.acquire(blocking=False)
            while waited and not pending.lock.acquire(timeout=0.05):
                call.check()
            try:
                yield pending, waited
            finally:
                pending.lock.release()
        finally:
            with self._lock:
                pending.users -= 1
                if not pending.users:
                    del self._pending[key]
