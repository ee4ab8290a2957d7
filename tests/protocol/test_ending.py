"""Tests shutdown: by the end of stdin, by signal, by loss of the client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

import psutil
import pytest

from support.stdio_client import StdioClient, envelope, server_command

pytestmark = pytest.mark.alone

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")


def wait_until_running(client: StdioClient, key: str) -> int:
    """Starts a call that waits for `release`, and returns once it runs."""
    id_ = client.start_call("wait", token=key, key=key)
    client.notification("notifications/progress")
    return id_


@pytest.mark.requirement("stdio:pure:end-of-input")
def test_the_end_of_input_ends_an_idle_server_at_once() -> None:
    with StdioClient() as client:
        client.open()
        client.result("echo")
        started = time.monotonic()
        assert client.finish() == 0
        assert time.monotonic() - started < 2
        assert client.stderr == b"toolbox closed\n"


def test_the_end_of_input_before_any_request_ends_the_server() -> None:
    with StdioClient() as client:
        assert client.finish() == 0
        assert client.lines == []


@pytest.mark.requirement("stdio:pure:last-answers")
def test_calls_that_run_at_the_end_of_input_are_answered() -> None:
    with StdioClient() as client:
        client.open()
        waiting = wait_until_running(client, "last")
        # The call is still running at the end of the input.
        release = client.start_call("release", key="last")
        client.end_input()
        assert client.answer(waiting)["result"]["structuredContent"] == {"released": "last"}
        assert client.answer(release)["result"]["structuredContent"] == {}
        assert client.wait() == 0


@pytest.mark.long("load")
@pytest.mark.requirement("stdio:pure:end-in-five-seconds")
def test_a_call_that_outlasts_the_end_of_input_is_cancelled_within_five_seconds() -> None:
    with StdioClient() as client:
        client.open()
        waiting = wait_until_running(client, "long")
        started = time.monotonic()
        client.end_input()
        assert client.wait() == 0
        assert waiting not in {frame.get("id") for frame, _ in client.pairs}
        # It had time to finish, but at most the promised time.
        assert 3.5 < time.monotonic() - started < 5.5
        assert b"cancelled long" in client.stderr


@pytest.mark.requirement("stdio:pure:end-despite-hang")
def test_a_call_that_cannot_be_interrupted_does_not_prevent_shutdown() -> None:
    with StdioClient(shutdown_seconds=1.0) as client:
        client.open()
        stuck = client.start_call("ignore")
        client.result("echo")
        started = time.monotonic()
        assert client.finish() == 0
        assert time.monotonic() - started < 3
        assert stuck not in {frame.get("id") for frame, _ in client.pairs}


@pytest.mark.requirement("stdio:pure:end-by-force")
def test_a_server_that_cannot_end_is_cut_off() -> None:
    with StdioClient(shutdown_seconds=1.0) as client:
        client.open()
        client.start_call("hang")
        client.result("echo")
        started = time.monotonic()
        assert client.finish() == 0
        assert time.monotonic() - started < 3
        assert b"shutdown timed out" in client.stderr


@pytest.mark.long("load")
def test_an_open_subscription_does_not_delay_the_end() -> None:
    with StdioClient() as client:
        client.open("2026-07-28")
        wanted = {"notifications": {"toolsListChanged": True}}
        listening = client.start("subscriptions/listen", wanted)
        client.notification("notifications/subscriptions/acknowledged")
        started = time.monotonic()
        client.end_input()
        # The output ends with its result and is complete.
        assert client.answer(listening)["result"]["resultType"] == "complete"
        assert client.wait() == 0
        assert time.monotonic() - started < 2


@posix
@pytest.mark.requirement("stdio:pure:signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_signal_ends_the_server_as_the_end_of_input_does(number: signal.Signals) -> None:
    with StdioClient() as client:
        client.open()
        waiting = wait_until_running(client, "signal")
        release = client.start_call("release", key="signal")
        client.answer(release)
        client.process.send_signal(number)
        assert client.wait() == 0
        assert client.answer(waiting)["result"]["structuredContent"] == {"released": "signal"}
        assert b"Traceback" not in client.stderr


@posix
@pytest.mark.requirement("stdio:pure:ignored-interrupt")
def test_an_interrupt_that_was_ignored_at_the_start_stays_ignored() -> None:
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *server_command()]
    with StdioClient(ignoring) as client:
        client.open()
        client.process.send_signal(signal.SIGINT)
        assert client.result("echo", value=1)["structuredContent"] == {"value": 1}
        client.process.send_signal(signal.SIGTERM)
        assert client.wait() == 0
        assert client.stderr == b"toolbox closed\n"


@pytest.mark.long("load")
@posix
def test_a_second_signal_ends_the_patience() -> None:
    with StdioClient(shutdown_seconds=30.0) as client:
        client.open()
        waiting = wait_until_running(client, "two")
        started = time.monotonic()
        client.end_input()
        client.process.send_signal(signal.SIGTERM)
        client.process.send_signal(signal.SIGINT)
        assert client.wait() == 0
        assert waiting not in {frame.get("id") for frame, _ in client.pairs}
        assert time.monotonic() - started < 10


@pytest.mark.long("load")
@posix
@pytest.mark.requirement("stdio:pure:no-late-answers")
@pytest.mark.parametrize("ended_by", ["input", "signal"])
def test_nothing_is_written_for_calls_that_the_end_cancels(ended_by: str) -> None:
    with StdioClient(shutdown_seconds=1.0) as client:
        client.open()
        # For each kind of tool, a call on the fast path and a call with progress.
        wait_until_running(client, "lane")
        client.start_call("wait", key="other")
        client.start_call("ignore")
        client.start_call("ignore", token="mine")
        client.result("echo")
        before = len(client.lines)
        if ended_by == "input":
            client.end_input()
        else:
            client.process.send_signal(signal.SIGTERM)
        assert client.wait() == 0
        late = [frame for frame, _ in client.pairs[before:]]
        assert [frame for frame in late if "id" in frame] == []


@pytest.mark.long("load")
@posix
def test_the_answers_of_a_batch_that_were_ready_are_written_at_the_end() -> None:
    with StdioClient(shutdown_seconds=1.0) as client:
        client.open("2025-03-26")
        first = client.request_frame("tools/call", {"name": "echo", "arguments": {"value": 1}})
        second = client.request_frame("tools/call", {"name": "wait", "arguments": {"key": "k"}})
        client.send([first, second])
        client.result("echo")
        client.end_input()
        assert client.wait() == 0
        assert {frame.get("id") for frame, _ in client.pairs} >= {first["id"]}
        assert second["id"] not in {frame.get("id") for frame, _ in client.pairs}


def call_line(id_: int, tool: str, arguments: Mapping[str, str], **meta: str) -> bytes:
    """Returns the line of a call that needs no handshake."""
    params = {"name": tool, "arguments": arguments, "_meta": {**envelope(), **meta}}
    request = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
    return json.dumps(request).encode() + b"\n"


LAUNCHER = """
import subprocess, sys
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(sys.argv[1].encode())
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.long("load")
@pytest.mark.requirement("stdio:pure:killed-client")
def test_a_killed_clients_server_ends_and_interrupts_its_calls() -> None:
    waiting = call_line(1, "wait", {"key": "orphan"}, progressToken="t")
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, waiting.decode(), *server_command()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as launcher:
        assert launcher.stdout is not None
        assert launcher.stderr is not None
        server = psutil.Process(int(launcher.stdout.readline()))
        launcher.kill()
        launcher.wait()
        # The client is gone: the call is interrupted, not only abandoned.
        psutil.wait_procs([server], timeout=10)
        assert not server.is_running()
        assert b"cancelled orphan" in launcher.stderr.read()


