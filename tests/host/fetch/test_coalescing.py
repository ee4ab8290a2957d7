from __future__ import annotations

import asyncio

import pytest

from carrel.fetch.batches import Coalescer


def test_identical_concurrent_requests_are_coalesced() -> None:
    flown = 0

    async def fly() -> str:
        nonlocal flown
        flown += 1
        await asyncio.sleep(0)
        return "answer"

    async def work() -> None:
        coalescer: Coalescer[str] = Coalescer()
        results = await asyncio.gather(*(coalescer.join("key", fly) for _ in range(5)))
        assert [result for result, _ in results] == ["answer"] * 5
        assert [led for _, led in results].count(True) == 1
        await coalescer.join("key", fly)

    asyncio.run(work())
    assert flown == 2, "five at once, and one afterwards"


def test_a_cancelled_leader_does_not_fail_coalesced_requests() -> None:
    async def work() -> None:
        coalescer: Coalescer[str] = Coalescer()
        landed = asyncio.Event()

        async def fly() -> str:
            await landed.wait()
            return "answer"

        leader = asyncio.create_task(coalescer.join("key", fly))
        await asyncio.sleep(0)
        follower = asyncio.create_task(coalescer.join("key", fly))
        await asyncio.sleep(0)
        leader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leader
        landed.set()
        assert await follower == ("answer", False)

    asyncio.run(work())


def test_a_request_without_waiters_is_cancelled_and_not_joined() -> None:
    async def work() -> None:
        coalescer: Coalescer[str] = Coalescer()
        ended = asyncio.Event()

        async def hang() -> str:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return "never"

        async def fly() -> str:
            return "answer"

        only = asyncio.create_task(coalescer.join("key", hang))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        only.cancel()
        await asyncio.gather(only, return_exceptions=True)
        assert await coalescer.join("key", fly) == ("answer", True)
        await asyncio.wait_for(ended.wait(), 5)

    asyncio.run(work())
