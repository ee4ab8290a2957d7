"""Tests that the suite sets the signal dispositions that it needs, under any parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")


def test_the_process_and_its_children_can_be_interrupted() -> None:
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    ask = "import signal; print(signal.getsignal(2) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, check=True)
    assert done.stdout == b"True\n"


@pytest.mark.parametrize("workers", ["0", "1"], ids=["one-process", "xdist"])
def test_tests_of_interrupts_pass_under_a_parent_that_ignores_signals(workers: str) -> None:
    command = "TestPipesAndSignals::test_an_interrupt_ends_the_command_without_a_traceback"
    tests = (
        f"{__file__}::test_the_process_and_its_children_can_be_interrupted",
        f"{TESTS}/sandbox/test_signals.py",
        f"{TESTS}/host/cli/test_cli_outcomes.py::{command}",
    )
    options = ("-q", "-p", "no:cacheprovider", "-n", workers)
    done = subprocess.run(
        [
            *("sh", "-c", 'trap "" INT TERM HUP ALRM USR1; exec "$@"', "sh"),
            *(sys.executable, "-m", "pytest", *options, *tests),
        ],
        cwd=TESTS.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed in " in done.stdout.splitlines()[-1]
