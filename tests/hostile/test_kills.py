"""Tests that 400 kills at random points of installs and updates corrupt and lose nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from carrel.exchange import Response
from carrel.oci.documents import sha256
from carrel.oci.layout import read_plugin
from carrel.plugins.approval.lockfile import read_lock

from .installing_worker import (
    MAX_BYTES,
    VERSIONS,
    Installation,
    asked,
    code,
    component,
    locked,
    response,
)

pytestmark = pytest.mark.alone

KILLS = 400
#: Kills per folder.
_IN_ONE_FOLDER = 8
_SIDE_BY_SIDE = 4
#: Seconds within which the first child is killed. Later values depend on the machine's speed, so
#: that about one installation finishes before each kill.
_LONGEST = 0.08
_TESTS = Path(__file__).parents[1]


class Acknowledged:
    """The operations that the killed processes of one folder reported as done and as begun."""

    def __init__(self) -> None:
        self.versions: set[int] = set()
        self.current: set[int] = set()
        self.recorded: dict[int, set[int]] = {0: set(), 1: set()}

    def hear(self, lines: list[str]) -> None:
        assert "ended by itself" not in lines, "the child failed"
        for line in lines:
            word, _, number = line.partition(" ")
            if word == "done":
                self.versions.add(int(number))
                self.current = {int(number)}
                self.recorded[int(number) % 2] = {int(number)}
            elif word == "begin":
                # The kill may happen before or after any step of this one.
                self.current |= {int(number)}
                self.recorded[int(number) % 2] |= {int(number)}


def require_whole(folder: Path, acknowledged: Acknowledged) -> None:
    now = Installation(folder)
    digest = now.store.resolve(now.where)
    if acknowledged.versions:
        assert digest is not None, "an acknowledged installation is gone"
    if digest is not None:
        kept = read_plugin(now.store.repository(now.where), digest, max_bytes=MAX_BYTES)
        assert kept.wasm in [component(version) for version in acknowledged.current]
    entries = read_lock(now.lock)
    assert entries or not acknowledged.versions
    for entry in entries.values():
        assert entry in [locked(version) for version in acknowledged.current]
    for path in (folder / "store").glob("blobs/sha256/*"):
        assert path.suffix == ".tmp" or sha256(path.read_bytes()) == f"sha256:{path.name}"
    for version in range(VERSIONS):
        found = now.code.find(f"key{version}")
        assert found is None or found.read_bytes() == code(version)
        assert found is not None or version not in acknowledged.versions
        answer = now.answers.get(b"%d" % version, fresh_seconds=1e6, negative_seconds=1e6)
        assert answer is None or answer.response.body == response(version).body
        assert answer is not None or version not in acknowledged.versions
    for parity, versions in acknowledged.recorded.items():
        outcome = now.recordings.find(asked(parity))
        if outcome is not None:
            assert isinstance(outcome, Response)
            whole = [one for one in versions if response(one).body == outcome.body]
            assert whole, "a recording of no version"
            assert outcome.size == len(outcome.body), "an exchange of one with the body of another"
        assert outcome is not None or not acknowledged.versions & {parity, parity + 2, parity + 4}
    now.answers.close()


def kill(folder: Path, kills: int, seed: int) -> tuple[int, int]:
    """Kills so many installing processes in sequence, and checks the files after each.

    Returns:
        The number of finished installations, and of kills that interrupted one.
    """
    chance = random.Random(seed)
    finished = interrupted = 0
    longest = _LONGEST
    with subprocess.Popen(
        [sys.executable, "-m", "hostile.installing_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(_TESTS)},
    ) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        for number in range(kills):
            place = folder / str(number // _IN_ONE_FOLDER)
            if number % _IN_ONE_FOLDER == 0:
                acknowledged = Acknowledged()
            nursery.stdin.write(f"{place} {chance.uniform(0, longest)}\n")
            nursery.stdin.flush()
            lines = json.loads(nursery.stdout.readline())
            acknowledged.hear(lines)
            finished += sum(line.startswith("done") for line in lines)
            longest *= 1.1 if finished < number else 0.9
            interrupted += bool(lines) and lines[-1].startswith("begin")
            require_whole(place, acknowledged)
        nursery.stdin.close()
        assert nursery.wait(20) == 0
    return finished, interrupted


@pytest.mark.long("kills")
@pytest.mark.skipif(os.name != "posix", reason="fork and SIGKILL are POSIX's")
@pytest.mark.requirement("plugin:pinned:killed")
def test_four_hundred_kills_corrupt_nothing_and_lose_nothing_acknowledged(tmp_path: Path) -> None:
    # Most of the time is waiting for the next kill, so several folders run in parallel.
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        outcomes = list(
            pool.map(
                lambda line: kill(tmp_path / str(line), KILLS // _SIDE_BY_SIDE, line),
                range(_SIDE_BY_SIDE),
            )
        )
    assert sum(finished for finished, _ in outcomes) > KILLS / 4, "hardly ever one to its end"
    assert sum(interrupted for _, interrupted in outcomes) > KILLS / 2, "hardly ever one cut off"
