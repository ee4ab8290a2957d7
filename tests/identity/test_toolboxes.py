"""Tests when the toolbox of a principal is created, and who shares it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import carrel.server.toolbox_loader as module
from carrel.principal import Principal, acting_as
from carrel.server.toolbox_loader import ToolboxLoader


class Toolbox:
    """Offers nothing."""

    prompts: Any = property(lambda self: self)

    def tools(self) -> tuple[()]:
        return ()

    resource_templates = listed = tools

    def close(self) -> None:
        pass


@pytest.fixture
def limited() -> Iterator[None]:
    """Ends a test whose event loop is blocked."""

    def ended(*_: object) -> None:
        raise TimeoutError("the event loop is blocked")

    before = signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, 10)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there is no SIGALRM")
@pytest.mark.usefixtures("limited")
def test_a_request_in_the_moment_a_toolbox_is_ready_gets_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, own = Toolbox(), Toolbox()

    async def run() -> list[object]:
        threads: list[asyncio.Future[Any]] = []

        def run_in_thread(*_: object) -> asyncio.Future[Any]:
            threads.append(asyncio.get_running_loop().create_future())
            return threads[-1]

        monkeypatch.setattr(module, "run_in_thread", run_in_thread)
        loader = ToolboxLoader(lambda: server, derive=lambda *_: own)  # type: ignore[arg-type, return-value]
        loader.start()
        threads[0].set_result(server)
        await asyncio.sleep(0)
        with acting_as(Principal("bob")):
            earlier = asyncio.create_task(loader.get())
            await asyncio.sleep(0)
            threads[1].set_result(own)
            # What keeps the toolbox runs in the next turn of the loop, after this request.
            return [await loader.get(), await earlier, await loader.get()]

    assert asyncio.run(run()) == [own, own, own]


def test_tokens_whose_scopes_grant_the_same_share_a_toolbox() -> None:
    derived: list[Principal] = []

    def derive(_server: object, principal: Principal) -> Toolbox:
        derived.append(principal)
        return Toolbox()

    async def run() -> list[object]:
        loader = ToolboxLoader(Toolbox, derive=derive)  # type: ignore[arg-type]
        found: list[object] = []
        for scope in ("openid", "email", "transaction:1"):
            with acting_as(Principal("bob", frozenset({"carrel", scope}))):
                found += [await loader.get(), loader.loaded]
        with acting_as(Principal("bob", frozenset({"carrel"}), plugins=frozenset({"arxiv"}))):
            assert await loader.get() not in found
        with acting_as(Principal("ann", frozenset({"carrel"}))):
            assert await loader.get() not in found
        return found

    found = asyncio.run(run())
    assert len(found) == 6
    assert len(set(map(id, found))) == 1
    assert [one.name for one in derived] == ["bob", "bob", "ann"]
