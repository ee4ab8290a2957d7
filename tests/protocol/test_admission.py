"""Tests the pace of principals' requests over HTTP, with a clock of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from carrel.config import HttpConfig, ServerConfig
from carrel.config.model import IdentityConfig
from carrel.principal import LOCAL, Principal
from carrel.server.http.admission import BYTES, LARGE, PLAIN, RequestAdmission, body_units
from carrel.server.http.gate import Gate
from carrel.server.http.identity import LocalIdentifier
from carrel.server.http.sessions import Sessions
from carrel.server.identity.allowances import Allowances
from carrel.server.operations.routes import RouteReply

ALICE, BOB = Principal("alice"), Principal("bob")


class StillClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def turns(count: int) -> None:
    """Lets the event loop make so many turns."""
    for _ in range(count):
        await asyncio.sleep(0)


def asked(
    admission: RequestAdmission, principal: Principal, count: int
) -> list[asyncio.Task[None]]:
    return [asyncio.ensure_future(admission.admit(principal, {})) for _ in range(count)]


@pytest.mark.anyio
async def test_of_one_principal_one_request_is_admitted_in_a_turn_of_the_loop() -> None:
    admission = RequestAdmission(20)
    flood = asked(admission, ALICE, 50)
    await turns(3)
    assert sum(one.done() for one in flood) <= 4
    await asyncio.wait_for(admission.admit(BOB, {}), 1)
    assert sum(one.done() for one in flood) <= 5, "another principal need not wait for them"
    await turns(200)
    assert all(one.done() for one in flood)


@pytest.mark.anyio
async def test_a_principal_without_units_waits_until_it_has_some() -> None:
    clock = StillClock()
    admission = RequestAdmission(20, clock=clock)
    admission.charge(ALICE, 250)  # 200 may be used at once, 100 more each second
    [held] = asked(admission, ALICE, 1)
    await asyncio.sleep(0.05)
    assert not held.done()
    assert admission.waiting(ALICE) == 1
    clock.now += 0.6
    await asyncio.wait_for(held, 5)
    assert admission.waiting(ALICE) == 0


@pytest.mark.anyio
async def test_a_request_whose_client_vanishes_waits_no_longer() -> None:
    admission = RequestAdmission(20, clock=StillClock())
    admission.charge(ALICE, 1e6)
    state: dict[str, Any] = {}
    held = asyncio.ensure_future(admission.admit(ALICE, state))
    await turns(2)
    [vanish] = state.values()
    vanish()
    with pytest.raises(ConnectionResetError):
        await held
    assert state == {}


@pytest.mark.anyio
async def test_at_the_end_of_the_server_all_are_admitted() -> None:
    admission = RequestAdmission(20, clock=StillClock())
    admission.charge(ALICE, 1e6)
    held = asked(admission, ALICE, 30)
    await turns(2)
    admission.stop()
    await asyncio.wait_for(asyncio.gather(*held), 5)
    await asyncio.wait_for(admission.admit(ALICE, {}), 1)


@pytest.mark.anyio
async def test_principals_are_forgotten_when_they_have_all_their_units() -> None:
    clock = StillClock()
    admission = RequestAdmission(20, clock=clock)
    for number in range(5000):
        clock.now += 0.01
        await admission.admit(Principal(f"p{number}"), {})
        await turns(1)
    assert len(admission) < 500
    for number in range(3):
        clock.now += 10
        await admission.admit(Principal(f"last{number}"), {})
        await turns(1)
    assert len(admission) <= 2


@pytest.mark.anyio
async def test_the_local_user_is_never_held() -> None:
    admission = RequestAdmission(1, clock=StillClock())
    admission.charge(LOCAL, 1e6)
    for _ in range(1000):
        await admission.admit(LOCAL, {})
    assert len(admission) == 0


def test_a_call_of_any_kind_fits_into_the_rate_of_calls() -> None:
    """A principal that makes its calls a second, each by way of the SDK, is not held."""
    clock = StillClock()
    admission = RequestAdmission(20, clock=clock)

    async def calls() -> None:
        for _ in range(400):
            clock.now += 0.05
            await asyncio.wait_for(admission.admit(ALICE, {}), 1)
            admission.charge(ALICE, 5 - PLAIN)
            await turns(1)

    asyncio.run(calls())


class OnlyAlice(LocalIdentifier):
    async def identify(self, headers: Any, query: bytes) -> Principal:
        del headers, query
        return ALICE


async def progress(
    admission: RequestAdmission, fields: Mapping[str, str], body: bytes | None
) -> tuple[int, int]:
    """Posts thirty messages of Alice at once; returns how many are read, and how many answered.

    Args:
        admission: uses a clock that does not advance.
        fields: further header fields.
        body: what is sent; None if nothing arrives.
    """
    http, manager = HttpConfig(), cast("Any", None)
    gate = Gate(
        manager, Sessions(http), ServerConfig(), http, identifier=OnlyAlice(), admission=admission
    )
    read, answered = 0, 0

    async def receive() -> Any:
        nonlocal read
        read += 1
        if body is None:
            return await asyncio.get_running_loop().create_future()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal answered
        answered += message["type"] == "http.response.start"

    own = {
        "host": "localhost",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        **fields,
    }
    headers = [(name.encode(), value.encode()) for name, value in own.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp"}
    scopes = [{**scope, "query_string": b"", "headers": headers, "state": {}} for _ in range(30)]
    requests = [asyncio.ensure_future(gate(one, receive, send)) for one in scopes]
    await turns(300)
    found = read, answered
    for one in requests:
        one.cancel()
    await asyncio.gather(*requests, return_exceptions=True)
    return found


@pytest.mark.anyio
@pytest.mark.parametrize(("size", "read"), [(400_000, 16), (3_200_000, 1)])
async def test_a_declared_body_is_charged_before_it_is_read(size: int, read: int) -> None:
    """So large bodies that arrive together are not read, and parsed, one after the other.

    While any of 200 units is left, the next is admitted; one costs 13.2, or 597.
    """
    admission = RequestAdmission(20, clock=StillClock())
    assert await progress(admission, {"content-length": str(size)}, None) == (read, 0)


@pytest.mark.anyio
async def test_a_body_in_chunks_is_charged_before_it_is_decoded() -> None:
    """The heads cost 30 units, and each body 12.2."""
    admission = RequestAdmission(20, clock=StillClock())
    chunked = {"transfer-encoding": "chunked"}
    assert await progress(admission, chunked, b"x" * 400_000) == (30, 14)


@pytest.mark.anyio
async def test_a_body_that_is_refused_unread_costs_no_more_than_its_head() -> None:
    admission = RequestAdmission(20, clock=StillClock())
    assert await progress(admission, {"content-length": "9" * 9}, b"x") == (30, 30)


class Endless:
    """A session manager whose streams do not end."""

    served = 0

    async def asgi_app(self, scope: Any, receive: Any, send: Any) -> None:
        del scope, receive, send
        self.served += 1
        await asyncio.get_running_loop().create_future()


async def resumed(**limits: Any) -> tuple[int, list[int]]:
    """Resumes a stream with a response of 2 MB thirty times at once; returns how many streams are
    served, and the statuses of the others.
    """
    http, manager = HttpConfig(), Endless()
    statuses: list[int] = []
    sessions = Sessions(http)
    kept = sessions.events.session(ALICE.name)
    sessions.open("one", ALICE, kept)
    last = kept.start_stream("1")
    kept.end_stream("1", b"x" * 2_000_000)
    gate = Gate(
        cast("Any", manager), sessions, ServerConfig(), http, identifier=OnlyAlice(), **limits
    )

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    own = {"host": "localhost", "mcp-session-id": "one", "last-event-id": last}
    headers = [(name.encode(), value.encode()) for name, value in own.items()]
    scope = {"type": "http", "method": "GET", "path": "/mcp", "raw_path": b"/mcp"}
    scopes = [{**scope, "query_string": b"", "headers": headers, "state": {}} for _ in range(30)]
    requests = [asyncio.ensure_future(gate(one, cast("Any", None), send)) for one in scopes]
    await turns(300)
    for one in requests:
        one.cancel()
    await asyncio.gather(*requests, return_exceptions=True)
    return manager.served, statuses


@pytest.mark.anyio
async def test_a_resumed_stream_costs_what_is_sent_again() -> None:
    """Of 200 units, each costs 5 and 61; another is admitted before one is charged."""
    admission = RequestAdmission(20, clock=StillClock())
    assert await resumed(admission=admission) == (5, [])


@pytest.mark.anyio
async def test_a_principal_resumes_no_more_streams_than_it_may_have_requests_in_flight() -> None:
    """Those are counted apart, because the calls of the broken streams still run."""
    allowances = Allowances(IdentityConfig(max_in_flight=3), 1.0)
    with allowances.in_flight(ALICE), allowances.in_flight(ALICE), allowances.in_flight(ALICE):
        assert await resumed(allowances=allowances) == (3, [429] * 27)


class OnePath:
    """Answers one path of an operator."""

    def __init__(self) -> None:
        self.answered = 0

    def access(self, path: str) -> str | None:
        del path
        return "identified"

    async def reply(self, method: str, path: str, principal: Principal | None) -> RouteReply:
        del method, path, principal
        self.answered += 1
        return RouteReply(200, b"{}")


@pytest.mark.anyio
async def test_paths_for_operators_cost_what_other_requests_do() -> None:
    """Of 200 units each takes five."""
    admission = RequestAdmission(20, clock=StillClock())
    http, manager, routes = HttpConfig(), cast("Any", None), OnePath()
    gate = Gate(
        manager,
        Sessions(http),
        ServerConfig(),
        http,
        identifier=OnlyAlice(),
        admission=admission,
        routes=cast("Any", routes),
    )

    async def ignore(_message: Any) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": "/status.json", "raw_path": b"/status.json"}
    more = {"query_string": b"", "headers": [(b"host", b"localhost")]}
    requests = [
        asyncio.ensure_future(gate({**scope, **more, "state": {}}, cast("Any", None), ignore))
        for _ in range(60)
    ]
    await turns(300)
    assert routes.answered == 40
    for one in requests:
        one.cancel()
    await asyncio.gather(*requests, return_exceptions=True)


def test_a_large_body_costs_more_than_its_parts() -> None:
    assert body_units(0) == 0
    assert body_units(LARGE) == LARGE / BYTES
    assert body_units(4 * LARGE) == 4 * 4 * body_units(LARGE)
    assert body_units(2**30) == 8 * 2**30 / BYTES
