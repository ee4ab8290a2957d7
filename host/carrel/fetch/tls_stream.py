"""A TLS connection over a non-blocking socket, read only on demand.

Nothing is read in the background. Bytes that arrive while no request is under way stay where they
are until `unread` looks for them, so that a connection with leftovers is never used again. Each
read decrypts one TLS record at most, which bounds the work between two turns of the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import TypeVar

T = TypeVar("T")

#: Bytes taken from the socket at once, and the longest TLS record.
_READ_BYTES = 16 * 1024


class TLSStream:
    """One connection, verified against a name. Use `open_stream` to make one."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._sock = sock
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    async def shake_hands(self) -> None:
        """Runs the TLS handshake and verifies the certificate.

        Raises:
            OSError: the connection broke; `ssl.SSLError` is one of these.
        """
        await self._pump(self._tls.do_handshake)

    async def read(self) -> bytes:
        """The next decrypted bytes, 16 KiB at most; empty at the end.

        An end without TLS's own farewell counts as an end: many servers leave it out.

        Raises:
            OSError: the connection broke.
        """
        try:
            return await self._pump(partial(self._tls.read, _READ_BYTES))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    async def write(self, data: bytes) -> None:
        """Encrypts and sends all of the bytes.

        Raises:
            OSError: the connection broke.
        """
        rest = memoryview(data)
        while rest:
            sent = await self._pump(partial(self._tls.write, rest))
            rest = rest[sent:]

    def unread(self) -> bool:
        """Whether anything came that no read has taken: bytes, an end, or a fault.

        Session tickets, which TLS 1.3 sends by itself, are no such thing.
        """
        try:
            with contextlib.suppress(BlockingIOError):
                while data := self._sock.recv(_READ_BYTES):
                    self._incoming.write(data)
                    if self._incoming.pending > 4 * _READ_BYTES:
                        return True
                return True  # the end
            self._tls.read(1)
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        """Closes the socket, with TLS's farewell if it can be sent at once. Idempotent."""
        with contextlib.suppress(OSError, ValueError):
            self._tls.unwrap()
        with contextlib.suppress(OSError, ValueError):
            self._sock.send(self._outgoing.read())
        self._sock.close()

    async def _pump(self, step: Callable[[], T]) -> T:
        """Repeats a TLS operation, moving bytes between it and the socket, until it succeeds."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                await self._flush()
                data = await asyncio.get_running_loop().sock_recv(self._sock, _READ_BYTES)
                if data:
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
            except ssl.SSLError:
                # What TLS has to say about it, an alert, is sent if that is possible.
                with contextlib.suppress(OSError):
                    await self._flush()
                raise
            else:
                await self._flush()
                return result

    async def _flush(self) -> None:
        if self._outgoing.pending:
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(self._sock, self._outgoing.read())


async def open_stream(address: str, port: int, *, context: ssl.SSLContext, host: str) -> TLSStream:
    """Connects to an address and verifies the certificate against a name.

    Args:
        address: an IP address; names are not looked up here.
        port: the TCP port.
        context: whom to trust.
        host: the name that the certificate must be for.

    Raises:
        OSError: no connection, or a certificate that is refused (`ssl.SSLCertVerificationError`).
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
        stream = TLSStream(sock, context, host)
        await stream.shake_hands()
    except BaseException:
        sock.close()
        raise
    return stream
