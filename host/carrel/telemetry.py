"""Reports what calls do to the process's observer: for metrics, traces and the audit log.

A leaf: the fetch layer, the sandbox and the plugins report, and know nothing of who observes.
Without an observer, which is the default, a report costs one comparison with None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, NamedTuple, Protocol

#: How a request met the cache: `shared` joined an identical request in flight.
CacheOutcome = Literal["hit", "miss", "shared"]


class Denial(NamedTuple):
    """A request that policy refused.

    Attributes:
        plugin: that asked.
        tool: the tool or format that ran.
        url: as the refusal shows it: printable, without secrets.
        reason: one of the denial reasons in `contract/v1/errors.json`.
        grant: the configuration that would allow it; empty when none can.
    """

    plugin: str
    tool: str
    url: str
    reason: str
    grant: str


class UpstreamState(NamedTuple):
    """The pace and the circuit breaker of one upstream, as of now.

    Attributes:
        plugin: whose rule it is.
        upstream: the rule's name for it; `public-web` for all hosts of the public web.
        interval: seconds between two requests in the long run; 0 without a pace.
        concurrency: requests that may be in flight at once.
        in_flight: requests that were sent and are not answered.
        waiting: requests in the queue.
        paused: seconds for which the upstream asked for no request.
        open_for: seconds for which the circuit stays open; 0 when it is closed.
        failures: failures in a row.
    """

    plugin: str
    upstream: str
    interval: float
    concurrency: int
    in_flight: int
    waiting: int
    paused: float
    open_for: float
    failures: int


class AttemptReport(Protocol):
    """One attempt to send a request to an upstream."""

    def sent(self) -> None:
        """Ends the wait for pace and concurrency."""
        ...

    def ended(self, result: str) -> None:
        """Reports the status, or the kind of failure."""
        ...

    def headers(self) -> Mapping[str, str]:
        """Returns the headers that continue the trace at an upstream that may see them."""
        ...


class GuestReport(Protocol):
    """One run of a guest."""

    def used(self, cpu_seconds: float) -> None:
        """Reports the processor time that the guest used."""
        ...


class Observer(Protocol):
    """Gets the reports, from any thread, in the context of the call. Its methods do not raise."""

    def cache(self, plugin: str, outcome: CacheOutcome) -> None:
        """Reports a request that could be answered by the cache."""
        ...

    def result_cache_hit(self, plugin: str) -> None:
        """Reports a call that was answered without running the guest."""
        ...

    def denied(self, denial: Denial) -> None:
        """Reports a refused request."""
        ...

    def guest(self, plugin: str, tool: str) -> AbstractContextManager[GuestReport]:
        """Observes a run of a guest; sees its exception."""
        ...

    def attempt(
        self, plugin: str, upstream: str, host: str, method: str
    ) -> AbstractContextManager[AttemptReport]:
        """Observes an attempt at an upstream; sees its exception."""
        ...

    def circuit_opened(self, plugin: str, upstream: str) -> None:
        """Reports that failures opened an upstream's circuit breaker."""
        ...


_observer: Observer | None = None


def observer() -> Observer | None:
    """Returns the process's observer."""
    return _observer


@contextmanager
def observing(replacement: Observer | None) -> Iterator[None]:
    """Makes `replacement` the process's observer while the context is open."""
    global _observer  # noqa: PLW0603 - one for the process, as its log is
    before, _observer = _observer, replacement
    try:
        yield
    finally:
        _observer = before
