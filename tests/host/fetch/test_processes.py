"""Several processes at one upstream share its pace."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from support.fetch_harness import until
from support.upstream import Reply, Upstream

INTERVAL = 0.1

_CHILD = """
import sys
from pathlib import Path
from carrel.exchange import Call, Request, Response
from carrel.fetch import FetchClient, FetchSettings, HostRule, Pace, Policy

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


@pytest.mark.requirement("sandbox:limits:pace-shared")
def test_two_processes_together_keep_the_pace_of_one(upstream: Upstream, tmp_path: Path) -> None:
    upstream.write_authority(tmp_path)
    upstream.on("*", Reply(body=b"x"))
    children = [start(tmp_path, upstream, 8) for _ in range(2)]
    go(*children)
    assert [end(child) for child in children] == [0, 0]
    times = sorted(seen.at for seen in upstream.seen)
    assert len(times) == 16
    # A request may be late on a busy machine, and the next one then on time.
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert sum(gaps) >= INTERVAL * 15 * 0.98
    assert len([gap for gap in gaps if gap < INTERVAL * 0.5]) <= 1
    assert times[-1] - times[0] < INTERVAL * 15 * 3, "and no slot is wasted"


def test_a_process_killed_in_its_turn_costs_the_other_one_slot(
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
    assert end(other) == 0
    assert len(upstream.seen) == before + 5
    assert upstream.seen[-1].at - last < 5
