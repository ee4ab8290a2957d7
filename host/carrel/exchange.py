"""One exchange with an upstream, as `runtime` and `fetch` speak about it.

`runtime` is handed a `Fetcher` and never imports `fetch`; `fetch` never imports `runtime`. What
both need to know stands here: a request, its outcome, and the call it belongs to.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol, runtime_checkable

from .errors import Cancelled, CarrelError, DeadlineExceeded

Method = Literal["GET", "HEAD", "POST"]
Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What a guest asks of an upstream, before any check.

    Attributes:
        method: upper case.
        url: as the guest wrote it.
        headers: the guest's own, names in lower case.
        body: of a POST; empty otherwise.
        refresh: ask upstream even if a cached answer is fresh.
    """

    method: Method
    url: str
    headers: Headers = ()
    body: str = ""
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """An upstream's answer, whatever its status.

    Attributes:
        url: the URL of the last hop, without anything the host attached.
        headers: names in lower case, without cookies and credentials.
        body: decompressed and decoded; empty for HEAD.
        size: bytes of the body after decompression.
        cached: whether the host's cache answered.
    """

    status: int
    url: str
    headers: Headers
    body: str
    size: int = 0
    cached: bool = False


class Verdict(StrEnum):
    """What a plugin made of the answers that a call fetched.

    `READ`: they could be read. `ABSENT`: they could, and say that something is not there, which may
    be so for minutes only. `UNREADABLE`: the call failed.
    """

    READ = "read"
    ABSENT = "absent"
    UNREADABLE = "unreadable"


class FailureKind(StrEnum):
    """The cases of the contract's `fetch-error`, in the contract's spelling."""

    DENIED = "denied"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate-limited"
    TOO_LARGE = "too-large"
    UNREACHABLE = "unreachable"
    UNDECODABLE = "undecodable"


@dataclass(frozen=True, slots=True)
class Failure:
    """A request without an answer: a value, because host functions never raise through wasm.

    Attributes:
        reason: for DENIED, one of the denial reasons in `contract/v1/errors.json`.
        grant: for DENIED, the configuration that would allow the request; empty when none can.
        seconds: for RATE_LIMITED, the wait that would help.
        number: milliseconds for TIMEOUT, cap in bytes for TOO_LARGE, last status for UNREACHABLE.
    """

    kind: FailureKind
    url: str
    message: str
    reason: str = ""
    grant: str = ""
    seconds: float = 0.0
    number: int = 0


Outcome = Response | Failure


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may use; each has a default and an end. Settable per plugin.

    Attributes:
        cpu_seconds: time in the guest; waiting in fetch does not count.
        wall_seconds: from the call's start to its end, queue and fetches included.
        memory_bytes: linear memory of the instance.
        stack_bytes: wasm stack; one value per process, it belongs to the engine.
        output_bytes: the result's JSON text.
        fetches: requests in the call, redirects not counted.
        response_bytes: one response after decompression.
        fetched_bytes: all responses of the call after decompression.
        log_bytes: stdout, stderr and log lines of the guest that are kept.
    """

    cpu_seconds: float = 10.0
    wall_seconds: float = 60.0
    memory_bytes: int = 256 * 2**20
    stack_bytes: int = 2**20
    output_bytes: int = 64 * 2**20
    fetches: int = 64
    response_bytes: int = 64 * 2**20
    fetched_bytes: int = 256 * 2**20
    log_bytes: int = 64 * 2**10


ProgressHandler = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that a call was given and that had been kept for earlier ones.

    Attributes:
        key: names the request.
        stored: when it was kept, in seconds since 1970.
        until: when it stops being fresh, likewise.
    """

    key: bytes
    stored: float
    until: float


