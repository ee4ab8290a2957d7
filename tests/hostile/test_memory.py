"""Ten thousand hostile calls leave nothing behind in the host's memory."""

from __future__ import annotations

import asyncio
import gc

import psutil
import pytest

from carrel.errors import CarrelError
from carrel.tools import Toolbox

from .behaviours import CHEAP, tool_name

CALLS = 10_000
_AT_ONCE = 4
#: Calls after which threads, arenas and lazily made things are there.
_WARM_UP = 2_500
#: Each takes a second, most of it the library's: made one time in a thousand.
_SELDOM = {"fetch-all-100000"}
_OFTEN = [f"hostile_{tool_name(one)}" for one in CHEAP if one.name not in _SELDOM]
_RARE = [f"hostile_{tool_name(one)}" for one in CHEAP if one.name in _SELDOM]


async def call(toolbox: Toolbox, numbers: range) -> int:
    """Makes the calls, a few at once; how many failed as they should."""
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


def resident() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


@pytest.mark.slow
@pytest.mark.requirement("serve:alive:hostile-memory")
def test_ten_thousand_hostile_calls_grow_memory_by_less_than_five_percent(
    neighbours: Toolbox,
) -> None:
    asyncio.run(call(neighbours, range(_WARM_UP)))
    before = resident()
    failed = asyncio.run(call(neighbours, range(_WARM_UP, _WARM_UP + CALLS)))
    after = resident()
    print(f"{before >> 10} KiB, {after >> 10} KiB: {after / before:.3f}")  # noqa: T201
    assert failed == CALLS
    assert after < 1.05 * before
