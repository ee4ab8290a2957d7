"""Fetches `robots.txt` of hosts and decides by it, for requests on the public web.

The file is fetched through the same path as the request: policy, addresses, redirects, pace,
retries. Its rules are kept in memory for a day. As RFC 9309 says, a file that does not exist (4xx)
allows everything, and one that cannot be fetched (5xx, no answer) allows nothing until it can be.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from carrel.exchange import Failure, FailureKind, FileHead, FileRefusedError, Headers, Outcome

from . import failures
from .clock import Clock
from .robots_rules import MAX_BYTES, RobotsRules
from .url import Target

#: Seconds that rules are kept, and that a file which cannot be fetched is not asked for again.
_FRESH_SECONDS: Final = 86_400.0
_AGAIN_SECONDS: Final = 60.0
#: Files that are kept, and the bytes that their rules may take.
_MOST_FILES: Final = 1024
_MOST_BYTES: Final = 8 * 2**20


class RobotsSink:
    """Receives a `robots.txt`, of which the first 500 KiB count; a `carrel.exchange.FileSink`."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.began = False
        self.is_full = False

    def range_headers(self) -> Headers:
        """Requests the whole file at every attempt."""
        return ()

    def begin(self, head: FileHead) -> None:
        """Begins anew; refuses a part of a file."""
        if head.offset:
            raise FileRefusedError("a part of the file was not requested")
        self.data.clear()
        self.began = True

    def write(self, piece: bytes) -> None:
        """Takes a piece; refuses the rest of a file that is longer than what counts."""
        self.data += piece[: MAX_BYTES - len(self.data)]
        if len(self.data) >= MAX_BYTES:
            self.is_full = True
            raise FileRefusedError("the rest of the file does not count")


#: Downloads a `robots.txt` into a sink.
FetchFile = Callable[[Target, RobotsSink], Awaitable[Outcome]]


class _Kept(NamedTuple):
    """The cached rules of a host's `robots.txt`, or why it cannot be fetched."""

    rules: RobotsRules | Failure
    until: float

    @property
    def size(self) -> int:
        return 100 if isinstance(self.rules, Failure) else 100 + self.rules.size


class Robots:
    """The rules of hosts; used on the event loop only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def refusal(self, target: Target, partition: str, fetch: FetchFile) -> Failure | None:
        """Returns why a request is not made; None if it may be.

        Args:
            target: of the request.
            partition: of its policy; partitions share no rules.
            fetch: downloads the file of the target's host.
        """
        rules = await self._rules(target, partition, fetch)
        if isinstance(rules, Failure):
            message = (
                f"no automatic request to {target.host} is made, because its robots.txt cannot be "
                f"fetched: {rules.message.removeprefix('refused: ')}"
            )
            if rules.kind is FailureKind.DENIED:
                message = f"refused: {message}"
            return rules._replace(url=failures.clean_url(target.url), message=message)
        if rules.allows(target):
            return None
        return failures.denied(
            target.url,
            "robots_disallowed",
            f"the robots.txt of {target.host} does not allow automatic requests for this address; "
            "a person can open it",
        )

    async def _rules(
        self, target: Target, partition: str, fetch: FetchFile
    ) -> RobotsRules | Failure:
        key = (partition, target.authority)
        found = self._cached(key)
        if found is not None:
            return found
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                found = self._cached(key)
                if found is None:
                    found = await self._fetched(target, fetch)
                    self._keep(key, found)
                return found
        finally:
            if not lock.locked():
                self._locks.pop(key, None)

    def _cached(self, key: tuple[str, str]) -> RobotsRules | Failure | None:
        entry = self._kept.get(key)
        if entry is None or entry.until <= self._clock.monotonic():
            return None
        self._kept.move_to_end(key)
        return entry.rules

    def _keep(self, key: tuple[str, str], rules: RobotsRules | Failure) -> None:
        seconds = _AGAIN_SECONDS if isinstance(rules, Failure) else _FRESH_SECONDS
        self._kept[key] = _Kept(rules, self._clock.monotonic() + seconds)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_FILES or (
            len(self._kept) > 1 and sum(entry.size for entry in self._kept.values()) > _MOST_BYTES
        ):
            self._kept.popitem(last=False)

    async def _fetched(self, target: Target, fetch: FetchFile) -> RobotsRules | Failure:
        sink = RobotsSink()
        outcome = await fetch(Target(target.host, "/robots.txt", port=target.port), sink)
        if isinstance(outcome, Failure):
            if sink.is_full:
                return await _parsed(bytes(sink.data))
            if outcome.reason == "too_many_redirects":
                return RobotsRules()
            return outcome
        if outcome.status == 200 and sink.began:
            return await _parsed(bytes(sink.data))
        if outcome.status >= 500:
            return failures.unreachable(
                outcome.url, f"{target.host} answers with status {outcome.status}; try again later"
            )
        return RobotsRules()


async def _parsed(data: bytes) -> RobotsRules:
    """Parses a file on another thread: one with many lines takes tens of milliseconds."""
    return await asyncio.to_thread(lambda: RobotsRules(data.decode("utf-8", "replace")))
