"""Tests many concurrent calls, and a client that does not read."""

from __future__ import annotations

import json
import threading
import time

import psutil
import pytest

from carrel.server.rate_limit import CallRateLimit, TooManyCallsError
from support.stdio_client import StdioClient, error_of

pytestmark = [pytest.mark.alone, pytest.mark.long("load")]

MIB = 2**20


@pytest.mark.requirement("serve:alive:thousand-calls")
def test_a_thousand_calls_in_flight_are_all_answered_and_none_is_crossed(
    era_client: StdioClient,
) -> None:
    frames = [
        era_client.request_frame("tools/call", {"name": "echo", "arguments": {"value": number}})
        for number in range(1000)
    ]
    lines = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    sender = threading.Thread(target=era_client.send_bytes, args=[lines])
    sender.start()
    answers = [era_client.next_frame() for _ in frames]
    sender.join()
    values = {answer["id"]: answer["result"]["structuredContent"]["value"] for answer in answers}
    assert values == {frame["id"]: frame["params"]["arguments"]["value"] for frame in frames}


@pytest.mark.requirement("serve:alive:in-flight-cap")
def test_requests_beyond_the_cap_are_busy_and_others_continue() -> None:
    with StdioClient(max_in_flight=10) as client:
        client.open()
        waiting = [client.start_call("wait", key="gate") for _ in range(10)]
        refused = client.call("echo")["error"]
        assert refused["code"] == -32000
        assert refused["data"]["error"]["code"] == "busy"
        assert refused["data"]["error"]["retryable"] is True
        # A notification does not count as a request: cancelling works at the limit.
        client.notify("notifications/cancelled", {"requestId": waiting.pop()})
        # A new request is accepted when the cancelled one has ended.
        assert any("result" in client.call("release", key="gate") for _ in range(2000))
        for id_ in waiting:
            assert client.answer(id_)["result"]["structuredContent"] == {"released": "gate"}
        assert client.finish() == 0


@pytest.mark.requirement("serve:alive:rate")
def test_calls_beyond_the_rate_and_the_patience_are_busy_with_the_seconds() -> None:
    with StdioClient(calls_per_second=0.001, burst=5) as client:
        client.open()
        for _ in range(5):
            client.result("echo")
        error = error_of(client.result("echo"))
        assert error["code"] == "busy"
        assert 900 < error["retry_after_seconds"] <= 1000
        assert client.request("tools/list")["result"]["tools"]
        assert client.finish() == 0


class Clock:
    """A clock that only sleeping advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.requirement("serve:alive:pace")
def test_calls_above_the_rate_wait() -> None:
    import asyncio

    clock = Clock()
    pace = CallRateLimit(10, 20, 5.0, clock=clock, sleep=clock.sleep)

    async def take(count: int) -> None:
        for _ in range(count):
            await pace.wait()

    asyncio.run(take(20))
    assert clock.now == 0.0
    asyncio.run(take(30))
    assert clock.now == pytest.approx(3.0)
    clock.now += 100.0
    asyncio.run(take(20))
    assert clock.now == pytest.approx(103.0)


def test_a_wait_longer_than_the_patience_is_refused_without_a_token() -> None:
    import asyncio

    clock = Clock()

    async def no_sleep(_seconds: float) -> None:
        """Returns immediately without advancing the clock: all calls wait at the same time."""

    pace = CallRateLimit(1, 1, 2.0, clock=clock, sleep=no_sleep)

    async def take(count: int) -> None:
        for _ in range(count):
            await pace.wait()

    asyncio.run(take(3))
    for _ in range(2):
        with pytest.raises(TooManyCallsError) as refused:
            asyncio.run(take(1))
        assert refused.value.retry_after_seconds == 3.0


@pytest.mark.requirement("stdio:pure:slow-reader")
def test_a_client_that_reads_late_gets_complete_lines() -> None:
    with StdioClient() as client:
        client.open()
        client.stop_reading()
        ids = [client.start_call("large", bytes=200_000 + number) for number in range(40)]
        # The responses are much larger than a pipe's buffer; the server still serves other calls.
        ids.append(client.start_call("echo", value="last"))
        client.read_on()
        for number, id_ in enumerate(ids[:-1]):
            filler = client.answer(id_)["result"]["structuredContent"]["filler"]
            assert len(filler) == 200_000 + number
        assert client.answer(ids[-1])["result"]["structuredContent"] == {"value": "last"}
        assert client.finish() == 0
        assert all("stray" not in frame for frame, _ in client.pairs)


@pytest.mark.requirement("serve:alive:unread-answers")
def test_a_client_that_never_reads_does_not_fill_the_servers_memory() -> None:
    with StdioClient(burst=10**6) as client:
        client.open()
        process = psutil.Process(client.process.pid)
        before = process.memory_info().rss
        client.stop_reading()
        frame = {"name": "echo", "arguments": {"value": "x" * 50_000}}
        sent = 0

        def flood() -> None:
            nonlocal sent
            try:
                for _ in range(4000):  # their responses would be 400 MB
                    client.start("tools/call", frame)
                    sent += 1
            except OSError:
                pass  # the server was killed at the end of the test

        sender = threading.Thread(target=flood, daemon=True)
        sender.start()
        # The server stops reading, so the sender blocks: wait for that.
        seen = -1
        while seen != sent:
            seen = sent
            sender.join(0.5)
        assert sent < 4000
        assert process.memory_info().rss - before < 150 * MIB
        client.process.kill()
        client.read_on()
        sender.join(20)


def test_an_unread_stderr_does_not_block_the_server() -> None:
    import subprocess

    from support.stdio_client import server_command

    with subprocess.Popen(
        server_command(log_level="debug"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,  # never read
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        started = time.monotonic()
        for number in range(200):
            arguments = {"level": "error", "text": "x" * 2000}
            params = {"name": "log", "arguments": arguments, "_meta": meta}
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait(10) == 0
        assert time.monotonic() - started < 10
        assert process.stderr is not None
        process.stderr.read()
