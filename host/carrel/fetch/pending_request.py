"""One guest request on its way through the fetch layer, and what its bytes are charged to."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from carrel.errors import LimitExceeded
from carrel.exchange import Call, Headers, Outcome

from .cache import Cache
from .identity import Secret
from .policy.rules import HostRule, Policy
from .url import Target

#: Entries of an request's trace; a call keeps no more of them either.
MAX_ATTEMPTS = 32


def _starting() -> str:
    return "waiting for the network"


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request that policy allowed and the cache could not answer.

    Attributes:
        plugin: whose it is.
        tool: the tool or format, for the log.
        target: where it goes, without secrets.
        rule: the rule that allowed it.
        cap: bytes of the body, on the wire and decompressed.
        cut: time on the monotonic clock at which it ends without an answer.
        latest: time on the monotonic clock after which starting it is of no use.
        caller: the batch it belongs to; batches take turns at an upstream.
        charge: what the answer's bytes are charged to while they come.
        cache: where the answer is kept.
        own_end: whether it ended by a limit of its own call, which binds nobody who joined it.
        key: of its answer in the cache.
        attempts: what was tried, for the call's trace.
        phase: gives what it waits for now, in words for a person; called from another thread.
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
    key: bytes
    refresh: bool
    charge: Charge
    cache: Cache
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
    """What one hop brought, before anybody decoded it.

    Attributes:
        headers: names as they came; values as ISO 8859-1.
        body: decompressed.
    """

    status: int
    headers: Headers
    body: bytes | bytearray = b""

    def header(self, name: str) -> str | None:
        """The first value of a header; `name` in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), None)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a request ended.

    Attributes:
        hops: URLs of the redirects that led to the outcome, without secrets.
        cut: the request's; a request that joined and has more time may ask again.
        own_end: the request's, likewise.
        stored: whether the answer waits in the cache for a plugin's verdict.
    """

    outcome: Outcome
    attempts: tuple[dict[str, Any], ...]
    hops: tuple[str, ...]
    cut: float
    own_end: bool = False
    stored: bool = False


class OverBudgetError(Exception):
    """An answer was given up: its call, or its plugin, may not have more bytes.

    Attributes:
        allowed: the bytes that the plugin may hold at once; None when the call's budget is used up.
    """

    def __init__(self, allowed: int | None = None) -> None:
        self.allowed = allowed
        super().__init__(allowed)


def charge_requests(call: Call, count: int) -> bool:
    """Counts requests; False, with `call.fatal` set, when the call may not make them."""
    call.fetches += count
    if call.fetches > call.limits.fetches:
        _end(call, "fetches", call.limits.fetches)
        return False
    return True


def charge_bytes(call: Call, size: int) -> bool:
    """Counts bytes of answers; False, with `call.fatal` set, when the call has fetched too many."""
    call.fetched_bytes += size
    if call.fetched_bytes > call.limits.fetched_bytes:
        _end(call, "fetched_bytes", call.limits.fetched_bytes)
        return False
    return True


class HeldBytes:
    """The bytes of answers that one plugin holds at once, over all its calls; on the event loop.

    Args:
        allowed: how many it may hold.
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
        """Takes bytes back."""
        self.held -= size


class Charge:
    """What one request is charged to: its call, and its plugin until nobody needs the answer.

    The request and the call that waits for it may end in either order (a coalesced request goes on
    for others), so each says when it has done with the answer.
    """

    def __init__(self, call: Call, plugin: HeldBytes) -> None:
        self._call = call
        self._plugin = plugin
        self._held = 0
        self._users = 1

    def add(self, size: int) -> None:
        """Charges bytes as they come.

        Raises:
            OverBudgetError: the call or the plugin may not have them; `call.fatal` is set where it
                is the call.
        """
        if not charge_bytes(self._call, size):
            raise OverBudgetError
        self._plugin.hold(size)
        self._held += size

    def discard(self) -> None:
        """Releases what the plugin holds so far: the attempt failed, and its bytes are gone."""
        self._plugin.release(self._held)
        self._held = 0

    def keep(self) -> None:
        """Counts one more user of the answer."""
        self._users += 1

    def drop(self) -> None:
        """Counts one user less; the last one releases what the plugin holds."""
        self._users -= 1
        if self._users == 0:
            self.discard()


def _end(call: Call, limit: str, allowed: int) -> None:
    if call.fatal is None:
        call.fatal = LimitExceeded(limit, allowed, plugin=call.plugin, tool=call.tool)
