"""Lists the running calls and the last denials, for the page and for the audit log."""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from carrel.principal import Principal
from carrel.telemetry import Denial
from carrel.text.printable import printable

from .request_facts import RequestFacts

#: Denials that are shown.
_DENIALS: Final = 100


@dataclass(frozen=True, slots=True)
class LiveCall:
    """A call that runs.

    Attributes:
        tool: a tool of the toolbox, or the method of the protocol.
        plugin: that has the tool; empty for a tool of the host.
        principal: who called.
        facts: of its request; None without one.
        since: `time.monotonic()` at its start.
    """

    tool: str
    plugin: str
    principal: str
    facts: RequestFacts | None
    since: float


@dataclass(frozen=True, slots=True)
class RecentDenial:
    """Equal denials of one principal.

    Attributes:
        at: of the last one, in seconds since 1970.
        principal: whose call it was.
        host: that was asked; empty if the URL has none.
        count: how many there were.
    """

    at: float
    principal: str
    plugin: str
    tool: str
    host: str
    reason: str
    grant: str
    count: int = 1


class LiveCalls:
    """Tracks calls and denials. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._calls: dict[int, LiveCall] = {}
        self._denials: OrderedDict[tuple[str, ...], RecentDenial] = OrderedDict()

    def __len__(self) -> int:
        return len(self._calls)

    def began(self, call: LiveCall) -> int:
        """Lists a call; returns its number for `ended`."""
        number = next(self._numbers)
        self._calls[number] = call
        return number

    def ended(self, number: int) -> None:
        """Lists a call no more."""
        self._calls.pop(number, None)

    def denied(self, denial: Denial, principal: str) -> RecentDenial:
        """Adds a denial, and returns it with its host."""
        recent = RecentDenial(
            time.time(),
            principal,
            denial.plugin,
            denial.tool,
            host_of(denial.url),
            denial.reason,
            denial.grant,
        )
        key = (principal, recent.plugin, recent.host, recent.reason, recent.grant)
        with self._lock:
            before = self._denials.pop(key, None)
            updated = recent if before is None else replace(recent, count=before.count + 1)
            self._denials[key] = updated
            if len(self._denials) > _DENIALS:
                self._denials.popitem(last=False)
        return recent

    def calls(self, principal: Principal | None = None) -> list[LiveCall]:
        """Returns the calls of a principal, or of all; the oldest first."""
        found = list(self._calls.values())
        return [call for call in found if principal is None or call.principal == principal.name]

    def denials(self, principal: Principal | None = None) -> list[RecentDenial]:
        """Returns the denials of a principal, or of all; the newest first."""
        with self._lock:
            found = list(reversed(self._denials.values()))
        return [
            denial for denial in found if principal is None or denial.principal == principal.name
        ]


def host_of(url: str) -> str:
    """Returns the host that a URL names; empty for one that cannot be read."""
    try:
        return printable(urlsplit(url).hostname or "", 253)
    except ValueError:
        return ""
