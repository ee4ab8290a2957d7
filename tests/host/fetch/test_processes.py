"""Tests that several processes share the pace of one upstream."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.fetch_harness import until
from support.upstream import Reply, Upstream

INTERVAL = 0.1

_CHILD = """
import json
import sys
import time
from pathlib import Path
from carrel.exchange import Call, Request, Response
from carrel.fetch import FetchClient, FetchSettings, HostRule, Pace, Policy, token_buckets
from carrel.fetch.token_buckets import TokenBuckets

# Reads a bucket slowly, so that processes that do not exclude each other read the same state.
recall = token_buckets._recall

def recall_slowly(state, now):
    time.sleep(0.02)
    return recall(state, now)

token_buckets._recall = recall_slowly

# The slots of the requests: the time at which the bucket is full again, by the bucket's own clock.
slots = []
take, keep = TokenBuckets.take, TokenBuckets.keep

def take_and_note(self, *arguments):
    slot = take(self, *arguments)
    if slot.wait == 0:
        slots.append(slot.full_at)
    return slot

def keep_and_note(self, *arguments):
    slot = keep(self, *arguments)
    if slot.wait == 0:
        slots[-1] = slot.full_at  # moved
    return slot

TokenBuckets.take, TokenBuckets.keep = take_and_note, keep_and_note

folder, port, interval = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

async def resolver(host):
    return ["151.101.131.42"]

client = FetchClient(
    FetchSettings(pace_path=folder / "pace.sqlite3", ca_bundle=folder / "authority.pem"),
    resolver=resolver,
    dialer=lambda address, number: ("127.0.0.1", port),
)
rule = HostRule("export.arxiv.org", frozenset({"GET"}), pace=Pace(interval))
fetcher = client.for_plugin(Policy("arxiv", [rule]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[4])):
    request = Request("GET", f"https://export.arxiv.org/{number}")
    (outcome,) = fetcher.fetch_all([request], Call("arxiv", "query"))
    assert isinstance(outcome, Response), outcome
client.close()
print(json.dumps(slots), flush=True)
"""


def start(folder: Path, upstream: Upstream, count: int) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(folder), str(upstream.port), str(INTERVAL), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    return child


def go(*children: subprocess.Popen[bytes]) -> None:
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"go\n")
        child.stdin.flush()


def end(child: subprocess.Popen[bytes]) -> int:
    for stream in (child.stdin, child.stdout):
        assert stream is not None
        stream.close()
    return child.wait(30)


def slots_of(child: subprocess.Popen[bytes]) -> list[float]:
    """Returns the times of the child's slots, in seconds since 1970."""
    assert child.stdout is not None
    taken: list[float] = json.loads(child.stdout.readline())
    assert end(child) == 0
    return [full_at - INTERVAL for full_at in taken]


@pytest.mark.requirement("sandbox:limits:pace-shared")
def test_two_processes_together_keep_the_pace_of_one(upstream: Upstream, tmp_path: Path) -> None:
    """Compares the slots of the processes, because arrival times depend on the load.

    A request may arrive late, but never early.
    """
    upstream.write_authority(tmp_path)
    upstream.on("*", Reply(body=b"x"))
    wall = time.time() - time.monotonic()
    children = [start(tmp_path, upstream, 8) for _ in range(2)]
    go(*children)
    slots = sorted(slot for child in children for slot in slots_of(child))
    assert len(slots) >= 16
    gaps = [later - earlier for earlier, later in itertools.pairwise(slots)]
    assert min(gaps) >= INTERVAL - 0.001
    arrivals = sorted(seen.at + wall for seen in upstream.seen)
    assert len(arrivals) == 16
    early = [slot - at for slot, at in zip(slots, arrivals, strict=False) if at < slot - 0.005]
    assert early == []


def test_a_process_killed_with_a_slot_costs_others_one_slot(
    upstream: Upstream, tmp_path: Path
) -> None:
    upstream.write_authority(tmp_path)
    upstream.on("*", Reply(body=b"x"))
    doomed, other = start(tmp_path, upstream, 500), start(tmp_path, upstream, 5)
    go(doomed)
    until(lambda: len(upstream.seen) >= 3)
    doomed.kill()
    end(doomed)
    before = len(upstream.seen)
    last = upstream.seen[-1].at
    go(other)
    assert len(slots_of(other)) >= 5
    assert len(upstream.seen) == before + 5
    assert upstream.seen[-1].at - last < 5
