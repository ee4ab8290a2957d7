"""Tests an HTTP connection to servers that violate the protocol, or make it expensive."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from carrel.fetch.http1 import (
    MAX_HEAD_BYTES,
    MAX_HEAD_LINES,
    MAX_INFORMATIONAL,
    Head,
    HTTPConnection,
    LostError,
    MalformedError,
    SilentError,
    UnsendableError,
    WireError,
    WireRequest,
)
from carrel.fetch.scheduler import FairScheduler

OK = b"HTTP/1.1 200 OK\r\n"
EMPTY = OK + b"Content-Length: 0\r\n\r\n"


class Script:
    """A stream that returns given data in pieces, and then ends or stays silent."""

    def __init__(self, *pieces: bytes, ends: bool = True) -> None:
        self.pieces = list(pieces)
        self.ends = ends
        self.sent = b""
        self.reads = 0
        self.closed = False
        self.failing = False

    async def read(self) -> bytes:
        self.reads += 1
        if self.pieces:
            return self.pieces.pop(0)
        if not self.ends:
            await asyncio.Event().wait()
        return b""

    async def write(self, data: bytes) -> None:
        if self.failing:
            raise ConnectionResetError
        self.sent += data

    def unread(self) -> bool:
        return bool(self.pieces) or self.ends

    def close(self) -> None:
        self.closed = True


async def nothing() -> None:
    pass


def get(method: str = "GET", *headers: tuple[str, str], body: bytes = b"") -> WireRequest:
    return WireRequest(method, "api.example.org", "/x?y=1", headers, body)


def exchange(
    stream: Script, request: WireRequest | None = None, *, read_seconds: float = 10.0
) -> tuple[Head, bytes, bool]:
    """Returns the head, the body, and whether the connection can be used again."""

    async def run() -> tuple[Head, bytes, bool]:
        connection = HTTPConnection(stream, read_seconds=read_seconds)
        scheduler = FairScheduler()
        head = await connection.request(request or get(), scheduler, before_sending=nothing)
        body = b"".join([data async for data in connection.body(scheduler)])
        return head, body, connection.finish()

    return asyncio.run(run())


def chunked(*chunks: bytes) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + body


def test_a_request_is_sent_unchanged() -> None:
    stream = Script(EMPTY, ends=False)
    exchange(stream, get("POST", ("Accept", "a/b"), body=b"q=1"))
    assert stream.sent == (
        b"POST /x?y=1 HTTP/1.1\r\nHost: api.example.org\r\nAccept: a/b\r\n"
        b"Content-Length: 3\r\n\r\nq=1"
    )


@pytest.mark.parametrize(
    "wire",
    [
        OK + b"Content-Length: 5\r\n\r\nhello",
        chunked(b"he", b"llo"),
        b"HTTP/1.0 200 OK\nContent-Length: 5\n\nhello",
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        + OK
        + b"Content-Length: 5\r\n\r\nhello",
    ],
    ids=["length", "chunked", "bare-newlines", "informational"],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_response_is_read_in_pieces_of_any_size(wire: bytes, size: int) -> None:
    pieces = [wire[start : start + size] for start in range(0, len(wire), size)]
    head, body, again = exchange(Script(*pieces, ends=False))
    assert (head.status, body) == (200, b"hello")
    assert again == (b"HTTP/1.1" in wire)


def test_a_body_without_length_ends_with_the_connection() -> None:
    head, body, again = exchange(Script(OK + b"\r\n", b"hello"))
    assert (head.status, body, again) == (200, b"hello", False)


@pytest.mark.parametrize(
    ("wire", "says"),
    [
        (b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", "version"),
        (b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", "version"),
        (OK + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "two ways"),
        (OK + b"Transfer-Encoding: chunked\r\ncontent-length: 1\r\n\r\n0\r\n\r\n", "two ways"),
        (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "rules"),
        (OK + b"Content-Length: -1\r\n\r\n", "rules"),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "rules"),
        (b"HTTP/1.1 302 Found\r\nLocation: /a\r\nlocation: /b\r\n\r\n", "two places"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "rules"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * (MAX_INFORMATIONAL + 1) + EMPTY, "never begins"),
        (OK + b"A: " + b"x" * MAX_HEAD_BYTES + b"\r\n\r\n", "too long"),
        (OK + b"A:\r\n" * MAX_HEAD_LINES + b"\r\n", "too long"),
        (b"HTTP/1.1 100 C\r\n" + b"A:\r\n" * 250 + b"\r\n" + EMPTY * 9, ""),
        (b"<html>no HTTP</html>\r\n\r\n", "rules"),
        (OK + b"Bad Name: x\r\n\r\n", "rules"),
    ],
)
@pytest.mark.parametrize("size", [3, 16_384])
def test_an_answer_that_breaks_a_rule_is_refused(wire: bytes, says: str, size: int) -> None:
    pieces = [wire[start : start + size] for start in range(0, len(wire), size)]
    if not says:
        assert exchange(Script(*pieces, ends=False))[0].status == 200
        return
    with pytest.raises(MalformedError, match=says):
        exchange(Script(*pieces, ends=False))


@pytest.mark.parametrize(
    "wire",
    [b"", b"HTTP/1.1 20", OK + b"Content-Length: 9\r\n\r\nhel", chunked(b"hello")[:-7]],
)
def test_an_answer_that_is_cut_is_lost(wire: bytes) -> None:
    with pytest.raises(LostError):
        exchange(Script(wire) if wire else Script())


@pytest.mark.parametrize(
    "wire", [b"", b"HTTP/1.1 200 OK\r\n", OK + b"Content-Length: 9\r\n\r\nhel"]
)
def test_a_server_that_stops_is_silent(wire: bytes) -> None:
    pieces = [wire] if wire else []
    with pytest.raises(SilentError):
        exchange(Script(*pieces, ends=False), read_seconds=0.2)


@pytest.mark.requirement("sandbox:limits:slow-head")
def test_a_head_that_arrives_byte_by_byte_times_out() -> None:
    class Slow(Script):
        async def read(self) -> bytes:
            await asyncio.sleep(0.05)
            return await super().read()

    slow = Slow(*[b"x"] * 1000, ends=False)
    with pytest.raises(SilentError):
        exchange(slow, read_seconds=0.2)
    assert slow.reads < 10


def test_invalid_http_is_never_sent() -> None:
    stream = Script(EMPTY)
    with pytest.raises(UnsendableError) as caught:
        exchange(stream, get("GET", ("Accept", "blank at the end ")))
    assert not caught.value.maybe_sent
    assert stream.sent == b""
    assert WireError.maybe_sent


def test_a_response_is_read_when_the_server_closes_during_the_body() -> None:
    stream = Script(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
    stream.failing = True
    head, body, again = exchange(stream, get("POST", body=b"x" * 9))
    assert (head.status, body, again) == (413, b"no", False)


@pytest.mark.parametrize("leftover", [b"x", b"\r\n", EMPTY], ids=["byte", "blank-line", "second"])
@pytest.mark.parametrize("together", [True, False], ids=["read", "unread"])
def test_a_connection_with_unread_bytes_is_not_reused(leftover: bytes, together: bool) -> None:
    wire = OK + b"Content-Length: 2\r\n\r\nok"
    pieces = [wire + leftover] if together else [wire, leftover]
    assert exchange(Script(*pieces, ends=False))[1:] == (b"ok", False)
    assert exchange(Script(wire, ends=False))[1:] == (b"ok", True)


class TestCost:
    """Tests the work that a server can cause on the event loop."""

    @pytest.mark.requirement("serve:alive:tiny-chunks")
    def test_an_endless_body_of_tiny_chunks_is_refused(self) -> None:
        chunk = b"1\r\nx\r\n" * 2000
        stream = Script(OK + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 1000)
        with pytest.raises(MalformedError, match="pieces"):
            exchange(stream)
        assert stream.reads < 30

    @pytest.mark.requirement("serve:alive:tiny-chunks")
    def test_a_body_that_is_mostly_framing_is_refused(self) -> None:
        chunk = b"1;%s\r\nx\r\n" % (b"x" * 15_000)
        stream = Script(OK + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 5000)
        with pytest.raises(MalformedError, match="framing"):
            exchange(stream)
        assert stream.reads < 200

    def test_a_large_body_of_lines_in_chunks_is_read(self) -> None:
        chunk = (b"1e\r\n" + b"x" * 30 + b"\r\n") * 400
        stream = Script(OK + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 250, b"0\r\n\r\n")
        assert len(exchange(stream)[1]) == 30 * 400 * 250

    @pytest.mark.requirement("serve:alive:turns-of-the-loop")
    @pytest.mark.parametrize(
        "pieces",
        [
            [OK + b"Transfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n" * 2000] * 4],
            [OK + b"Content-Length: 8000\r\n\r\n", *[b"x"] * 8000],
            [b"HTTP/1.1 100 Continue\r\n\r\n"] * MAX_INFORMATIONAL
            + [OK + b"Content-Length: 2\r\n\r\nxx"],
        ],
        ids=["chunks", "records", "informational"],
    )
    def test_other_plugins_make_progress_while_an_expensive_response_is_read(
        self, pieces: list[bytes]
    ) -> None:
        """All data is available at once, so others run only if the reader yields."""
        turns = 0

        async def neighbour() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async def run() -> None:
            watching = asyncio.create_task(neighbour())
            connection = HTTPConnection(Script(*pieces), read_seconds=5)
            # Each read of the CPU clock advances it by 20 us.
            ticks = itertools.count()
            scheduler = FairScheduler(processor=lambda: next(ticks) * 20e-6)

            async def read() -> None:
                await connection.request(get(), scheduler, before_sending=nothing)
                try:
                    async for _ in connection.body(scheduler):
                        pass
                except LostError:
                    pass

            await scheduler.run("", read())
            watching.cancel()

        asyncio.run(run())
        assert turns >= sum(map(len, pieces)) // 200 if len(pieces) < 100 else turns >= 700
