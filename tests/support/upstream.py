"""An upstream for tests: a real TLS server on loopback with certificates for any name.

The code under test gets a resolver that returns public addresses (`Names`) and a dialer that
connects to loopback (`Upstream.dial`). The rest is real: address checks, TLS with verification,
HTTP framing, decompression.

    upstream = Upstream("export.arxiv.org")
    upstream.on("/api/query", Reply(body=b"<feed/>"))
    with FetchClient(settings, resolver=upstream.names, dialer=upstream.dial) as client: ...
    assert [seen.path for seen in upstream.seen] == ["/api/query"]
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import trustme

#: A public address that tests resolve names to; never connected to.
PUBLIC = "151.101.131.42"


@dataclass(frozen=True)
class Seen:
    """One request that arrived.

    Attributes:
        path: path and query, as on the wire.
        headers: names in lower case.
        connection: number of the TLS connection it came over, from 1.
        at: when, on `time.monotonic()`.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    at: float

    @property
    def host(self) -> str:
        """The Host header."""
        return self.headers["host"]


@dataclass(frozen=True)
class Reply:
    """A response, with faults.

    Attributes:
        cut: number of the body's bytes after which the connection is closed.
        drip: seconds between single bytes of the body.
        delay: seconds before the response.
        silent: whether to read the request and never respond.
        hold: an event to wait for before responding.
        raw: bytes sent in place of all the rest; the connection is closed after them.
        more: bytes sent after the response, or after `raw` in place of closing.
        close: whether to close the connection after a complete response.
    """

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    cut: int | None = None
    drip: float | None = None
    delay: float = 0.0
    silent: bool = False
    hold: threading.Event | None = None
    raw: bytes | None = None
    more: bytes | None = None
    close: bool = False


Handler = Callable[[Seen], Reply]


class Names:
    """A resolver over a table.

    Args:
        table: name → addresses; of a list of lists each lookup takes the next, then the last.
        otherwise: addresses of every other name.
    """

    def __init__(
        self,
        table: dict[str, list[str] | list[list[str]]] | None = None,
        otherwise: Sequence[str] = (PUBLIC,),
    ) -> None:
        self.table = dict(table or {})
        self.otherwise = list(otherwise)
        self.lookups: list[str] = []
        self.failing = False
        self.hanging = False

    async def __call__(self, host: str) -> Sequence[str]:
        self.lookups.append(host)
        if self.failing:
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        if self.hanging:
            await asyncio.Event().wait()
        answers = self.table.get(host, self.otherwise)
        if answers and isinstance(answers[0], list):
            turn = min(self.lookups.count(host), len(answers)) - 1
            return list(answers[turn])
        return [str(answer) for answer in answers]


@dataclass
class _State:
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)


class Upstream:
    """The server, as a context manager. Use one per test; it starts in milliseconds.

    Args:
        hosts: the names its certificate is for.
        authority: the CA that signs it; a new one if None.
    """

    def __init__(self, *hosts: str, authority: trustme.CA | None = None) -> None:
        self.names = Names()
        self.dialled: list[str] = []
        self.refusing: set[str] = set()
        self._authority = authority or trustme.CA()
        self._hosts = hosts
        self._state = _State()
        self._routes: dict[str, Handler] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._port = 0

    @property
    def seen(self) -> list[Seen]:
        """The received requests, in order."""
        return self._state.seen

    @property
    def connections(self) -> int:
        """The number of TLS connections made."""
        return self._state.connections

    @property
    def open_connections(self) -> int:
        """The number of open connections."""
        return len(self._state.writers)

    def push(self, data: bytes) -> None:
        """Sends unsolicited bytes over every open connection, and waits until they have arrived."""

        async def send() -> None:
            for writer in self._state.writers:
                writer.write(data)
                await writer.drain()

        asyncio.run_coroutine_threadsafe(send(), self._loop).result(10)
        time.sleep(0.05)

    @property
    def port(self) -> int:
        """The port on loopback."""
        return self._port

    def on(self, path: str, *replies: Reply | Handler) -> None:
        """Sets the responses for a path (without query; `*` for every other), in order.

        The last one is repeated.
        """
        left = list(replies)

        def handler(seen: Seen) -> Reply:
            reply = left.pop(0) if len(left) > 1 else left[0]
            return reply if isinstance(reply, Reply) else reply(seen)

        self._routes[path] = handler

    def dial(self, address: str, port: int) -> tuple[str, int]:
        """Returns a dialer that connects any address to this server. Addresses in `refusing` get a
        closed port.
        """
        assert port == 443
        self.dialled.append(address)
        return ("127.0.0.1", _closed_port() if address in self.refusing else self._port)

    def write_authority(self, folder: Path) -> Path:
        """Returns the CA as a PEM file."""
        path = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(str(path))
        return path

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        # Some tests make clients refuse the handshake.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(*self._hosts).configure_cert(context)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=context)
        )
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._state.connections += 1
        connection = self._state.connections
        self._state.writers.append(writer)
        try:
            while True:
                seen = await _read_request(reader, connection)
                if seen is None:
                    break
                self._state.seen.append(seen)
                handler = self._routes.get(seen.path.partition("?")[0]) or self._routes.get("*")
                reply = handler(seen) if handler else Reply(404, body=b"no such path")
                if not await self._answer(seen, reply, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self._state.writers.remove(writer)
            writer.transport.abort()

    async def _answer(self, seen: Seen, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        if reply.hold is not None:
            await self._loop.run_in_executor(None, reply.hold.wait, 30)
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if reply.silent:
            await asyncio.Event().wait()
        if reply.raw is not None:
            writer.write(reply.raw + (reply.more or b""))
            await writer.drain()
            return reply.more is not None
        body = b"" if seen.method == "HEAD" else reply.body
        headers = [("Content-Length", str(len(reply.body))), *reply.headers]
        if any(name.lower() == "content-length" for name, _ in reply.headers):
            headers = headers[1:]
        head = f"HTTP/1.1 {reply.status} Status\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
        writer.write(head.encode("latin-1"))
        if reply.drip is not None:
            for number, byte in enumerate(body):
                # Not after the last byte: the next request may follow at once.
                await asyncio.sleep(reply.drip if number else 0)
                writer.write(bytes([byte]))
                await writer.drain()
        else:
            writer.write((body if reply.cut is None else body[: reply.cut]) + (reply.more or b""))
        await writer.drain()
        return reply.cut is None and not reply.close


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Seen | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers = {}
    while (line := await reader.readline()) not in {b"\r\n", b""}:
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, path, headers, body, connection, time.monotonic())


def _closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class SkippingClock:
    """A clock whose waits end immediately and are recorded."""

    def __init__(self) -> None:
        self.skipped = 0.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return time.monotonic() + self.skipped

    def wall(self) -> float:
        return time.time() + self.skipped

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        # Lets other tasks run, as they would in the skipped time.
        await asyncio.sleep(0.003)
        self.skipped += seconds
