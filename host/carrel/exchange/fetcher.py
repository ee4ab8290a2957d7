"""The interface between the sandbox and the network, which `fetch` implements."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

from .call import CacheHit, Call
from .request import Outcome, Request


class Verdict(StrEnum):
    """Whether a plugin could read the responses that a call fetched; decides how they are cached.

    `READ`: cached as long as the manifest says. `ABSENT`: the plugin read that an item does not
    exist, so cached for minutes only. `UNREADABLE`: the call failed, so not cached.
    """

    READ = "read"
    ABSENT = "absent"
    UNREADABLE = "unreadable"


class Fetcher(Protocol):
    """Makes requests under one plugin's policy: over the network, recording, or replaying.

    Thread-safe: worker threads call it concurrently.
    """

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Makes the requests, concurrently where pace allows, and returns their outcomes in order.

        Never raises for what an upstream or a policy does: that is a `Failure`. Charges the
        call's budgets. When an error ends the call, sets `call.fatal` and returns failures for the
        remaining requests. Calls `call.waits()` before it waits for an upstream.
        """
        ...


@runtime_checkable
class AnswerSettler(Protocol):
    """A fetcher that caches responses once a plugin could read them."""

    def settle(self, call: Call, verdict: Verdict) -> None:
        """Makes the responses that a call fetched available to other calls, or drops them.

        A response with status 200 may be a proxy's page, a gateway's report or half a document,
        which only the plugin can detect. No other call receives a response before its verdict.

        Args:
            call: one whose guest has ended.
            verdict: of the plugin on its responses.
        """
        ...


@runtime_checkable
class AnswerDiscarder(Protocol):
    """A fetcher that removes a cached response when a plugin asks for it."""

    def discard(self, call: Call, request: Request) -> None:
        """Removes the cached responses that a call has received for a request.

        Without effect for a request that the call has not made.

        Args:
            call: one whose guest runs.
            request: as the guest made it.
        """
        ...


@runtime_checkable
class QueueReporter(Protocol):
    """A fetcher that counts waiting requests."""

    def waiting(self) -> int:
        """Returns how many requests of the plugin wait for a slot or a response."""
        ...


@runtime_checkable
class CacheHitChecker(Protocol):
    """A fetcher that can check whether earlier cache hits would still be hits."""

    def still_cached(self, hits: Sequence[CacheHit], version: object) -> object:
        """Checks that a call would receive the same responses from the cache now.

        Args:
            hits: responses of an earlier call.
            version: what the previous check returned, which makes this one quick; None at the
                first.

        Returns:
            A version for the next check; None when a response was removed, replaced or is stale.
        """
        ...
