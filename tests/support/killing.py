"""Kills a process at random moments, repeatedly.

A worker is a Python program that prints `ready`, then `done WHAT` each time a step is durable.
`kill_rounds` starts it, kills it with SIGKILL after a random delay, and yields what it had
acknowledged, so that the caller can compare that with the files on disk.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

_TESTS = Path(__file__).parents[1]


def rounds(usual: int) -> int:
    """Returns the number of kills: `usual`, or CARREL_TEST_KILLS (400 is the promise)."""
    return int(os.environ.get("CARREL_TEST_KILLS") or usual)


def kill_rounds(
    worker: Path,
    words: Callable[[int], Sequence[str]],
    *,
    count: int,
    longest: float,
    env: Mapping[str, str] | None = None,
) -> Iterator[list[str]]:
    """Yields the acknowledged steps of each killed worker, in order.

    Args:
        worker: the program.
        words: returns its arguments for the number of the round.
        count: the number of kills.
        longest: seconds after `ready` within which it is killed.
        env: further variables of its environment.
    """
    chance = random.Random(20_260)
    for number in range(count):
        process = subprocess.Popen(
            [sys.executable, str(worker), *words(number)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(_TESTS), **(env or {})},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0, longest))
        process.send_signal(signal.SIGKILL)
        output = process.stdout.read().decode()
        process.stdout.close()
        code = process.wait()
        assert code == -signal.SIGKILL, f"the worker ended by itself with {code}"
        # An incomplete line is not an acknowledgement.
        whole = output.splitlines() if output.endswith("\n") else output.splitlines()[:-1]
        yield [line.removeprefix("done ") for line in whole]
