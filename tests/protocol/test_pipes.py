"""Tests both ways to read and write a pipe: by the event loop, and by a thread."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from carrel.server.pipes import (
    ByteSink,
    ByteSource,
    EventSink,
    EventSource,
    ThreadSink,
    ThreadSource,
)

MakeSource = Callable[[asyncio.AbstractEventLoop, int], ByteSource]
MakeSink = Callable[[asyncio.AbstractEventLoop, int], ByteSink]

posix = pytest.mark.skipif(os.name != "posix", reason="the loop cannot wait for a pipe there")
sources = pytest.mark.parametrize(
    "make", [pytest.param(EventSource, marks=posix), ThreadSource], ids=["event", "thread"]
)
sinks = pytest.mark.parametrize(
    "make", [pytest.param(EventSink, marks=posix), ThreadSink], ids=["event", "thread"]
)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for fd in (reading, writing):
        try:
            os.close(fd)
        except OSError:
            pass  # the test has closed it


@sources
def test_a_source_passes_on_every_byte_and_then_the_end(
    make: MakeSource, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe
    data = bytes(range(256)) * 4000

    def write() -> None:
        with os.fdopen(writing, "wb") as stream:
            stream.write(data)

    async def run() -> bytes:
        found: list[bytes] = []
        ended = asyncio.Event()
        make(asyncio.get_running_loop(), reading).start(found.append, ended.set)
        threading.Thread(target=write).start()
        await asyncio.wait_for(ended.wait(), 20)
        return b"".join(found)

    assert asyncio.run(run()) == data


@sources
def test_a_paused_source_leaves_the_rest_in_the_pipe(
    make: MakeSource, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe

    async def run() -> None:
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        found: list[bytes] = []

        def take(chunk: bytes) -> None:
            found.append(chunk)
            source.pause()
            arrived.set()

        source = make(loop, reading)
        source.start(take, lambda: None)
        os.write(writing, b"one")
        await asyncio.wait_for(arrived.wait(), 20)
        arrived.clear()
        os.write(writing, b"two")
        source.resume()
        await asyncio.wait_for(arrived.wait(), 20)
        # A thread may already be in its next read when it is paused; no data is lost.
        assert b"".join(found) == b"onetwo"
        source.close()

    asyncio.run(run())


@sinks
def test_a_sink_keeps_order_and_writes_more_than_the_pipe_can_hold(
    make: MakeSink, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe
    lines = [bytes([65 + number % 26]) * (number * 997) + b"\n" for number in range(100)]
    found: list[bytes] = []

    def read() -> None:
        with os.fdopen(reading, "rb") as stream:
            found.append(stream.read())

    async def run() -> None:
        empty = asyncio.Event()
        sink = make(asyncio.get_running_loop(), writing)
        sink.start(lambda: empty.set() if sink.pending == 0 else None, lambda: None)
        for line in lines:
            sink.write(line)
        # More than a pipe's buffer, and no reader yet: the data is queued, `write` does not block.
        assert sink.pending > 1_000_000
        reader.start()
        await asyncio.wait_for(empty.wait(), 20)
        sink.close()

    reader = threading.Thread(target=read)
    asyncio.run(run())
    os.close(writing)
    reader.join(20)
    assert found == [b"".join(lines)]


@sinks
def test_a_sink_reports_a_closed_reader_once(make: MakeSink, pipe: tuple[int, int]) -> None:
    reading, writing = pipe

    async def run() -> None:
        broken: list[int] = []
        notified = asyncio.Event()

        def on_broken() -> None:
            broken.append(1)
            notified.set()

        sink = make(asyncio.get_running_loop(), writing)
        sink.start(lambda: None, on_broken)
        os.close(reading)
        sink.write(b"x")
        await asyncio.wait_for(notified.wait(), 20)
        sink.write(b"y")
        assert sink.pending == 0
        sink.watch()
        await asyncio.sleep(0)
        assert broken == [1]

    asyncio.run(run())


@posix
def test_a_watched_sink_detects_a_closed_reader_without_a_write(pipe: tuple[int, int]) -> None:
    reading, writing = pipe

    async def run() -> None:
        notified = asyncio.Event()
        sink = EventSink(asyncio.get_running_loop(), writing)
        sink.start(lambda: None, notified.set)
        sink.watch()
        await asyncio.sleep(0.05)
        assert not notified.is_set()
        os.close(reading)
        await asyncio.wait_for(notified.wait(), 20)
        assert sink.pending == 0

    asyncio.run(run())


@posix
def test_a_watched_socket_on_which_the_client_sends_is_not_taken_for_broken() -> None:
    ours, theirs = socket.socketpair()

    async def run() -> None:
        broken: list[int] = []
        sink = EventSink(asyncio.get_running_loop(), ours.fileno())
        sink.start(lambda: None, lambda: broken.append(1))
        sink.watch()
        theirs.send(b"anything")
        await asyncio.sleep(0.05)
        sink.write(b"an answer")
        assert theirs.recv(64) == b"an answer"
        assert broken == []
        sink.close()

    with ours, theirs:
        asyncio.run(run())
