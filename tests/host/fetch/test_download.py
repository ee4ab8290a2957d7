"""Downloads: files that are received piece by piece under a policy, resumed, refused, recorded."""

from __future__ import annotations

import gzip
import hashlib
import threading
from pathlib import Path

import pytest

from carrel.errors import NotRecordedError
from carrel.exchange import (
    Failure,
    FailureKind,
    FileFetcher,
    FileHead,
    FileRefusedError,
    Headers,
    Outcome,
    Response,
)
from carrel.fetch.policy.rules import Policy
from carrel.fetch.record import RecordingFetcher, ReplayingFetcher
from support.fetch_harness import ARXIV, RULES, FetchHarness, MakeHarness, until
from support.upstream import Reply, Seen, Upstream

URL = f"https://{ARXIV}/pdf/2401.00001"
PDF = b"%PDF-1.7 " + bytes(range(256)) * 4000


class MemorySink:
    """Keeps a file in memory, for tests; resumes with `etag`."""

    def __init__(self, *, cap: int = 10**9, resumes: bool = True) -> None:
        self.data = bytearray()
        self.heads: list[FileHead] = []
        self.largest = 0
        self.threads: set[str] = set()
        self.cap = cap
        self._resumes = resumes
        self._tag = ""

    def range_headers(self) -> Headers:
        if not self.data or not self._resumes or not self._tag:
            return ()
        return (("Range", f"bytes={len(self.data)}-"), ("If-Range", self._tag))

    def begin(self, head: FileHead) -> None:
        self.heads.append(head)
        self._tag = head.headers.get("etag", "")
        if head.offset not in {0, len(self.data)}:
            raise FileRefusedError("another part than was requested")
        if head.offset == 0:
            self.data.clear()

    def write(self, piece: bytes) -> None:
        self.threads.add(threading.current_thread().name)
        self.largest = max(self.largest, len(piece))
        self.data += piece
        if len(self.data) > self.cap:
            raise FileRefusedError("too large")


def download(
    harness: FetchHarness, sink: MemorySink, url: str = URL, *, seconds: float = 30
) -> Outcome:
    assert isinstance(harness.fetcher, FileFetcher)
    call = harness.call(seconds, response_bytes=1000, fetched_bytes=1000)
    return harness.fetcher.download(url, sink, call, accept="application/pdf")


def test_a_file_larger_than_any_budget_of_bytes_is_received_in_pieces(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/pdf/2401.00001", Reply(body=PDF, headers=[("Content-Type", "application/pdf")]))
    sink = MemorySink()
    outcome = download(harness, sink)
    assert isinstance(outcome, Response)
    assert outcome.status == 200
    assert outcome.body == ""
    assert bytes(sink.data) == PDF
    assert sink.heads[0].size == len(PDF)
    assert sink.largest < 300 * 1024
    assert all(name.startswith("carrel-download") for name in sink.threads)
    seen = upstream.seen[0].headers
    assert seen["accept"] == "application/pdf"
    assert seen["accept-encoding"] == "identity"


def test_a_broken_connection_is_resumed_where_it_broke(
    harness: FetchHarness, upstream: Upstream
) -> None:
    tag = ("ETag", '"one"')
    half = len(PDF) // 2

    def rest(seen: Seen) -> Reply:
        first = int(seen.headers["range"].removeprefix("bytes=").removesuffix("-"))
        assert seen.headers["if-range"] == '"one"'
        content_range = f"bytes {first}-{len(PDF) - 1}/{len(PDF)}"
        return Reply(206, [tag, ("Content-Range", content_range)], PDF[first:])

    upstream.on("/pdf/2401.00001", Reply(body=PDF, headers=[tag], cut=half), rest)
    sink = MemorySink()
    assert isinstance(download(harness, sink), Response)
    assert bytes(sink.data) == PDF
    assert sink.heads[1].offset > 0
    assert sink.heads[1].size == len(PDF)


def test_a_server_that_cannot_resume_sends_the_whole_file_again(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/pdf/2401.00001", Reply(body=PDF, cut=1000), Reply(body=PDF))
    sink = MemorySink()
    assert isinstance(download(harness, sink), Response)
    assert bytes(sink.data) == PDF
    assert "range" not in upstream.seen[1].headers


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Content-Range", "bytes 5-9/100")],
        [("Content-Range", "items 0-9/100")],
        [("Content-Range", "bytes 0-9/100"), ("Content-Encoding", "gzip")],
    ],
)
def test_a_part_that_was_not_requested_is_refused(
    harness: FetchHarness, upstream: Upstream, headers: list[tuple[str, str]]
) -> None:
    upstream.on("/pdf/2401.00001", Reply(206, headers, b"%PDF-1.7 x"))
    outcome = download(harness, MemorySink())
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.UNDECODABLE
    assert len(upstream.seen) == 1