@contextmanager
def server_on_pipes() -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes], IO[bytes]]]:
    """Yields a server and the test's ends of its stdin, stdout and stderr, which can be closed one
    by one.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(server_command(), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        yield process, process.stdin, process.stdout, process.stderr


@pytest.mark.long("load")
@posix
def test_a_server_ends_when_both_pipes_of_its_client_are_closed() -> None:
    with server_on_pipes() as (process, stdin, stdout, stderr):
        # Without progress, so that no failing write reveals that the client is gone.
        stdin.write(call_line(1, "wait", {"key": "half"}) + call_line(2, "echo", {}))
        stdin.close()
        assert json.loads(stdout.readline())["id"] == 2
        time.sleep(0.5)  # time for the first call's thread to start waiting
        started = time.monotonic()
        stdout.close()
        assert process.wait(20) == 0
        assert time.monotonic() - started < 2  # less than the time for running calls
        assert stderr.read() == b"cancelled half\ntoolbox closed\n"


@pytest.mark.long("load")
@posix
@pytest.mark.requirement("stdio:pure:broken-pipe")
def test_a_client_that_closes_its_end_of_stdout_ends_the_server_quietly() -> None:
    with server_on_pipes() as (process, stdin, stdout, stderr):
        stdout.close()
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        assert process.wait(20) == 0
        assert stderr.read() == b"toolbox closed\n"
