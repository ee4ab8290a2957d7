"""Tests that ten thousand hostile calls do not leak memory of the host."""

from __future__ import annotations

import asyncio
import gc

import psutil
import pytest

from carrel.errors import CarrelError
from carrel.runtime.memory import give_back
from carrel.tools import Toolbox

from .behaviours import CHEAP, tool_name

pytestmark = pytest.mark.alone

CALLS = 10_000
_AT_ONCE = 4
#: Calls after which threads, arenas and lazily created objects exist.
_WARM_UP = 5_500
#: Calls between two samples, and the number of samples whose minimum is the first or last level.
_STEP = 500
_LEVELS = 6
#: Each takes a second, most of it in wasmtime: called once in a thousand calls.
_SELDOM = {"fetch-all-100000"}
_OFTEN = [f"hostile_{tool_name(one)}" for one in CHEAP if one.name not in _SELDOM]
_RARE = [f"hostile_{tool_name(one)}" for one in CHEAP if one.name in _SELDOM]


async def call(toolbox: Toolbox, numbers: range) -> int:
    """Makes the calls, some concurrently; returns how many failed with the expected error."""
    waiting = iter(numbers)
    failed = 0

    async def worker() -> None:
        nonlocal failed
        for number in waiting:
            tool = _RARE[0] if number % 1000 == 999 else _OFTEN[number % len(_OFTEN)]
            try:
                await toolbox.call(tool, {})
            except CarrelError:
                failed += 1

    await asyncio.gather(*(worker() for _ in range(_AT_ONCE)))
    return failed


async def fill_workers(toolbox: Toolbox) -> None:
    """Runs a large guest in every worker: each keeps some of its memory for the next one."""
    grown = next(one for one in CHEAP if one.name == "grown-then-unreachable")
    calls = (toolbox.call(f"hostile_{tool_name(grown)}", {}) for _ in range(600))
    await asyncio.gather(*calls, return_exceptions=True)


def resident() -> int:
    """Returns resident memory without memory that was freed and that the C library keeps."""
    gc.collect()
    give_back()
    return int(psutil.Process().memory_info().rss)


@pytest.mark.long("flood")
@pytest.mark.requirement("serve:alive:hostile-memory")
def test_ten_thousand_hostile_calls_grow_memory_by_less_than_five_percent(
    neighbours: Toolbox,
) -> None:
    asyncio.run(fill_workers(neighbours))
    asyncio.run(call(neighbours, range(_WARM_UP)))
    levels, failed = [], 0
    for start in range(_WARM_UP, _WARM_UP + CALLS, _STEP):
        failed += asyncio.run(call(neighbours, range(start, start + _STEP)))
        levels.append(resident())
    assert failed == CALLS
    # It varies by the memory that workers keep; a leak raises the minimum too.
    before, after = min(levels[:_LEVELS]), min(levels[-_LEVELS:])
    shown = " ".join(str(level >> 20) for level in levels)
    print(f"{before >> 10} KiB, {after >> 10} KiB: {after / before:.3f} ({shown} MiB)")  # noqa: T201
    assert after < 1.05 * before
