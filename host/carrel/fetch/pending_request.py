"""A guest's request while it is pending, and the budgets that its bytes are charged to."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from carrel.errors import LimitExceeded
from carrel.exchange import Call, FileSink, Headers, Outcome

from .cache import ResponseCache
from .identity import Secret
from .policy.rules import HostRule, Policy
from .url import Target

#: Entries of a request's trace, and of a call's.
MAX_ATTEMPTS = 32


def _starting() -> str:
    return "waiting for the network"


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request that policy allows and the cache cannot answer.

    Attributes:
        plugin: the one that makes it.
        tool: the tool or format, for the log.
        target: its URL, without secrets.
        rule: the rule that allowed it.
        cap: bytes of the body, on the wire and decompressed.
        cut: time on the monotonic clock at which it ends without an answer.
        latest: time on the monotonic clock after which it is not worth starting.
        caller: its batch; batches are served round robin at an upstream.
        charge: the budgets of the response's bytes.
        cache: where the response is cached.
        sink: receives the body of a download; None for other requests.
        own_end: whether a limit of its own call ended it, which does not bind those who joined it.
        key: its cache key.
        attempts: for the call's trace.
        phase: words what it waits for, for a person; called from another thread.
    """

    plugin: str
    tool: str
    method: str
    target: Target
    headers: Headers
    body: bytes
    rule: HostRule
    policy: Policy
    secrets: tuple[Secret, ...]
    cap: int
    cut: float
    latest: float
    caller: Hashable
    owner: str
    key: bytes
    refresh: bool
    charge: Charge
    cache: ResponseCache
    sink: FileSink | None = None
    own_end: bool = False
    attempts: list[dict[str, Any]] = field(default_factory=list)
    phase: Callable[[], str] = _starting

    def note(self, host: str, outcome: str, seconds: float) -> None:
        """Adds one attempt to the trace."""
        if len(self.attempts) < MAX_ATTEMPTS:
            self.attempts.append(
                {
                    "host": host,
                    "method": self.method,
                    "outcome": outcome,
                    "milliseconds": round(seconds * 1000),
                }
            )


@dataclass(frozen=True, slots=True)
class RawResponse:
    """The response of one hop, before decoding.

    Attributes:
        headers: names as they came; values as ISO 8859-1.
        body: decompressed.
    """

    status: int
    headers: Headers
    body: bytes | bytearray = b""

    def header(self, name: str) -> str | None:
        """Returns the first value of a header; `name` in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), None)


@dataclass(frozen=True, slots=True)
class Finished:
    """The outcome of a request, and facts for the requests that joined it.

    Attributes:
        hops: URLs of the redirects that led to the outcome, without secrets.
        cut: the request's; a request that joined and has more time may be sent again.
        own_end: the request's.
        stored: whether the response is stored and awaits the plugin's verdict.
    """

    outcome: Outcome
    attempts: tuple[dict[str, Any], ...]
    hops: tuple[str, ...]
    cut: float
    own_end: bool = False
    stored: bool = False


class OverBudgetError(Exception):
    """A response was abandoned: its call or its plugin exceeded a budget of bytes.

    Attributes:
        allowed: the bytes that the plugin may hold; None when the call's budget is exhausted.
    """

    def __init__(self, allowed: int | None = None) -> None:
        self.allowed = allowed
        super().__init__(allowed)


def charge_requests(call: Call, count: int) -> bool:
    """Counts requests; False, with `call.fatal` set, when they exceed the call's budget."""
    call.fetches += count
    if call.fetches > call.limits.fetches:
        _end(call, "fetches", call.limits.fetches)
        return False
    return True


def charge_bytes(call: Call, size: int) -> bool:
    """Counts bytes of responses; False, with `call.fatal` set, beyond the call's budget."""
    call.fetched_bytes += size
    if call.fetched_bytes > call.limits.fetched_bytes:
        _end(call, "fetched_bytes", call.limits.fetched_bytes)
        return False
    return True


class HeldBytes:
    """Counts the response bytes that one plugin holds, over all its calls; on the event loop.

    Args:
        allowed: the most that it may hold.
    """

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.held = 0

    def hold(self, size: int) -> None:
        """Adds bytes.

        Raises:
            OverBudgetError: they would be too many; none is added.
        """
        if self.held + size > self.allowed:
            raise OverBudgetError(self.allowed)
        self.held += size

    def release(self, size: int) -> None:
        """Subtracts bytes."""
        self.held -= size


class Charge:
    """The budgets that one request's bytes are charged to: its call's, and its plugin's.

    The request and the call that waits for it may end in either order (a coalesced request
    continues for others), so each reports when it no longer needs the response.
    """

    def __init__(self, call: Call, plugin: HeldBytes) -> None:
        self._call = call
        self._plugin = plugin
        self._held = 0
        self._users = 1

    def add(self, size: int) -> None:
        """Charges bytes as they arrive.

        Raises:
            OverBudgetError: beyond the budget of the call or of the plugin; for the call's,
                `call.fatal` is set.
        """
        if not charge_bytes(self._call, size):
            raise OverBudgetError
        self._plugin.hold(size)
        self._held += size

    def discard(self) -> None:
        """Releases the plugin's bytes so far: the attempt failed."""
        self._plugin.release(self._held)
        self._held = 0

    def keep(self) -> None:
        """Counts one more user of the response."""
        self._users += 1

    def drop(self) -> None:
        """Counts one user fewer; after the last one releases the plugin's bytes."""
        self._users -= 1
        if self._users == 0:
            self.discard()


def _end(call: Call, limit: str, allowed: int) -> None:
    if call.fatal is None:
        call.fatal = LimitExceeded(limit, allowed, plugin=call.plugin, tool=call.tool)
