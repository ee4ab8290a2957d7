"""Tests that progress rises, is sent at most ten times a second, and has heartbeats."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from carrel.server.progress import INTERVAL, SILENCE, ProgressRelay
from support.stdio_client import StdioClient


def test_progress_of_a_quick_call_is_thinned(era_client: StdioClient) -> None:
    id_ = era_client.start_call("work", token="busy", steps=5000)
    answer = era_client.answer(id_)
    assert answer["result"]["structuredContent"] == {"steps": 5000}
    reports = [
        frame["params"]
        for frame, _ in era_client.pairs
        if frame.get("method") == "notifications/progress"
        and frame["params"]["progressToken"] == "busy"
    ]
    assert 1 <= len(reports) <= 20
    done = [report["progress"] for report in reports]
    assert done == sorted(set(done))
    assert all(report["total"] == 5000 for report in reports)


def test_clients_that_did_not_ask_for_progress_get_none(era_client: StdioClient) -> None:
    before = len(era_client.pairs)
    era_client.result("work", steps=50)
    assert len(era_client.pairs) == before + 1


@pytest.mark.requirement("serve:alive:sign-of-life")
def test_a_call_that_falls_silent_shows_that_it_still_runs(client: StdioClient) -> None:
    id_ = client.start_call("wait", token="silent", key="silent")
    assert client.notification("notifications/progress")["params"]["message"] == "waiting"
    sign = client.notification("notifications/progress")["params"]
    assert sign["message"] == "still working after 1 s: waiting"
    assert sign["progress"] == 2
    client.result("release", key="silent")
    assert client.answer(id_)["result"]["structuredContent"] == {"released": "silent"}


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    async def pass_time(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 0.05)
            for _ in range(5):
                await asyncio.sleep(0)


def relayed(script: Callable[[Loop, ProgressRelay], Any]) -> list[tuple[float, Any, Any, Any]]:
    """Returns the notifications that a script sends to a client, with their times."""
    loop = Loop()
    heard: list[tuple[float, Any, Any, Any]] = []

    async def send(done: float, total: float | None, message: str | None) -> None:
        heard.append((round(loop.now, 2), done, total, message))

    async def run() -> None:
        relay = ProgressRelay(loop, send)
        await script(loop, relay)
        relay.close()
        await loop.pass_time(3.0)

    try:
        loop.run_until_complete(run())
    finally:
        loop.close()
    return heard


def test_the_latest_of_many_reports_is_sent_when_its_time_comes() -> None:
    async def script(loop: Loop, relay: ProgressRelay) -> None:
        for step in range(1, 11):
            relay(step, 10, f"step {step}")
            await loop.pass_time(0.05)

    heard = relayed(script)
    assert heard[0][1:] == (1, 10, "step 1")
    times = [time for time, *_ in heard]
    assert all(later - sooner >= INTERVAL - 0.01 for sooner, later in itertools.pairwise(times))
    assert len(heard) <= 6


def test_progress_always_increases() -> None:
    async def script(loop: Loop, relay: ProgressRelay) -> None:
        for done in (1.0, 3.0, 2.0, 3.0, math.nan, math.inf, 4.0):
            relay(done, None, "")
            await loop.pass_time(0.2)

    assert [done for _, done, _, _ in relayed(script)] == [1.0, 3.0, 4.0]


def test_a_call_without_reports_sends_a_heartbeat_each_second() -> None:
    async def script(loop: Loop, relay: ProgressRelay) -> None:
        await loop.pass_time(2.5 * SILENCE)
        relay(1, 2, "half\nway\x1b")
        await loop.pass_time(0.2)

    heard = relayed(script)
    assert [message for *_, message in heard] == [
        "still working after 1 s",
        "still working after 2 s",
        "1 of 2: half way ",
    ]
    assert [time for time, *_ in heard[:2]] == pytest.approx([1.0, 2.0], abs=0.11)
    assert [done for _, done, _, _ in heard] == [0, 1, 2]
    assert {total for _, _, total, _ in heard} == {None}


def test_a_keep_alive_notification_never_reports_completion() -> None:
    async def script(loop: Loop, relay: ProgressRelay) -> None:
        relay(5, 5, "last step")
        await loop.pass_time(3.0)

    assert [done for _, done, _, _ in relayed(script)] == [5]


def test_a_wait_is_reported_without_counting_as_work() -> None:
    async def script(loop: Loop, relay: ProgressRelay) -> None:
        relay(0, 2, "asking")
        await loop.pass_time(0.2)
        for _ in range(6):
            relay(0, 2, "waiting for a slot")
            await loop.pass_time(0.25)
        relay(1, 2, "reading")
        await loop.pass_time(0.2)
        relay(2, 2, "done")
        await loop.pass_time(0.2)

    assert [(done, total, message) for _, done, total, message in relayed(script)] == [
        (0, None, "asking"),
        (1, None, "waiting for a slot"),
        (2, None, "still working after 1 s: waiting for a slot"),
        (3, None, "1 of 2: reading"),
        (4, None, "2 of 2: done"),
    ]


def test_steps_without_waits_keep_their_total_and_are_whole_numbers() -> None:
    async def script(loop: Loop, relay: ProgressRelay) -> None:
        for done in (0.0, 1.0, 2.0):
            relay(done, 2.0, "step")
            await loop.pass_time(0.2)

    heard = [(done, total) for _, done, total, _ in relayed(script)]
    assert heard == [(0, None), (1, 2), (2, 2)]
    assert all(isinstance(done, int) for done, _ in heard)


def test_a_report_with_lower_progress_does_not_replace_a_pending_one() -> None:
    async def script(loop: Loop, relay: ProgressRelay) -> None:
        relay(1, 5, "one")
        await loop.pass_time(0.05)
        relay(5, 5, "five")
        relay(1, 5, "backwards")
        await loop.pass_time(0.2)

    assert [message for *_, message in relayed(script)] == ["one", "five"]


def test_a_closed_relay_is_silent() -> None:
    async def script(_loop: Loop, relay: ProgressRelay) -> None:
        relay.close()
        relay(1, None, "too late")

    assert relayed(script) == []


def test_a_finished_relay_has_sent_its_last_notification() -> None:
    """A response that overtakes it would end the stream that the notification needs."""
    sent: list[float] = []

    async def send(done: float, _total: float | None, _message: str | None) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        sent.append(done)

    async def drive() -> None:
        relay = ProgressRelay(asyncio.get_running_loop(), send)
        relay(1, 2, "half")
        await asyncio.sleep(0)
        await relay.finish()
        assert sent == [1]

    asyncio.run(drive())
