"""Upstreams for fixtures: recorded answers, behind the manifest's own policy.

A replay alone would answer whatever was recorded. An operator's host first asks whether the
manifest declares the host, the method and the path; so do fixtures, or a plugin would pass its
tests and be denied by everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.errors import NotRecordedError
from carrel.exchange import Call, Failure, Fetcher, Outcome, Request
from carrel.fetch import failures
from carrel.fetch.policy.rules import Policy, check_headers
from carrel.fetch.record import ReplayingFetcher
from carrel.fetch.recording import Recordings
from carrel.fetch.url import UrlFault, parse_url


class DeclaredFetcher:
    """Refuses what the manifest does not declare, and passes on the rest.

    Args:
        policy: of the manifest, with everything granted that it declares.
        inner: answers what is allowed.
    """

    def __init__(self, policy: Policy, inner: Fetcher) -> None:
        self._policy = policy
        self._inner = inner

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Checks each request, then makes it; see `carrel.exchange.Fetcher`."""
        outcomes: list[Outcome] = []
        for request in requests:
            refusal = self._refusal(request)
            if refusal is not None:
                call.denial = refusal
                outcomes.append(refusal)
            else:
                outcomes += self._inner.fetch_all([request], call)
        return outcomes

    def _refusal(self, request: Request) -> Failure | None:
        target = parse_url(request.url, upgrade=self._policy.public_web is not None)
        if isinstance(target, UrlFault):
            return failures.denied(request.url, target.reason, target.message)
        rule = self._policy.check(request.method, target)
        if isinstance(rule, Failure):
            return rule
        return check_headers(target.url, request.headers)


class NothingRecorded:
    """The upstreams of a case without exchanges: every request ends the call.

    Args:
        folder: where exchanges would be, for the error.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Ends the call; see `carrel.exchange.Fetcher`."""
        for request in requests:
            call.fatal = call.fatal or NotRecordedError(
                request.method, failures.clean_url(request.url), str(self._folder)
            )
        return [failures.not_made(request.url) for request in requests]


def replaying(policy: Policy, recordings: Recordings | None, folder: Path) -> Fetcher:
    """Returns the upstreams of a case.

    Args:
        policy: of the manifest, with everything granted that it declares.
        recordings: the case's exchanges; None when it has none.
        folder: where they are or would be.
    """
    inner: Fetcher = ReplayingFetcher(recordings) if recordings else NothingRecorded(folder)
    return DeclaredFetcher(policy, inner)
