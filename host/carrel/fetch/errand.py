"""One guest request on its way through the fetch layer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from carrel.exchange import Headers, Outcome

from .budget import Charge
from .cache import Cache
from .identity import Secret
from .policy import HostRule, Policy
from .url import Target

#: Entries of an errand's trace; a call keeps no more of them either.
MAX_ATTEMPTS = 32


def _starting() -> str:
    return "waiting for the network"


@dataclass(slots=True, eq=False)
class Errand:
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
        key: the cache's, and with more the flight's.
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
class Answer:
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
    """How an errand ended.

    Attributes:
        hops: URLs of the redirects that led to the outcome, without secrets.
        cut: the errand's; a request that joined and has more time may ask again.
        own_end: the errand's, likewise.
        stored: whether the answer waits in the cache for a plugin's verdict.
    """

    outcome: Outcome
    attempts: tuple[dict[str, Any], ...]
    hops: tuple[str, ...]
    cut: float
    own_end: bool = False
    stored: bool = False