@dataclass(slots=True)
class Call:
    """One call in flight: who, until when, how much is left, and whether anybody still waits.

    Thread-safe where several threads meet: `cancel` may come from any thread.

    Attributes:
        deadline: `time.monotonic()` at which the call ends.
        on_progress: called with done, total or None, message; from a worker thread.
        on_wait: called by a fetcher before it waits, so that another call may run meanwhile.
        attempts: what was asked of upstreams and how it ended, for the error's trace.
        denial: the last request that policy refused, for the error's context.
        kept: the answers that came from the cache.
        refresh: whether every request passes the cache by.
        unsettled: keys of answers that wait for the plugin's verdict, see `AnswerSettler`.
        question: the arguments as the guest was given them.
        recalled: whether the result was kept from an earlier call, and checked then.
        fatal: what ends the call whatever the guest makes of it: a budget that is used up, a
            replay without the exchange.
        done: how far the call has come, as it was reported last.
        total: of how much, if that was said.
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
    kept: list[Kept] = field(default_factory=list)
    refresh: bool = False
    unsettled: list[bytes] = field(default_factory=list)
    question: str = ""
    recalled: bool = False
    fatal: CarrelError | None = None
    done: float = 0.0
    total: float | None = None
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _on_cancel: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if not self.deadline:
            self.deadline = time.monotonic() + self.limits.wall_seconds

    def has_ended(self) -> bool:
        """Whether something ends the call whatever the guest makes of it; see `fatal`."""
        return self.fatal is not None

    @property
    def of_kept_answers(self) -> bool:
        """Whether the call made requests and every one was answered from the cache."""
        return 0 < self.fetches == len(self.kept)

    @property
    def cancelled(self) -> bool:
        """Whether the client gave up."""
        return self._cancelled.is_set()

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, not below 0."""
        return max(0.0, self.deadline - time.monotonic())

    def cancel(self) -> None:
        """Ends the call: interrupts the guest and whatever it waits for. Idempotent."""
        with self._lock:
            if self._cancelled.is_set():
                return
            self._cancelled.set()
            waiting = list(self._on_cancel)
        for callback in waiting:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Runs `callback` when the call is cancelled (at once if it already is).

        Returns a function that takes the callback back.
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
        """Raises what ends the call, if anything has.

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

    def waits(self) -> None:
        """Lets another call run while this one waits for an upstream."""
        if self.on_wait is not None:
            self.on_wait()

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Tells the client how far the call has come; cheap when nobody listens."""
        self.done, self.total = done, total
        self.explain(message)

    def explain(self, message: str) -> None:
        """Tells the client what the call waits for; the numbers stay those of the last `progress`.

        Waiting is no work, so it is never counted as any.
        """
        if self.on_progress is not None and not self.cancelled:
            self.on_progress(self.done, self.total, message)


class Fetcher(Protocol):
    """The seam between the sandbox and the network: real, recording, replaying or refusing.

    A fetcher is bound to one plugin's policy. It is called from worker threads, several at once.
    """

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Makes the requests, at once where pace allows, and returns their outcomes in order.

        Never raises for what an upstream or a policy does: that is a `Failure`. Charges the
        call's budgets. When something ends the call, it sets `call.fatal` and answers the requests
        that are left with failures. Calls `call.waits()` before it waits for an upstream.
        """
        ...


@runtime_checkable
class AnswerSettler(Protocol):
    """A fetcher that stores answers, and keeps them when a plugin could read them."""

    def settle(self, call: Call, verdict: Verdict) -> None:
        """Keeps the answers that a call fetched, or forgets them.

        An answer with status 200 may be a proxy's page, a gateway's report or half a document:
        only the plugin can tell. Until it has, no other call is given the answer.

        Args:
            call: one whose guest has ended.
            verdict: what the plugin made of its answers.
        """
        ...


@runtime_checkable
class AnswerDiscarder(Protocol):
    """A fetcher that stores answers, and forgets one at a plugin's word."""

    def discard(self, call: Call, request: Request) -> None:
        """Forgets the answers that a call has had to a request so far, also one kept before it.

        Without effect for a request that the call has not made.

        Args:
            call: one whose guest runs.
            request: as the guest made it.
        """
        ...


@runtime_checkable
class QueueTeller(Protocol):
    """A fetcher that knows how many requests wait."""

    def waiting(self) -> int:
        """Requests of the plugin, of all calls, that wait for their turn or for an answer."""
        ...


@runtime_checkable
class AnswerKeeper(Protocol):
    """A fetcher that can say whether the answers it kept still stand."""

    def still_kept(self, kept: Sequence[Kept], mark: object) -> object:
        """Whether a call with these answers would be given the very same ones now.

        Args:
            kept: the answers.
            mark: what the last look returned; None at the first.

        Returns:
            A mark that makes the next look quick; None when an answer is gone, changed or stale.
        """
        ...
