"""Tests that stdout contains only frames, even if tools print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.stdio_client import StdioClient, server_command

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "noisy"}}


@pytest.mark.requirement("stdio:pure:stray-prints")
def test_stray_prints_go_to_stderr_even_from_c_code() -> None:
    with StdioClient() as client:
        client.open()
        assert client.result("noisy")["structuredContent"] == {"noise": True}
        assert client.result("echo", value=1)["structuredContent"] == {"value": 1}
        assert client.finish() == 0
        assert all("stray" not in frame for frame, _ in client.pairs)
        assert b"stray" not in b"".join(client.lines)
        strays = ["print", "write without line feed", "os.write"]
        if os.name == "posix":
            # The second print stays in C's buffer until the process ends, after the last frame.
            strays += ["puts", "printf in a buffer"]
        for stray in strays:
            assert f"stray {stray}".encode() in client.stderr


PROGRAM = """
import ctypes, os
from carrel.server.standard_streams import standard_streams_taken
print("before")
with standard_streams_taken() as (stdin, stdout):
    print("stray")
    if os.name == "posix":
        ctypes.CDLL(None).printf(b"stray")
    os.write(stdout, b"frame\\n")
    assert os.read(0, 10) == b""
    assert os.read(stdin, 10) == b"request"
print("after")
"""


@pytest.mark.requirement("stdio:pure:given-back")
def test_the_streams_are_restored_without_buffered_output() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=b"request", capture_output=True, check=True
    )
    assert done.stdout.split() == [b"before", b"frame", b"after"]
    assert done.stderr.count(b"stray") == (2 if os.name == "posix" else 1)


@pytest.mark.requirement("stdio:pure:files")
def test_plain_files_serve_as_stdin_and_stdout(tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    answers = tmp_path / "answers"
    lines = [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, CALL]
    # The last line has no line feed, like the end of some files.
    requests.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    with requests.open("rb") as stdin, answers.open("wb") as stdout:
        done = subprocess.run(
            server_command(),
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
    assert done.returncode == 0
    frames = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    assert [frame["id"] for frame in frames] == [1, 2]
    assert frames[1]["result"]["structuredContent"] == {"noise": True}


@pytest.mark.requirement("stdio:pure:one-socket")
@pytest.mark.skipif(sys.platform == "win32", reason="a socket cannot be a standard stream there")
def test_one_socket_serves_as_stdin_and_stdout() -> None:
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb") as reading:
        process = subprocess.Popen(
            server_command(),
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        for request in (INITIALIZE, CALL):
            ours.sendall(json.dumps(request).encode() + b"\n")
            assert json.loads(reading.readline())["id"] == request["id"]
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(20) == 0
        assert reading.read() == b""


@pytest.mark.requirement("stdio:pure:without-streams")
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_process_without_standard_streams_ends_at_once() -> None:
    command = [f"'{part}'" for part in server_command()]
    shell = f"exec {' '.join(command)} <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", shell], timeout=20, check=False).returncode == 0
