"""Reads and writes bytes on one connection, with TLS or without it.

Each read decrypts one TLS record at most, which bounds the work between two iterations of the event
loop.
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
        """Returns the next decrypted bytes, 16 KiB at most; empty at the end.

        An end without TLS's close-notify counts as an end: many servers leave it out.

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
        """Whether anything arrived that was not read: bytes, an end, or a fault.

        Session tickets, which TLS 1.3 sends by itself, do not count.
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
        """Closes the socket, with TLS's close-notify if it can be sent at once. Idempotent."""
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
                # Sends TLS's alert if possible.
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


class PlainStream:
    """One connection without TLS, to a server of the operator's own.

    Args:
        sock: connected, not blocking.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    async def read(self) -> bytes:
        """Returns the next bytes, 16 KiB at most; empty at the end.

        Raises:
            OSError: the connection broke.
        """
        return await asyncio.get_running_loop().sock_recv(self._sock, _READ_BYTES)

    async def write(self, data: bytes) -> None:
        """Sends all of the bytes.

        Raises:
            OSError: the connection broke.
        """
        await asyncio.get_running_loop().sock_sendall(self._sock, data)

    def unread(self) -> bool:
        """Whether anything arrived that was not read: bytes, an end, or a fault."""
        try:
            self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        """Closes the socket. Idempotent."""
        self._sock.close()


async def open_stream(address: str, port: int, *, context: ssl.SSLContext, host: str) -> TLSStream:
    """Connects to an address and verifies the certificate against a name.

    Args:
        address: an IP address; names are not looked up here.
        port: the TCP port.
        context: with the trusted authorities.
        host: the name that the certificate must be for.

    Raises:
        OSError: no connection, or a certificate that is refused (`ssl.SSLCertVerificationError`).
    """
    sock = await connected_socket(address, port)
    try:
        stream = TLSStream(sock, context, host)
        await stream.shake_hands()
    except BaseException:
        sock.close()
        raise
    return stream


async def connected_socket(address: str, port: int) -> socket.socket:
    """Returns a socket that is connected to an IP address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock
