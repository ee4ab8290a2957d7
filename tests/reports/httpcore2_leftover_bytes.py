"""httpcore2 hands bytes that came behind a complete answer out as the answer to the next request.

    python httpcore2_leftover_bytes.py

prints what two requests over one connection pool are answered, against a server on loopback that
sends a second answer right behind its first one. Exit code 1 when the forged one is handed out.
Needs httpcore2 and nothing else; the fault was seen in 2.16.2.

RFC 9112, section 6.3: a client that receives more data than an answer's own must not take it for
part of another. `HTTP11Connection._response_closed` calls h11's `start_next_cycle()` without
looking at `trailing_data`, so that the bytes stay in h11's buffer and begin the next answer. The
same holds for a body behind the answer to HEAD, and behind 204 and 304. A server that two clients
of one process trust differently can so answer the one in the other's place, where both share a
host (a storage service, a proxy), and a POST after such an answer is sent and reported as failed.
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
    """Returns what the second of two requests is answered."""
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
