"""Tests that no input stops the server, exhausts its memory, or gets a wrong response."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.mcp_schema import assert_frames_valid
from support.stdio_client import MODERN, StdioClient, envelope

MIB = 2**20
SEEDS: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "echo", "arguments": {"a": [1, {"b": None}]}, "_meta": {"x": 1}},
    },
    {"jsonrpc": "2.0", "id": "s", "method": "resources/read", "params": {"uri": "carrel://x"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1}},
    {"jsonrpc": "2.0", "id": 3, "method": "logging/setLevel", "params": {"level": "error"}},
    {"jsonrpc": "2.0", "id": 4, "method": "subscriptions/listen", "params": {"notifications": {}}},
    {"jsonrpc": "2.0", "id": 5, "result": {}},
    {"jsonrpc": "2.0", "id": 6, "error": {"code": 1, "message": "m"}},
    {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"protocolVersion": "x"}},
]
STRANGE: list[Any] = [
    None,
    True,
    0,
    -1,
    2**63,
    1.5,
    1e308,
    "",
    "\x00",
    "\u202e",
    "😀" * 100,
    [],
    {},
    [[[]]],
    {"": {"": {}}},
    "2.0",
    "x" * 10_000,
]


def mutants(count: int, seed: int) -> Iterator[bytes]:
    """Yields malformed and partly malformed lines, the same in every run."""
    chance = random.Random(seed)
    for number in range(count):
        frame = json.loads(json.dumps(chance.choice(SEEDS)))
        line = _with_strange_member(frame, chance)
        match number % 4:
            case 1:
                place = chance.randrange(len(line))
                line = line[:place] + bytes([chance.randrange(256)]) + line[place + 1 :]
            case 2:
                line = line[: chance.randrange(len(line))]
            case 3:
                line = line[chance.randrange(len(line)) :] + line
        yield line.replace(b"\n", b" ") + b"\n"


def _with_strange_member(frame: dict[str, Any], chance: random.Random) -> bytes:
    place: Any = frame
    while True:
        key = chance.choice(list(place))
        if isinstance(place[key], dict) and place[key] and chance.random() < 0.7:
            place = place[key]
            continue
        if chance.random() < 0.3:
            del place[key]
        else:
            place[key] = chance.choice(STRANGE)
        return json.dumps(frame).encode()


@pytest.mark.requirement("serve:alive:malformed-frames")
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_thousands_of_malformed_frames_do_not_stop_the_server(revision: str) -> None:
    with StdioClient() as client:
        client.open(revision)
        opened = len(client.pairs)
        for line in mutants(1500, seed=7):
            client.send_bytes(line)
        client.next_id = 1000  # above the ids of the mutants, some of which are subscriptions
        assert client.result("echo", value=1)["structuredContent"] == {"value": 1}
        assert client.finish() == 0
        errors = [frame for frame, _ in client.pairs[opened:] if "error" in frame]
        assert len(errors) > 500
        assert {frame["error"]["code"] for frame in errors} >= {-32700, -32600, -32602}
        assert not any("Traceback" in json.dumps(frame) for frame in errors)
        assert_frames_valid(revision, [(frame, None) for frame in errors])


LINES = {
    "not-json": (b"hello", -32700, None),
    "truncated": (b'{"jsonrpc":"2.0","id":9', -32700, None),
    "not-utf8": (b'{"jsonrpc":"2.0","id":9,"method":"\xff"}', -32700, None),
    "half-character": (b'{"jsonrpc":"2.0","id":9,"method":"\\ud800"}', -32700, None),
    "nan": (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":NaN}}', -32700, None),
    "utf-16": ('{"jsonrpc":"2.0","id":9,"method":"ping"}'.encode("utf-16"), -32700, None),
    "deep": (b'{"jsonrpc":"2.0","id":9,"params":' + b"[" * 100_000, -32700, None),
    "deep-closed": (b"[" * 50_000 + b"]" * 50_000, -32700, None),
    "string": (b'"ping"', -32600, None),
    "number": (b"1", -32600, None),
    "batch": (b'[{"jsonrpc":"2.0","id":9,"method":"ping"}]', -32600, None),
    "empty-batch": (b"[]", -32600, None),
    "empty-object": (b"{}", -32600, None),
    "no-version": (b'{"id":9,"method":"ping"}', -32600, 9),
    "old-version": (b'{"jsonrpc":"1.0","id":9,"method":"ping"}', -32600, 9),
    "no-method": (b'{"jsonrpc":"2.0","id":9}', -32600, 9),
    "odd-case-method": (b'{"jsonrpc":"2.0","id":9,"Method":"ping"}', -32600, 9),
    "odd-case-version": (b'{"JSONRPC":"2.0","id":9,"method":"ping"}', -32600, 9),
    "method-number": (b'{"jsonrpc":"2.0","id":"n","method":4}', -32600, "n"),
    "params-array": (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}', -32602, 9),
    "id-null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    "id-true": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    "id-fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    "id-object": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
    "unknown-method": (b'{"jsonrpc":"2.0","id":9,"method":"tools/burn"}', -32601, 9),
}


@pytest.mark.requirement("stdio:pure:wrong-frames")
@pytest.mark.parametrize(("line", "code", "id_"), LINES.values(), ids=LINES.keys())
def test_a_wrong_frame_gets_the_error_it_deserves(
    client: StdioClient, line: bytes, code: int, id_: object
) -> None:
    client.send_bytes(line + b"\n")
    frame = client.wait_for(lambda frame: "error" in frame)
    assert frame["error"]["code"] == code
    assert frame.get("id") == id_
    assert ("id" in frame) == (id_ is not None)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \t",
        b"\r",
        b'{"jsonrpc":"2.0","method":"notifications/unheard-of"}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":[]}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        b'{"jsonrpc":"2.0","id":77,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
        b'{"jsonrpc":"2.0","id":77,"result":3}',
        b'{"jsonrpc":"2.0","ID":78,"method":"ping"}',
    ],
    ids=[
        "empty",
        "blank",
        "return",
        "unknown",
        "params",
        "cancelled",
        "answer",
        "error",
        "wrong-answer",
        "odd-case-id",
    ],
)
def test_notifications_get_no_response(client: StdioClient, line: bytes) -> None:
    before = len(client.pairs)
    client.send_bytes(line + b"\n")
    assert client.result("echo", value=4)["structuredContent"] == {"value": 4}
    assert len(client.pairs) == before + 1


def test_windows_line_ends_are_understood(client: StdioClient) -> None:
    frame = client.request_frame("ping")
    client.send_bytes(json.dumps(frame).encode() + b"\r\n")
    assert client.answer(frame["id"])["result"] == {}


@pytest.mark.parametrize("id_", [0, -5, 2**70, "", "é😀", "7", "x" * 5000])
def test_any_string_or_integer_is_an_id(client: StdioClient, id_: int | str) -> None:
    client.send({"jsonrpc": "2.0", "id": id_, "method": "tools/burn"})
    assert client.answer(id_)["error"]["code"] == -32601


@pytest.mark.requirement("stdio:pure:duplicate-ids")
def test_an_id_in_use_cannot_be_used_again_until_it_is_answered(client: StdioClient) -> None:
    waiting = client.start_call("wait", key="duplicate")
    again = {"jsonrpc": "2.0", "id": waiting, "method": "ping"}
    client.send(again)
    refused = client.wait_for(lambda frame: "error" in frame)
    assert "id" not in refused
    assert refused["error"]["code"] == -32600
    client.result("release", key="duplicate")
    assert client.answer(waiting)["result"]["structuredContent"] == {"released": "duplicate"}
    client.methods[waiting] = "ping"
    client.send(again)
    assert client.answer(waiting)["result"] == {}


@pytest.mark.requirement("serve:alive:batches")
def test_a_batch_gets_one_response_in_revisions_with_batches() -> None:
    with StdioClient() as client:
        client.open("2025-03-26")
        frames = [client.request_frame("ping"), client.request_frame("tools/burn")]
        waiting = client.request_frame(
            "tools/call", {"name": "wait", "arguments": {"key": "batch"}}
        )
        client.send([*frames, {"jsonrpc": "2.0", "method": "notifications/x"}, 3, waiting])
        client.notify("notifications/cancelled", {"requestId": waiting["id"]})
        answers = client.next_frame()
        assert isinstance(answers, list)
        by_id = {answer["id"]: answer for answer in answers}
        assert by_id[frames[0]["id"]]["result"] == {}
        assert by_id[frames[1]["id"]]["error"]["code"] == -32601
        assert by_id[None]["error"]["code"] == -32600
        # The cancelled request has no response, and the batch did not wait for it.
        assert len(answers) == 3
        client.send([{"jsonrpc": "2.0", "method": "notifications/x"}])
        client.send([])
        assert client.next_frame()["error"]["message"] == "an empty batch"
        assert client.finish() == 0
        assert_frames_valid("2025-03-26", client.pairs)


@pytest.mark.requirement("serve:alive:long-line")
@pytest.mark.parametrize(
    ("start", "end", "id_"),
    [
        (b'{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"x":"', b'"}}', 71),
        (b'{"method":"ping","params":{"id":5,"x":"', b'"},"jsonrpc":"2.0","id":"t"}', "t"),
        (b'{"method":"ping","params":{"id":5,"x":"', b'"}}', None),
        (b"", b"", None),
    ],
    ids=["id-first", "id-last", "notification", "noise"],
)
def test_a_line_too_long_is_refused_under_its_own_id(
    client: StdioClient, start: bytes, end: bytes, id_: object
) -> None:
    client.send_bytes(start + b"x" * (5 * MIB) + end + b"\n")
    frame = client.wait_for(lambda frame: "error" in frame)
    assert frame.get("id") == id_
    assert frame["error"]["code"] == -32600
    assert str(4 * MIB) in frame["error"]["message"]
    assert client.result("echo", value=1)["structuredContent"] == {"value": 1}


def test_a_line_just_within_the_limit_is_served() -> None:
    with StdioClient(max_line_bytes=1000) as client:
        client.open()
        for length in (1000, 1001):
            frame = client.request_frame("ping", {"x": ""})
            frame["params"]["x"] = "y" * (length - len(json.dumps(frame)))
            client.send(frame)
            answer = client.answer(frame["id"])
            assert ("result" in answer) == (length == 1000)


def peak_memory(process: psutil.Process) -> int:
    """Returns the process's peak memory in bytes."""
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    memory = process.memory_info()
    return int(getattr(memory, "peak_wset", memory.rss))


@pytest.mark.requirement("serve:alive:memory-of-a-line")
def test_a_line_of_100_megabytes_is_not_held_in_memory() -> None:
    with StdioClient() as client:
        client.open()
        client.result("echo")
        process = psutil.Process(client.process.pid)
        before = peak_memory(process)
        client.send_bytes(b'{"jsonrpc":"2.0","id":50,"method":"ping","params":{"x":"')
        for _ in range(100):
            client.send_bytes(b"x" * MIB)
        client.send_bytes(b'"}}\n')
        assert client.answer(50)["error"]["code"] == -32600
        assert peak_memory(process) - before < 16 * MIB
        assert client.result("echo", value=1)["structuredContent"] == {"value": 1}


def test_a_half_built_envelope_is_refused() -> None:
    with StdioClient() as client:
        meta = envelope()
        del meta["io.modelcontextprotocol/clientCapabilities"]
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
        assert client.answer(1)["error"]["code"] == -32602
        client.revision = MODERN
        assert client.result("echo")["structuredContent"] == {}
