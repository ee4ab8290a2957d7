"""A TLS server in its own process; the path selects how it misbehaves.

    python hostile_server.py CERTIFICATE    prints its port, and serves until its input ends

The certificate's file contains the private key too. It is a process so that its work does not hold
the GIL of the measured host.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import ssl
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
GZIP = OK + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
#: The bodies of a correct response and of a forged one.
GOOD, FORGED = b'{"n":1}', b'{"n":666}'
MIB = 2**20

Pieces = Iterator[bytes]


def whole(body: bytes, *headers: bytes) -> bytes:
    lines = b"".join(header + b"\r\n" for header in headers)
    return OK + lines + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def repeat(head: bytes, piece: bytes) -> Pieces:
    yield head
    while True:
        yield piece


def once(data: bytes) -> Pieces:
    yield data


def bomb() -> Pieces:
    """Returns compressed zeros, at a ratio that the host still accepts."""
    noise = os.urandom(4096)
    stream = zlib.compressobj(9, wbits=31)
    yield GZIP
    while True:
        yield chunk(stream.compress(bytes(900_000) + noise) + stream.flush(zlib.Z_FULL_FLUSH))


def records() -> Pieces:
    """Yields one byte in each TLS record."""
    yield OK + b"Content-Length: 60000000\r\n\r\n"
    while True:
        yield b"x"


def unfinished() -> Pieces:
    """Yields all but the last byte, and then stays silent."""
    yield OK + b"Content-Length: %d\r\n\r\n" % (16 * MIB) + b"x" * (16 * MIB - 1)
    time.sleep(60)


FEED = (
    Path(__file__).parents[1] / "fixtures" / "arxiv" / "new_generation" / "response.xml"
).read_bytes()

BEHAVIOURS: dict[str, Callable[[], Pieces]] = {
    "api/query": lambda: once(whole(FEED)),
    "good": lambda: once(whole(GOOD)),
    "chunks": lambda: repeat(CHUNKED, chunk(b"x") * 500),
    "informational": lambda: repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "members": lambda: repeat(GZIP, chunk(gzip.compress(b"", mtime=0)) * 100),
    "bomb": bomb,
    "records": records,
    "headers": lambda: repeat(OK, b"A:\r\n" * 500),
    "leftovers": lambda: once(whole(GOOD) + whole(FORGED) * 3),
    "busy": lambda: once(
        b"HTTP/1.1 429 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n"
        b"X-Rate-Limit-Limit: 1\r\nX-Rate-Limit-Interval: 60s\r\n\r\n"
    ),
    "broken": lambda: once(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"),
    "large": lambda: once(whole(b"x" * (48 * MIB))),
    "flood": lambda: once(whole(json.dumps({"n": 1, "x": "x" * MIB}).encode())),
    "unfinished": unfinished,
    "names": lambda: once(whole(GOOD)),
}


def answer(connection: socket.socket, context: ssl.SSLContext) -> None:
    try:
        with context.wrap_socket(connection, server_side=True) as tls:
            incoming = tls.makefile("rb")
            while line := incoming.readline():
                while incoming.readline() not in {b"\r\n", b""}:
                    pass
                path = line.split(b" ")[1].decode().strip("/").partition("?")[0]
                for piece in BEHAVIOURS[path]():
                    tls.sendall(piece)
                if path == "broken":
                    return
    except OSError:
        pass


def serve(certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(listener.getsockname()[1], flush=True)  # noqa: T201 -- for the process that started it
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, context), daemon=True).start()


if __name__ == "__main__":
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    serve(Path(sys.argv[1]))
