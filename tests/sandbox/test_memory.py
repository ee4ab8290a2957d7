"""Tests that freed memory is returned to the operating system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
from carrel.runtime import memory
if sys.argv[1] == "keep_freed":
    memory.keep_freed()
elif sys.argv[1] == "own_process":
    memory.own_process()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
size = int(sys.argv[2])
first = b"x" * size
del first
before = faults()
again = b"y" * size
print(faults() - before)
"""


def faults_of_the_second_block(how: str, size: int) -> int:
    command = [sys.executable, "-c", _FAULTS, how, str(size)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize(("how", "size"), [("keep_freed", 20_000_000), ("own_process", 4_000_000)])
def test_a_large_freed_block_is_reused(how: str, size: int) -> None:
    assert faults_of_the_second_block("as it is", size) > 900
    assert faults_of_the_second_block(how, size) < 100
