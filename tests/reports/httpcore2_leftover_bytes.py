"""httpcore2 returns bytes that follow a complete response as the response to the next request.

    python httpcore2_leftover_bytes.py

prints the responses to two requests over one connection pool, from a server on loopback that sends
a second response right after the first. The exit code is 1 if the forged one is returned. Needs
only httpcore2; the fault was seen in 2.16.2.

RFC 9112, section 6.3: a client that receives more data than a response's own must not treat it as
part of another response. `HTTP11Connection._response_closed` calls h11's `start_next_cycle()`
without checking `trailing_data`, so the bytes stay in h11's buffer and begin the next response. The
same applies to a body after the response to HEAD, and after 204 and 304. If two clients of a
process share a host (a storage service, a proxy), the host can forge a response for one client in a
response to the other. A POST after such a response is sent and reported as failed.
"""

from __future__ import annotations

import socket
import threading

import httpcore2


def answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def serve(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(answer(b"first") + answer(b"forged"))
        connection.recv(65536)
        connection.sendall(answer(b"second"))


def second_answer() -> bytes:
    """Returns the response to the second of two requests."""
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with httpcore2.ConnectionPool() as pool:
        pool.request("GET", f"{base}/first")
        return pool.request("GET", f"{base}/second").content


if __name__ == "__main__":
    given = second_answer()
    print(given.decode())  # noqa: T201 -- it is a program
    raise SystemExit(given == b"forged")
