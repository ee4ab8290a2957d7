"""Sends ten thousand malformed frames to the real server with its built-in plugins."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from protocol.test_hostile_input import SEEDS, mutants
from support.mcp_schema import assert_frames_valid
from support.stdio_client import StdioClient

FRAMES = 10_000
_ROUNDS = 20
#: The first id of the probes.
_PROBES = 10**6
REVISION = "2025-11-25"

_CALL = {
    "jsonrpc": "2.0",
    "id": 8,
    "method": "tools/call",
    "params": {"name": "arxiv_query", "arguments": {"query": "x"}},
}


def _text(frame: object) -> bytes:
    return json.dumps(frame).encode()


def odd_case(chance: random.Random) -> bytes:
    """Returns members in another case, beside or in place of the correct ones (CVE-2026-27896)."""
    key = chance.choice(["method", "id", "jsonrpc", "params"])
    odd = chance.choice([key.upper(), key.title(), key[:-1] + key[-1].upper(), "\u017f" + key[1:]])
    frame = dict(chance.choice(SEEDS))
    value = frame.get(key, "tools/list")
    if chance.random() < 0.5:
        frame.pop(key, None)
    frame[odd] = value
    return _text(frame)


def twice(chance: random.Random) -> bytes:
    """Returns a member twice, in either order."""
    method = chance.choice(["tools/list", "tools/burn", "ping", 7])
    members = [f'"method":{json.dumps(method)}', '"method":"tools/burn"']
    chance.shuffle(members)
    return f'{{"jsonrpc":"2.0","id":{chance.randrange(99)},{",".join(members)}}}'.encode()


def wrong_bytes(chance: random.Random) -> bytes:
    bad = chance.choice([b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\0"])
    line = bytearray(_text(chance.choice(SEEDS)))
    place = chance.randrange(len(line))
    line[place:place] = bad * chance.randrange(1, 4)
    return bytes(line)


def deep(chance: random.Random) -> bytes:
    opening, closing = chance.choice([(b"[", b"]"), (b'{"a":', b"}")])
    depth = chance.choice([150, 199, 201, 5_000])
    inside = opening * depth + b"1" + closing * chance.choice([0, depth])
    return b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":' + inside + b"}}"


def long_line(chance: random.Random) -> bytes:
    size = chance.choice([10_000, 100_000, 5 * 2**20]) if chance.random() < 0.02 else 3_000
    return b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"' + b"x" * size + b'"}}'


def strange_id(chance: random.Random) -> bytes:
    id_ = chance.choice(["9" * 300, "1e400", "-0", '""', '"\\ud800"', "[]", "null", "true", "1.0"])
    return f'{{"jsonrpc":"2.0","id":{id_},"method":"tools/burn"}}'.encode()


def batch(chance: random.Random) -> bytes:
    return _text([chance.choice(SEEDS) for _ in range(chance.randrange(4))])


def cancelled(chance: random.Random) -> bytes:
    reason = chance.choice(["", "x" * 2000, None, {"a": 1}])
    target: object = chance.choice([0, 1, "1", None, -1, 2**70, [], "arxiv"])
    params = {"requestId": target, "reason": reason}
    return _text({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


def wrong_call(chance: random.Random) -> bytes:
    frame = json.loads(_text(_CALL))
    params = frame["params"]
    match chance.randrange(5):
        case 0:
            params["name"] = chance.choice(["", "arxiv_qeury", "x" * 5000, 7, None, "../../etc"])
        case 1:
            params["arguments"] = chance.choice([[], "x", None, {"": {"": {}}}, {"query": [[]]}])
        case 2:
            params["arguments"] = {"max_results": chance.choice([-1, 2**70, 1e308, "ten", [1]])}
        case 3:
            params["_meta"] = chance.choice([[], 3, {"progressToken": {}}, {"progressToken": None}])
        case 4:
            params["task"] = {"ttl": -1}
    return _text(frame)


def second_handshake(chance: random.Random) -> bytes:
    params = {"protocolVersion": chance.choice(["2024-11-05", "x", 7, None])}
    frame = {"jsonrpc": "2.0", "id": chance.randrange(99), "method": "initialize", "params": params}
    return _text(chance.choice([frame, {"jsonrpc": "2.0", "method": "notifications/initialized"}]))


KINDS: tuple[Callable[[random.Random], bytes], ...] = (
    odd_case,
    twice,
    wrong_bytes,
    deep,
    long_line,
    strange_id,
    batch,
    cancelled,
    wrong_call,
    second_handshake,
)


def malformed(count: int, seed: int) -> Iterator[bytes]:
    """Yields malformed lines of every kind, the same in every run."""
    chance = random.Random(seed)
    mutated = mutants(count, seed)
    for number in range(count):
        if number % 3 == 0:
            yield next(mutated)
        else:
            line = chance.choice(KINDS)(chance)
            yield line.replace(b"\n", b" ") + b"\n"


def answer_probe(client: StdioClient, number: int) -> None:
    """Sends a valid request between malformed ones and checks its response."""
    client.next_id = _PROBES + number
    match number % 3:
        case 0:
            assert client.request("ping")["result"] == {}
        case 1:
            assert len(client.request("tools/list")["result"]["tools"]) >= 3
        case 2:
            # An unknown argument: the host refuses it without a request.
            refused = client.call("arxiv_query", qeury="x")["result"]
            assert refused["isError"] is True


@pytest.mark.long("flood")
@pytest.mark.requirement("serve:alive:malformed-frames")
@pytest.mark.requirement("stdio:pure:malformed-frames")
def test_ten_thousand_malformed_frames_never_stop_the_real_server(tmp_path: Any) -> None:
    config = tmp_path / "carrel.toml"
    config.write_text(f'cache_dir = "{tmp_path}/cache"\ndata_dir = "{tmp_path}/data"\n')
    command = [sys.executable, "-m", "carrel", "serve", "--config", str(config)]
    with StdioClient(command) as client:
        client.send_bytes(b'{"jsonrpc":"2.0","method":"tools/list"}\n')  # before the handshake
        client.open(REVISION)
        opened = len(client.pairs)
        # Memory that is allocated once: the sandboxes, and a buffer for the longest line.
        for tool in ("arxiv_query", "crossref_works", "pubmed_search"):
            client.call(tool)
        for _ in range(4):
            client.send_bytes(b"x" * (5 * 2**20) + b"\n")
        lines = list(malformed(FRAMES, seed=26))
        share = FRAMES // _ROUNDS
        process = psutil.Process(client.process.pid)
        memory = []
        for number in range(_ROUNDS):
            for line in lines[number * share : (number + 1) * share]:
                client.send_bytes(line)
            answer_probe(client, number)
            memory.append(process.memory_info().rss)
        started = time.monotonic()
        assert client.finish() == 0
        assert time.monotonic() - started < 5
        frames = client.pairs[opened:]
        assert not [frame for frame, _ in frames if "stray" in frame]
        errors = [frame for frame, _ in frames if "error" in frame]
        assert len(errors) > FRAMES // 4
        assert b"Traceback" not in b"".join(client.lines)
        assert_frames_valid(REVISION, [(frame, None) for frame in errors])
        # After the first quarter, threads and plugins exist.
        settled = memory[_ROUNDS // 4]
        assert max(memory[_ROUNDS // 4 :]) < 1.05 * settled, " ".join(
            str(one >> 20) for one in memory
        )
