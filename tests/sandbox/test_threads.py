"""How many threads a component's calls take."""

from __future__ import annotations

import threading

from carrel.exchange import Call
from carrel.runtime.instance import OfflineFetcher
from support.guests import guest

from .conftest import Load


def threads_of(name: str) -> int:
    return sum(one.name.startswith(f"carrel-{name}-") for one in threading.enumerate())


def test_calls_one_after_another_take_one_thread(load: Load) -> None:
    component = load(guest(), "lonely")
    left, done = [50], threading.Event()

    def next_call() -> None:
        # Asked for by whoever is told of the last one's end, so as early as can be.
        left[0] -= 1
        if left[0] == 0:
            done.set()
            return
        call = Call("lonely", "tool")
        component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={}).when_done(
            next_call
        )

    next_call()
    assert done.wait(10)
    assert threads_of("lonely") == 1
    component.close()


def test_as_many_threads_are_made_as_calls_run_at_once(load: Load) -> None:
    component = load(guest("(loop $l (br $l))"), "crowd")
    calls = [Call("crowd", "tool") for _ in range(3)]
    running = [
        component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
        for call in calls
    ]
    assert threads_of("crowd") == 3
    for call, pending in zip(calls, running, strict=True):
        call.cancel()
        pending.when_done(lambda: None)
    component.close()
