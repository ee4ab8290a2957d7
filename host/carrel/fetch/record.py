"""Fetchers that record exchanges to a folder, or replay them from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from carrel.errors import NotRecordedError, StorageError
from carrel.exchange import (
    FILE_STATUSES,
    AnswerDiscarder,
    AnswerSettler,
    Call,
    Failure,
    FailureKind,
    Fetcher,
    FileFetcher,
    FileHead,
    FileRefusedError,
    FileSink,
    Headers,
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

#: Bytes of a recorded file that a sink is given at once.
_PIECE = 256 * 1024


def _download_request(url: str, accept: str) -> Request:
    return Request("GET", url, (("accept", accept),))


class _CopyingSink:
    """Keeps a copy of what passes to another sink, in memory: recordings are small."""

    def __init__(self, inner: FileSink) -> None:
        self._inner = inner
        self.head: FileHead | None = None
        self.data = bytearray()
        self.refused = False

    def range_headers(self) -> Headers:
        """Returns none: a recording has whole files."""
        return ()

    def begin(self, head: FileHead) -> None:
        """See `carrel.exchange.FileSink`."""
        self.head, self.data = head, bytearray()
        self._refusable(lambda: self._inner.begin(head))

    def write(self, piece: bytes) -> None:
        """See `carrel.exchange.FileSink`."""
        self.data += piece
        self._refusable(lambda: self._inner.write(piece))

    def _refusable(self, act: Callable[[], None]) -> None:
        try:
            act()
        except FileRefusedError:
            self.refused = True
            raise


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

    def download(self, url: str, sink: FileSink, call: Call, *, accept: str = "*/*") -> Outcome:
        """Downloads a file and records it; see `carrel.exchange.FileFetcher`.

        A file that the sink refuses is recorded as far as it was received.
        """
        if not isinstance(self._inner, FileFetcher):
            return failures.unreachable(url, "this plugin's requests are not downloads")
        copy = _CopyingSink(sink)
        outcome = self._inner.download(url, copy, call, accept=accept)
        if call.cancelled or call.fatal is not None:
            return outcome
        recorded, file = outcome, None
        if copy.head is not None and (copy.refused or isinstance(outcome, Response)):
            headers, file = tuple(copy.head.headers.items()), bytes(copy.data)
            recorded = Response(200, copy.head.url, headers, "", copy.head.size or len(file))
        try:
            self._recordings.keep(_download_request(url, accept), recorded, file)
        except StorageError as fault:
            call.fatal = fault
        return outcome

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
        outcomes = [self._replay(request, call) for request in requests]
        return [
            self._charged(outcome, call) if isinstance(outcome, Response) else outcome
            for outcome in outcomes
        ]

    def download(self, url: str, sink: FileSink, call: Call, *, accept: str = "*/*") -> Outcome:
        """Passes a recorded file to the sink; see `carrel.exchange.FileFetcher`."""
        request = _download_request(url, accept)
        if call.has_ended() or not charge_requests(call, 1):
            return failures.not_made(url)
        outcome = self._replay(request, call)
        if not isinstance(outcome, Response) or outcome.status not in FILE_STATUSES:
            return outcome if isinstance(outcome, Failure) else self._charged(outcome, call)
        try:
            path = self._recordings.find_file(request)
            data = b"" if path is None else path.read_bytes()
        except (OSError, StorageError) as fault:
            call.fatal = call.fatal or StorageError(str(self._recordings.directory), str(fault))
            return failures.unreachable(url, "the recording cannot be read")
        try:
            sink.begin(FileHead(outcome.url, dict(outcome.headers), 0, outcome.size))
            for start in range(0, len(data), _PIECE):
                sink.write(data[start : start + _PIECE])
        except FileRefusedError as fault:
            return failures.undecodable(url, "the recording", str(fault))
        return Response(outcome.status, outcome.url, outcome.headers, "")

    def _refusal(self, request: Request) -> Failure | None:
        """Returns why policy refuses a request; None if it does not."""
        if self._policy is None:
            return None
        on_the_web = self._policy.public_web is not None
        target = parse_url(request.url, upgrade=on_the_web, any_port=on_the_web)
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
        elif outcome.kind is FailureKind.DENIED:
            call.denial = outcome
        return outcome

    def _charged(self, outcome: Response, call: Call) -> Outcome:
        """Charges the call's budgets of bytes."""
        if outcome.size > call.limits.response_bytes:
            return failures.too_large(outcome.url, "the recording", call.limits.response_bytes)
        charge_bytes(call, outcome.size)
        return outcome
