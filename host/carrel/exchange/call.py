"""A call while it runs: its clocks, its budgets, its cancellation and its cache hits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from carrel.errors import Cancelled, CarrelError, DeadlineExceeded
from carrel.principal import current_owner

from .limits import Limits
from .request import Failure

ProgressHandler = Callable[[float, float | None, str], None]


class CacheHit(NamedTuple):
    """A cached response that a call received.

    Attributes:
        key: the cache key of the request.
        stored: when the response was stored, in seconds since 1970.
        until: when it stops being fresh, in seconds since 1970.
    """

    key: bytes
    stored: float
    until: float


@dataclass(slots=True)
class Call:
    """One running call: its plugin and tool, its deadline, its budgets, its cancellation.

    `cancel` and `on_cancel` are thread-safe.

    Attributes:
        deadline: `time.monotonic()` at which the call ends.
        on_progress: called with done, total or None, message; from a worker thread.
        on_wait: called by a fetcher before it waits, so that another call can run meanwhile.
        attempts: requests to upstreams and their outcomes, for the error's trace.
        denial: the last request that policy refused, for the error's context.
        cache_hits: the responses that came from the cache.
        refresh: whether every request bypasses the cache.
        unsettled: cache keys of responses that await the plugin's verdict, see `AnswerSettler`.
        arguments: the JSON text that the guest received.
        from_result_cache: whether the result came from the result cache, so it is checked already.
        fatal: the error that ends the call, even if the guest handles the failure: an exhausted
            budget, or a replay without the exchange.
        done: the progress that was reported last.
        total: what `done` counts towards; None when unknown.
        owner: name of the principal it is made for, who gets a share of workers and upstreams;
            empty for the local user, who may have all.
    """

    plugin: str
    tool: str
    limits: Limits = field(default_factory=Limits)
    on_progress: ProgressHandler | None = None
    on_wait: Callable[[], None] | None = None
    deadline: float = 0.0
    fetches: int = 0
    fetched_bytes: int = 0
    attempts: list[dict[str, object]] = field(default_factory=list)
    denial: Failure | None = None
    cache_hits: list[CacheHit] = field(default_factory=list)
    refresh: bool = False
    unsettled: list[bytes] = field(default_factory=list)
    arguments: str = ""
    from_result_cache: bool = False
    fatal: CarrelError | None = None
    done: float = 0.0
    total: float | None = None
    owner: str = field(default_factory=current_owner)
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _on_cancel: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if not self.deadline:
            self.deadline = time.monotonic() + self.limits.wall_seconds

    def has_ended(self) -> bool:
        """Whether an error ends the call, even if the guest handles it; see `fatal`."""
        return self.fatal is not None

    @property
    def is_all_cached(self) -> bool:
        """Whether the call made requests and every one was a cache hit."""
        return 0 < self.fetches == len(self.cache_hits)

    @property
    def cancelled(self) -> bool:
        """Whether the client cancelled the call."""
        return self._cancelled.is_set()

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, not below 0."""
        return max(0.0, self.deadline - time.monotonic())

    def cancel(self) -> None:
        """Interrupts the guest and anything that it waits for. Idempotent."""
        with self._lock:
            if self._cancelled.is_set():
                return
            self._cancelled.set()
            waiting = list(self._on_cancel)
        for callback in waiting:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Runs `callback` when the call is cancelled, or now if it already is.

        Returns a function that removes the callback.
        """
        with self._lock:
            if not self._cancelled.is_set():
                self._on_cancel.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._on_cancel:
                self._on_cancel.remove(callback)

    def check(self) -> None:
        """Raises if the call was cancelled or its deadline passed.

        Raises:
            Cancelled: the client cancelled.
            DeadlineExceeded: the wall-clock deadline passed.
        """
        if self.cancelled:
            raise Cancelled(plugin=self.plugin, tool=self.tool)
        if time.monotonic() >= self.deadline:
            raise DeadlineExceeded(
                plugin=self.plugin, tool=self.tool, seconds=self.limits.wall_seconds
            )

    @contextmanager
    def part(self, seconds: float, on_progress: ProgressHandler | None = None) -> Iterator[Call]:
        """Yields a call for a part of this one.

        It has a deadline, budgets and attempts of its own, bypasses the cache if this one does, and
        is cancelled with this one.

        Args:
            seconds: its time, at most what this one has left.
            on_progress: gets its progress; None to report it as this one's.
        """
        seconds = min(seconds, self.remaining)
        part = Call(
            self.plugin,
            self.tool,
            self.limits._replace(wall_seconds=round(seconds, 3)),
            on_progress or self.on_progress,
            deadline=time.monotonic() + seconds,
            refresh=self.refresh,
            done=self.done if on_progress is None else 0.0,
        )
        forget = self.on_cancel(part.cancel)
        try:
            yield part
        finally:
            forget()
            if on_progress is None:
                self.done, self.total = part.done, part.total

    def waits(self) -> None:
        """Allows another call to run while this one waits for an upstream."""
        if self.on_wait is not None:
            self.on_wait()

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Reports progress to the client; cheap without a handler."""
        self.done, self.total = done, total
        self.explain(message)

    def explain(self, message: str) -> None:
        """Reports what the call waits for, with the numbers of the last `progress`."""
        if self.on_progress is not None and not self.cancelled:
            self.on_progress(self.done, self.total, message)
