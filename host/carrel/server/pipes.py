"""Reads and writes pipes from the event loop.

If the loop can wait for a descriptor, no thread is used. If it cannot (Windows, regular files, a
terminal whose mode other processes share), a thread makes the blocking calls. Both pass whole
chunks; `frames` splits lines.
"""

# ByteSource and ByteSink document the methods.
# ruff: noqa: D102

from __future__ import annotations

import asyncio
import os
import queue
import select
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

_CHUNK = 64 * 1024


class ByteSource(Protocol):
    """Reads bytes from a pipe."""

    def start(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """Starts reading; both callbacks run on the event loop."""
        ...

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def close(self) -> None:
        """Stops reading; neither callback runs again."""
        ...


class ByteSink(Protocol):
    """Writes bytes to a pipe, in order."""

    @property
    def pending(self) -> int:
        """The number of bytes that the pipe has not accepted yet."""
        ...

    def start(self, on_progress: Callable[[], None], on_broken: Callable[[], None]) -> None:
        """Sets the callbacks for progress and for a broken pipe."""
        ...

    def write(self, data: bytes) -> None:
        """Writes without blocking or raising; drops the data after the pipe broke."""
        ...

    def watch(self) -> None:
        """Detects a closed reader even without writing, where the platform supports it."""
        ...

    def close(self) -> None: ...


def open_source(loop: asyncio.AbstractEventLoop, fd: int) -> ByteSource:
    """Returns the best source for `fd` on this platform."""
    return EventSource(loop, fd) if _can_wait(loop, fd) else ThreadSource(loop, fd)


def open_sink(loop: asyncio.AbstractEventLoop, fd: int) -> ByteSink:
    """Returns the best sink for `fd` on this platform."""
    return EventSink(loop, fd) if _can_wait(loop, fd) else ThreadSink(loop, fd)


def _can_wait(loop: asyncio.AbstractEventLoop, fd: int) -> bool:
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    try:
        loop.add_reader(fd, lambda: None)
        loop.remove_reader(fd)
    except (NotImplementedError, OSError, ValueError):
        return False
    return True


class EventSource:
    """Reads when the event loop reports data."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._reading = False
        self._closed = False

    def start(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end
        os.set_blocking(self._fd, False)
        self.resume()

    def _readable(self) -> None:
        try:
            chunk = os.read(self._fd, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""  # the pipe is gone, which counts as the end of input
        if chunk:
            self._on_data(chunk)
        else:
            self.close()
            self._on_end()

    def pause(self) -> None:
        if self._reading:
            self._loop.remove_reader(self._fd)
            self._reading = False

    def resume(self) -> None:
        if not self._reading and not self._closed:
            self._loop.add_reader(self._fd, self._readable)
            self._reading = True

    def close(self) -> None:
        if not self._closed:
            self.pause()
            self._closed = True


class ThreadSource:
    """Reads in a daemon thread, so that a blocked read does not delay the exit."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._gate = threading.Event()
        self._gate.set()
        self._closed = False

    def start(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end
        threading.Thread(target=self._read, name="carrel-stdin", daemon=True).start()

    def _read(self) -> None:
        while not self._closed:
            self._gate.wait()
            try:
                chunk = os.read(self._fd, _CHUNK)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._deliver, chunk)
            except RuntimeError:
                return  # the loop has ended
            if not chunk:
                return

    def _deliver(self, chunk: bytes) -> None:
        if self._closed:
            return
        if chunk:
            self._on_data(chunk)
        else:
            self._closed = True
            self._on_end()

    def pause(self) -> None:
        self._gate.clear()

    def resume(self) -> None:
        self._gate.set()

    def close(self) -> None:
        self._closed = True
        self._gate.set()


class EventSink:
    """Writes what the pipe accepts immediately, and the rest when the event loop reports space."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._waiting: deque[memoryview] = deque()
        self._pending = 0
        self._closed = False
        self._watching = False
        os.set_blocking(fd, False)

    @property
    def pending(self) -> int:
        return self._pending

    def start(self, on_progress: Callable[[], None], on_broken: Callable[[], None]) -> None:
        self._on_progress = on_progress
        self._on_broken = on_broken

    def write(self, data: bytes) -> None:
        if self._closed:
            return
        taken = 0
        if not self._waiting:
            taken = self._try(data)
            if taken == len(data) or self._closed:
                return
            self._loop.add_writer(self._fd, self._writable)
        self._waiting.append(memoryview(data)[taken:])
        self._pending += len(data) - taken

    def _try(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self._fd, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self.close()
            self._on_broken()
            return 0

    def watch(self) -> None:
        # This end receives no data, so it becomes readable only when the other end is closed.
        if not self._closed:
            self._watching = True
            self._loop.add_reader(self._fd, self._look)

    def _look(self) -> None:
        poller = select.poll()
        poller.register(self._fd, 0)  # errors and hang-ups are always reported
        if poller.poll(0):
            self.close()
            self._on_broken()
        else:
            self._unwatch()  # a socket on which the client sends data

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._fd)

    def _writable(self) -> None:
        while self._waiting:
            first = self._waiting[0]
            taken = self._try(first)
            if self._closed:
                return
            self._pending -= taken
            if taken < len(first):
                self._waiting[0] = first[taken:]
                break
            self._waiting.popleft()
        else:
            self._loop.remove_writer(self._fd)
        self._on_progress()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._unwatch()
        if self._waiting:
            self._loop.remove_writer(self._fd)
            self._waiting.clear()
            self._pending = 0


class ThreadSink:
    """Writes in a daemon thread that takes lines from a queue."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._pending = 0
        self._closed = False

    @property
    def pending(self) -> int:
        return self._pending

    def start(self, on_progress: Callable[[], None], on_broken: Callable[[], None]) -> None:
        self._on_progress = on_progress
        self._on_broken = on_broken
        threading.Thread(target=self._write, name="carrel-stdout", daemon=True).start()

    def write(self, data: bytes) -> None:
        if not self._closed:
            self._pending += len(data)
            self._queue.put(data)

    def watch(self) -> None:
        pass  # a thread that is blocked in a write cannot watch the pipe

    def _write(self) -> None:
        while (data := self._queue.get()) is not None:
            left = memoryview(data)
            try:
                while left:
                    left = left[os.write(self._fd, left) :]
            except OSError:
                self._call_on_loop(self._broke)
                return
            self._call_on_loop(self._wrote, len(data))

    def _call_on_loop(self, callback: Callable[..., None], *args: int) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:
            pass  # the loop has ended

    def _wrote(self, count: int) -> None:
        self._pending -= count
        self._on_progress()

    def _broke(self) -> None:
        self.close()
        self._on_broken()

    def close(self) -> None:
        self._closed = True
        self._pending = 0
        self._queue.put(None)
