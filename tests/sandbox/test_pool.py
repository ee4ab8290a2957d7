"""Tests the pool of guest memory: guests that do not fit, and machines without address space."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from carrel.exchange import Call
from carrel.runtime.instance import OfflineFetcher
from support.guests import guest

from .conftest import Invoke, Load

_MEMORIES = "".join(
    f"(core module $m{number} (memory 1)) (core instance (instantiate $m{number}))"
    for number in range(3)
)
_WITH_LITTLE_ROOM = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
from carrel.exchange import Call
from carrel.runtime.instance import OfflineFetcher
from carrel.runtime.pool import pooled_engine
print(pooled_engine(2**20))
import carrel
print(carrel.Carrel().parse("arxiv", "feed", '<feed xmlns="http://www.w3.org/2005/Atom"/>'))
"""


def resident() -> int:
    return int(psutil.Process().memory_info().rss)


def touching(pages: int) -> str:
    """Returns WAT that grows memory by so many times 64 KiB and writes into each new page."""
    return f"""
      (drop (memory.grow (i32.const {pages})))
      (loop $l
        (i32.store8 (i32.add (i32.const 131072) (local.get $i)) (i32.const 1))
        (local.set $i (i32.add (local.get $i) (i32.const 4096)))
        (br_if $l (i32.lt_u (local.get $i) (i32.const {pages * 65536}))))
    """


@pytest.mark.requirement("serve:alive:pool")
def test_a_component_larger_than_the_pool_runs_without_it(invoke: Invoke) -> None:
    assert invoke(guest(imports=_MEMORIES)) == "{}"


@pytest.mark.requirement("sandbox:fresh:pool")
def test_pooled_memory_is_zeroed_between_calls(load: Load) -> None:
    # Writes a byte in each of three pages, and fails if one is not zero.
    body = """
      (loop $l
        (if (i32.load8_u (i32.add (i32.const 70000) (local.get $i))) (then unreachable))
        (i32.store8 (i32.add (i32.const 70000) (local.get $i)) (i32.const 1))
        (local.set $i (i32.add (local.get $i) (i32.const 65536)))
        (br_if $l (i32.lt_u (local.get $i) (i32.const 196608))))
    """
    component = load(guest(body, pages=6))
    for _ in range(3):
        call = Call("guest", "tool")
        done = component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
        assert done.result(timeout=10) == "{}"
    component.close()


def test_memory_of_a_guest_is_returned_without_a_further_call(load: Load) -> None:
    component = load(guest(touching(2048)))
    before = resident()
    call = Call("guest", "tool")
    done = component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
    assert done.result(timeout=10) == "{}"
    # The result is available before the memory is.
    deadline = time.monotonic() + 5
    while resident() - before > 64 * 2**20:
        assert time.monotonic() < deadline, "a guest's memory outlives its call"
        time.sleep(0.01)
    component.close()


@pytest.mark.requirement("serve:alive:pool")
@pytest.mark.skipif(sys.platform != "linux", reason="a limit on addresses is Linux's")
def test_a_limit_of_address_space_disables_only_the_pool() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITH_LITTLE_ROOM],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.stdout == "None\n{'entries': []}\n", done.stderr[-1000:]