def test_a_file_that_the_sink_refuses_ends_the_request(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/pdf/2401.00001", Reply(body=PDF))
    outcome = download(harness, MemorySink(cap=100))
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.UNDECODABLE
    assert "too large" in outcome.message
    assert len(upstream.seen) == 1
    until(lambda: upstream.open_connections == 0)


def test_a_compressed_file_is_unpacked(harness: FetchHarness, upstream: Upstream) -> None:
    packed = Reply(body=gzip.compress(PDF), headers=[("Content-Encoding", "gzip")])
    upstream.on("/pdf/2401.00001", packed)
    sink = MemorySink()
    assert isinstance(download(harness, sink), Response)
    assert bytes(sink.data) == PDF
    assert sink.heads[0].size is None


def test_a_bomb_is_not_unpacked(harness: FetchHarness, upstream: Upstream) -> None:
    bomb = gzip.compress(gzip.compress(b"\0" * 2**26))
    upstream.on(
        "/pdf/2401.00001",
        Reply(body=gzip.compress(b"\0" * 2**26), headers=[("Content-Encoding", "gzip")]),
        Reply(body=bomb, headers=[("Content-Encoding", "gzip, gzip")]),
    )
    for _ in range(2):
        outcome = download(harness, MemorySink())
        assert isinstance(outcome, Failure)


def test_other_statuses_keep_their_text_and_pass_no_byte_to_the_sink(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/pdf/2401.00001", Reply(404, [("Content-Type", "text/plain")], b"no such paper"))
    sink = MemorySink()
    outcome = download(harness, sink)
    assert isinstance(outcome, Response)
    assert (outcome.status, outcome.body) == (404, "no such paper")
    assert not sink.heads


def test_redirects_of_downloads_are_checked(harness: FetchHarness, upstream: Upstream) -> None:
    elsewhere = Reply(302, [("Location", "https://elsewhere.example/x.pdf")])
    upstream.on("/pdf/2401.00001", elsewhere)
    sink = MemorySink()
    outcome = download(harness, sink)
    assert isinstance(outcome, Failure)
    assert outcome.reason == "host_not_declared"
    assert not sink.heads


def test_downloads_of_one_url_are_neither_shared_nor_cached(
    harness: FetchHarness, upstream: Upstream
) -> None:
    hold = threading.Event()
    upstream.on("/pdf/2401.00001", Reply(body=PDF, hold=hold), Reply(body=PDF))
    sinks = [MemorySink(), MemorySink()]
    threads = [threading.Thread(target=download, args=(harness, sink)) for sink in sinks]
    for thread in threads:
        thread.start()
    until(lambda: len(upstream.seen) == 2)
    hold.set()
    for thread in threads:
        thread.join()
    assert [hashlib.sha256(sink.data).digest() for sink in sinks] == (
        [hashlib.sha256(PDF).digest()] * 2
    )
    assert isinstance(download(harness, MemorySink()), Response)
    assert len(upstream.seen) == 3


def test_a_sink_that_hangs_holds_up_no_other_request(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    harness = make_harness()
    release = threading.Event()

    class Hanging(MemorySink):
        def write(self, piece: bytes) -> None:
            release.wait(10)
            super().write(piece)

    upstream.on("/pdf/2401.00001", Reply(body=PDF))
    upstream.on("/api/query", Reply(body=b"<feed/>"))
    sink = Hanging()
    thread = threading.Thread(target=download, args=(harness, sink))
    thread.start()
    until(lambda: bool(sink.heads))
    assert harness.answer("/api/query").body == "<feed/>"
    release.set()
    thread.join()
    assert bytes(sink.data) == PDF


def test_a_cancelled_download_ends_at_once(harness: FetchHarness, upstream: Upstream) -> None:
    upstream.on("/pdf/2401.00001", Reply(body=PDF, drip=0.05))
    call = harness.call()
    sink = MemorySink()
    outcomes: list[Outcome] = []
    assert isinstance(harness.fetcher, FileFetcher)
    fetcher = harness.fetcher
    thread = threading.Thread(target=lambda: outcomes.append(fetcher.download(URL, sink, call)))
    thread.start()
    until(lambda: bool(sink.heads))
    call.cancel()
    thread.join(5)
    assert isinstance(outcomes[0], Failure)
    assert "cancelled" in outcomes[0].message


def test_a_download_is_recorded_and_replayed(
    harness: FetchHarness, upstream: Upstream, tmp_path: Path
) -> None:
    folder = tmp_path / "exchanges"
    upstream.on("/pdf/2401.00001", Reply(body=PDF, headers=[("Content-Type", "application/pdf")]))
    upstream.on("/pdf/gone", Reply(404, [("Content-Type", "text/plain")], b"gone"))
    gone = URL.replace("2401.00001", "gone")
    recording = FetchHarness(harness.client, RecordingFetcher(harness.fetcher, folder))
    for url in (URL, gone):
        assert isinstance(download(recording, MemorySink(), url), Response)
    [kept] = folder.glob("*.pdf")
    assert kept.read_bytes() == PDF

    policy = Policy("arxiv", RULES)
    replaying = FetchHarness(harness.client, ReplayingFetcher(folder, policy))
    sink = MemorySink()
    call = harness.call(fetched_bytes=10**8, response_bytes=10**8)
    assert isinstance(replaying.fetcher, FileFetcher)
    outcome = replaying.fetcher.download(URL, sink, call, accept="application/pdf")
    assert isinstance(outcome, Response)
    assert bytes(sink.data) == PDF
    response = replaying.fetcher.download(gone, MemorySink(), call, accept="application/pdf")
    assert isinstance(response, Response)
    assert (response.status, response.body) == (404, "gone")
    replaying.fetcher.download(f"{URL}2", MemorySink(), call)
    assert isinstance(call.fatal, NotRecordedError)


def test_a_refused_file_is_recorded_as_far_as_it_came(
    harness: FetchHarness, upstream: Upstream, tmp_path: Path
) -> None:
    folder = tmp_path / "exchanges"
    upstream.on("/pdf/2401.00001", Reply(body=PDF))
    recording = FetchHarness(harness.client, RecordingFetcher(harness.fetcher, folder))
    assert isinstance(download(recording, MemorySink(cap=10)), Failure)
    replaying = ReplayingFetcher(folder)
    outcome = replaying.download(URL, MemorySink(cap=10), harness.call(), accept="application/pdf")
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.UNDECODABLE
