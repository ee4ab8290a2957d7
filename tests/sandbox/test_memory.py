"""What the host keeps of memory that was freed."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
from carrel.runtime.memory import keep_freed
if sys.argv[1] == "kept":
    keep_freed()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
first = b"x" * 20_000_000
del first
before = faults()
again = b"y" * 20_000_000
print(faults() - before)
"""


def faults_of_the_second_block(how: str) -> int:
    command = [sys.executable, "-c", _FAULTS, how]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_a_large_block_that_was_freed_is_used_again() -> None:
    assert faults_of_the_second_block("as it is") > 1000
    assert faults_of_the_second_block("kept") < 100
