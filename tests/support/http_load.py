"""Clients of several principals that load a server over HTTP, and what they measure.

Run as a program, so that measuring and flooding do not share a process with the upstream:
`python http_load.py watch|stalls|flood JSON`.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import jwt
import psutil

SECRET: Final = "a-secret-for-tests-of-more-than-32-bytes"
MODERN: Final = "2026-07-28"


def token(subject: str, audience: str) -> str:
    """Returns a token of a principal."""
    claims = {"sub": subject, "aud": audience, "exp": int(time.time()) + 7200}
    return jwt.encode(claims, SECRET, "HS256")


class Connection:
    """One connection of a principal; reconnects when the server has closed it."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, fields: Mapping[str, str], body: bytes = b"") -> None:
        """Sends a request."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=2**25)
        head = {
            "host": "localhost",
            "authorization": f"Bearer {self._token}",
            "accept": "application/json",
            "content-type": "application/json",
            "content-length": str(len(body)),
            **fields,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        self._streams[1].write(f"{method} /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body)
        await self._streams[1].drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Returns status, headers and body of the response."""
        assert self._streams is not None
        reader = self._streams[0]
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        if fields.get("connection") == "close":
            self.close()
        return status, fields, body

    async def post(self, message: Mapping[str, Any], **fields: str) -> tuple[int, Any, bytes]:
        """Posts a message; returns status, headers and body of the response."""
        body = json.dumps(message).encode()
        await self.send("POST", {k.replace("_", "-"): v for k, v in fields.items()}, body)
        return await self.answer()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[int, Any, bytes]:
        """Calls a tool, without a session."""
        return await self.call_with(tool, call_body(tool, arguments))

    async def call_with(self, tool: str, body: bytes) -> tuple[int, Any, bytes]:
        """Calls a tool with a body of `call_body`."""
        fields = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
        await self.send("POST", fields, body)
        return await self.answer()

    def close(self) -> None:
        """Closes the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def call_body(tool: str, arguments: Mapping[str, Any]) -> bytes:
    """Returns the body of a call without a session."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


# Measuring


async def watch(
    *, port: int, tokens: Sequence[str], tool: str, url: str, seconds: float, every: float
) -> list[tuple[float, float, bool]]:
    """Calls a tool for each principal at fixed times.

    Returns:
        For each call when it was due, in seconds of `time.monotonic`, the seconds from then to its
        answer, and whether it had a result.
    """
    seen: list[tuple[float, float, bool]] = []

    async def one(due: float, idle: list[Connection], token: str) -> None:
        connection = idle.pop() if idle else Connection(port, token)
        text = f"{url}?{random.random()}"
        try:
            status, _, body = await connection.call(tool, {"url": text})
            good = status == 200 and b'"isError":true' not in body and b'"error"' not in body
            if not good:
                print(status, body[:300], file=sys.stderr)  # noqa: T201 - why the test fails
        except (OSError, asyncio.IncompleteReadError):
            connection.close()
            good = False
        idle.append(connection)
        seen.append((due, time.monotonic() - due, good))

    async def principal(token: str, offset: float) -> None:
        idle: list[Connection] = []
        calls = []
        due, end = time.monotonic() + offset, time.monotonic() + seconds
        while due < end:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            calls.append(asyncio.create_task(one(due, idle, token)))
            due += every
        await asyncio.gather(*calls)

    spread = every / len(tokens)
    await asyncio.gather(*(principal(one, n * spread) for n, one in enumerate(tokens)))
    return seen


async def stalls(*, seconds: float) -> list[tuple[float, float, bool]]:
    """Wakes every 10 ms; returns what `watch` does, with the seconds that each wake was late.

    This process does next to nothing, so its delays are the machine's.
    """
    seen = []
    due, end = time.monotonic(), time.monotonic() + seconds
    while due < end:
        due = max(due + 0.01, time.monotonic())
        await asyncio.sleep(due - time.monotonic())
        seen.append((due, time.monotonic() - due, True))
    return seen


# Flooding

Step = Callable[[Connection, int], Awaitable[object]]


async def _sessions(connection: Connection, number: int) -> None:
    """Opens a session and a stream, and leaves both."""
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "load", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}
    status, fields, _ = await connection.post(message)
    if status == 200:
        session = {
            "mcp-session-id": fields["mcp-session-id"],
            "mcp-protocol-version": "2025-11-25",
        }
        await connection.send("GET", {**session, "accept": "text/event-stream"})
        await asyncio.sleep(0.2)
        connection.close()
        if number % 2:
            await connection.send("DELETE", session)
            await connection.answer()


def _large_body(url: str) -> bytes:
    """Returns a call of 2.9 MB. It is encoded once: that loads the machine, not the server."""
    more = [{"n": n, "words": "a b c"} for n in range(90_000)]
    return call_body("load_open", {"url": url, "more": more})


def steps(url: str) -> dict[str, tuple[int, Step]]:
    """Returns the kinds of floods: how many connections, and what each repeats."""
    large = _large_body(url)
    return {
        "cheap": (300, lambda one, n: one.call("load_open", {"url": f"{url}/quick"})),
        "refused": (300, lambda one, n: one.call("load_open", {})),
        "parses": (100, lambda one, n: one.call("load_spin", {"url": ""})),
        "plugins": (
            100,
            lambda one, n: one.call(("load_spin", "another_spin")[n % 2], {"url": ""}),
        ),
        "late": (100, lambda one, n: one.call("load_late", {"url": f"{url}/quick?{n}.{id(one)}"})),
        "slow": (100, lambda one, n: one.call("load_open", {"url": f"{url}/slow?{id(one)}.{n}"})),
        "bodies": (30, lambda one, n: one.call_with("load_open", large)),
        "results": (60, lambda one, n: one.call("load_open", {"url": f"{url}/big?{n}.{id(one)}"})),
        "sessions": (100, _sessions),
    }


async def flood(*, kind: str, port: int, token: str, url: str, seconds: float) -> dict[str, int]:
    """Repeats a kind of request over many connections; returns how many of each outcome."""
    count, step = steps(url)[kind]
    outcomes: dict[str, int] = {}
    end = time.monotonic() + seconds

    async def repeat() -> None:
        connection, number = Connection(port, token), 0
        while time.monotonic() < end:
            number += 1
            try:
                answer = await step(connection, number)
                outcome = str(answer[0]) if isinstance(answer, tuple) else "done"
            except (OSError, asyncio.IncompleteReadError, KeyError) as error:
                connection.close()
                outcome = type(error).__name__
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        connection.close()

    workers = [asyncio.create_task(repeat()) for _ in range(count)]
    await asyncio.wait(workers, timeout=seconds)
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return outcomes


# From a test


@contextmanager
def running(what: str, nice: int = 0, **settings: Any) -> Any:
    """Runs this program; yields a function that waits for its figures.

    Args:
        what: `watch`, `stalls` or `flood`.
        nice: its priority; a flood comes from another machine, so it should not take the server's
            processor time.
        settings: arguments of the function of that name.
    """
    words = [sys.executable, str(Path(__file__)), what, json.dumps(settings)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    with suppress(psutil.Error):
        psutil.Process(process.pid).nice(nice)

    def figures() -> Any:
        out, _ = process.communicate(timeout=300)
        return json.loads(out)

    try:
        yield figures
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def main() -> None:
    """Runs one of the functions and prints what it returns."""
    work = {"watch": watch, "flood": flood, "stalls": stalls}[sys.argv[1]]
    print(json.dumps(asyncio.run(work(**json.loads(sys.argv[2])))))  # type: ignore[operator]  # noqa: T201


if __name__ == "__main__":
    main()
