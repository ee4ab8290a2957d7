"""Fetchers that record exchanges to a folder, or replay them from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.errors import NotRecordedError, StorageError
from carrel.exchange import (
    AnswerDiscarder,
    AnswerSettler,
    Call,
    Failure,
    FailureKind,
    Fetcher,
    Outcome,
    QueueReporter,
    Request,
    Response,
    Verdict,
)

from . import failures
from .pending_request import charge_bytes, charge_requests
from .policy.rules import Policy, check_headers
from .recording import Recordings
from .url import UrlFault, parse_url


class RecordingFetcher:
    """Passes requests on and writes each exchange to a folder, without secrets.

    Recording the same request again replaces its files. Failures because the call was cancelled or
    exceeded a budget say nothing about the upstream and are not written.

    Args:
        inner: the fetcher that makes the requests; it has removed what the host attached.
        recordings: the folder, shared by the fetchers of all plugins.
    """

    def __init__(self, inner: Fetcher, recordings: Recordings | Path) -> None:
        self._inner = inner
        self._recordings = (
            Recordings(recordings, create=True) if isinstance(recordings, Path) else recordings
        )

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Makes the requests and records the outcomes; see `carrel.exchange.Fetcher`."""
        outcomes = self._inner.fetch_all(requests, call)
        if call.cancelled or call.fatal is not None:
            return outcomes
        for request, outcome in zip(requests, outcomes, strict=True):
            try:
                self._recordings.keep(request, outcome)
            except StorageError as fault:
                # A recording with gaps would fail later, at a replay; fail now.
                call.fatal = fault
                break
        return outcomes

    def waiting(self) -> int:
        """See `carrel.exchange.QueueReporter`."""
        return self._inner.waiting() if isinstance(self._inner, QueueReporter) else 0

    def discard(self, call: Call, request: Request) -> None:
        """See `carrel.exchange.AnswerDiscarder`."""
        if isinstance(self._inner, AnswerDiscarder):
            self._inner.discard(call, request)

    def settle(self, call: Call, verdict: Verdict) -> None:
        """See `carrel.exchange.AnswerSettler`."""
        if isinstance(self._inner, AnswerSettler):
            self._inner.settle(call, verdict)


class ReplayingFetcher:
    """Answers requests from a folder of recorded exchanges only.

    A request that was not recorded ends the call with `NotRecordedError`: a replay must not look
    like a source without results.

    Args:
        recordings: the folder, or its exchanges.
        policy: refuses requests and redirects as over the network; None refuses nothing.

    Raises:
        StorageError: the folder cannot be read or is no recording.
    """

    def __init__(self, recordings: Recordings | Path, policy: Policy | None = None) -> None:
        self._recordings = Recordings(recordings) if isinstance(recordings, Path) else recordings
        self._policy = policy

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Finds the recorded outcomes; see `carrel.exchange.Fetcher`."""
        if call.fatal is not None or not charge_requests(call, len(requests)):
            return [failures.not_made(request.url) for request in requests]
        return [self._replay(request, call) for request in requests]

    def _refusal(self, request: Request) -> Failure | None:
        """Returns why policy refuses a request; None if it does not."""
        if self._policy is None:
            return None
        target = parse_url(request.url)
        if isinstance(target, UrlFault):
            return failures.denied(request.url, target.reason, target.message)
        allowed = self._policy.check(request.method, target)
        return (
            allowed if isinstance(allowed, Failure) else check_headers(target.url, request.headers)
        )

    def _replay(self, request: Request, call: Call) -> Outcome:
        refusal = self._refusal(request)
        if refusal is not None:
            call.denial = refusal
            return refusal
        try:
            outcome = self._recordings.find(request)
        except StorageError as fault:
            call.fatal = call.fatal or fault
            return failures.unreachable(request.url, "the recording cannot be read")
        if outcome is None:
            call.fatal = call.fatal or NotRecordedError(
                request.method, failures.clean_url(request.url), str(self._recordings.directory)
            )
            return failures.unreachable(request.url, "the request was not recorded")
        if isinstance(outcome, Response):
            refusal = self._refusal(
                Request("HEAD" if request.method == "HEAD" else "GET", outcome.url)
            )
            if outcome.url != request.url and refusal is not None:
                call.denial = refusal
                return refusal
            if outcome.size > call.limits.response_bytes:
                return failures.too_large(request.url, "the recording", call.limits.response_bytes)
            charge_bytes(call, outcome.size)
        elif outcome.kind is FailureKind.DENIED:
            call.denial = outcome
        return outcome
