"""Tests the parts of the HTTP server that need no connection."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Any, cast

import pytest
import uvicorn
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse
from uvicorn.server import ServerState

from carrel.config import HttpConfig
from carrel.errors import ConfigError
from carrel.principal import Principal
from carrel.server.http.address import parse_address
from carrel.server.http.connection import protocol_class
from carrel.server.http.events import EventLog, SessionEvents
from carrel.server.http.formats import OneEvent, ResponseOnly, accepted
from carrel.server.http.origins import OriginCheck
from carrel.server.http.refusals import REFUSALS
from carrel.server.http.sessions import HttpSession, Sessions
from support.pages import page

ANN, BEN = Principal("ann"), Principal("ben")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000/mcp"),
        ("127.8.9.10:1", "http://127.8.9.10:1/mcp"),
        ("localhost:65535", "http://localhost:65535/mcp"),
        ("LOCALHOST:80", "http://localhost:80/mcp"),
        ("[::1]:8000", "http://[::1]:8000/mcp"),
    ],
)
def test_loopback_addresses_are_accepted(text: str, url: str) -> None:
    address = parse_address(text)
    assert address.is_loopback
    assert address.url(address.port) == url


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0:80",
        "[::]:80",
        "192.168.1.2:80",
        "169.254.169.254:80",
        "[::ffff:127.0.0.1]:80",
        "example.org:80",
        "localhost.example.org:80",
        "127.1:80",
        "2130706433:80",
    ],
)
def test_other_addresses_are_not_loopback(text: str) -> None:
    assert not parse_address(text).is_loopback


@pytest.mark.parametrize("text", ["", "8000", ":8000", "localhost", "localhost:", "a b:1", "x:-1"])
def test_what_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize("text", ["localhost:65536", "localhost:99999999"])
def test_a_port_has_sixteen_bits(text: str) -> None:
    with pytest.raises(ConfigError, match="expected HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "origin", "name"),
    [
        ("localhost", None, None),
        ("LocalHost:8000", None, None),
        ("127.0.0.1:9", "http://127.0.0.1:9", None),
        ("[::1]:9", "http://[::1]:9", None),
        ("carrel.example.org", "https://notes.example.org", None),
        ("", None, "wrong-host"),
        ("evil.example", None, "wrong-host"),
        ("localhost.", None, "wrong-host"),
        ("localhost:8000:9", None, "wrong-host"),
        ("127.0.0.1, evil.example", None, "wrong-host"),
        ("carrel.example.org.evil.example", None, "wrong-host"),
        ("localhost:9", "http://localhost:8", "wrong-origin"),
        ("localhost:9", "http://localhost:9.evil.example", "wrong-origin"),
        ("localhost:9", "", "wrong-origin"),
        ("localhost:9", "file://localhost:9", "wrong-origin"),
        ("localhost:9", "https://notes.example.org:444", "wrong-origin"),
    ],
)
def test_hosts_and_origins(host: str, origin: str | None, name: str | None) -> None:
    check = OriginCheck(["carrel.example.org"], ["https://notes.example.org"])
    headers = {b"host": host.encode()}
    if origin is not None:
        headers[b"origin"] = origin.encode()
    refusal = check.refusal(headers)
    assert (refusal and refusal.name) == name


def test_every_refusal_is_documented() -> None:
    section = page("docs/reference/http.md").section("Refusals")
    text = "\n".join(section.lines)
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \| \u2212(\d+) \|", text, re.MULTILINE)
    documented = {name: (int(status), -int(code)) for name, status, code in rows}
    here = {name: (one.status, one.code) for name, one in REFUSALS.items()}
    here |= {"not-http": (400, -32600), "pipelined": (400, -32600)}
    here |= {"headers-too-slow": (408, -32600)}
    assert documented == here


# Events


def response(number: int, size: int = 0) -> JSONRPCMessage:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={"filler": "x" * size})


def note() -> JSONRPCMessage:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/progress")


def replay(events: SessionEvents, last: str) -> tuple[list[str | None], str | None]:
    found: list[str | None] = []

    async def take(event: EventMessage) -> None:
        found.append(event.event_id)

    return found, asyncio.run(events.replay_events_after(last, take))


def store(events: SessionEvents, stream: str, *messages: JSONRPCMessage | None) -> list[str]:
    return [asyncio.run(events.store_event(stream, one)) for one in messages]


def test_only_later_events_of_the_same_stream_are_replayed() -> None:
    log = EventLog(HttpConfig())
    events, other = log.session(), log.session()
    first, _, third = store(events, "1", None, note(), note())
    store(events, "2", note())
    store(other, "1", note())
    assert replay(events, first) == (["2", "3"], "1")
    assert replay(events, third) == ([], "1")
    [last] = store(events, "1", response(1))
    assert replay(events, third) == ([last], None), "a stream ends with its response"
    assert replay(events, last) == ([], None)
    assert replay(other, first) == ([], None), "an event of another session"


@pytest.mark.anyio
async def test_what_comes_while_a_stream_is_replayed_is_sent_too() -> None:
    """A response that a replay misses is never sent, and its client waits for it."""
    events = EventLog(HttpConfig()).session()
    events.expect("1")
    first = await events.store_event("1", None)
    await events.store_event("1", note())
    found: list[str | None] = []

    async def take(event: EventMessage) -> None:
        found.append(event.event_id)
        if len(found) < 3:
            await events.store_event("1", note())
        elif len(found) == 3:
            await events.store_event("1", response(1))

    assert await events.replay_events_after(first, take) is None
    assert found == ["2", "3", "4", "5"]


@pytest.mark.anyio
async def test_the_replay_of_a_running_call_goes_on_until_its_response() -> None:
    events = EventLog(HttpConfig()).session()
    events.expect("1")
    first = await events.store_event("1", None)
    found: list[str | None] = []

    async def take(event: EventMessage) -> None:
        found.append(event.event_id)

    replaying = asyncio.ensure_future(events.replay_events_after(first, take))
    for message in (note(), response(1)):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not replaying.done()
        await events.store_event("1", message)
    assert await replaying is None
    assert found == ["2", "3"]


def test_an_event_is_kept_as_text() -> None:
    """As objects, small values take ten times the bytes that are counted."""
    log = EventLog(HttpConfig())
    rows = [[number] for number in range(100_000)]
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result={"rows": rows})
    held = sys.getrefcount(message)
    [number] = store(log.session(), "1", message)
    assert sys.getrefcount(message) == held
    event = log.find(int(number))
    assert event is not None
    assert event.text == message.model_dump_json(by_alias=True).encode()
    assert len(event.text) <= event.size == log.bytes


@pytest.mark.parametrize(
    "spelled", ["01", " 1", "+1", "\u0661", "1" * 21, "0" * 19 + "1" + "9" * 5000]
)
def test_an_event_has_one_id(spelled: str) -> None:
    events = EventLog(HttpConfig()).session()
    assert store(events, "1", None) == ["1"]
    assert not events.knows(spelled)
    assert replay(events, spelled) == ([], None)


def test_events_are_limited_in_number_bytes_and_age() -> None:
    now = [0.0]
    settings = HttpConfig(max_events=3, max_event_bytes=5000, event_seconds=10)
    log = EventLog(settings, clock=lambda: now[0])
    events, other = log.session(), log.session()
    numbers = store(events, "1", *[note()] * 5)
    assert [events.knows(one) for one in numbers] == [False, False, True, True, True]
    store(other, "1", response(1, 4500))
    assert len(log) == 1 + len(events.numbers)
    assert log.bytes <= 5000
    store(other, "1", response(2, 9000))
    assert len(log) == 0, "an event over the limit is not kept"
    assert log.bytes == 0
    [kept] = store(events, "1", note())
    now[0] = 11
    assert not events.knows(kept)
    assert log.bytes == 0


# Sessions


def test_a_session_is_its_principals_and_expires() -> None:
    now = [0.0]
    sessions = Sessions(HttpConfig(session_idle_seconds=10, max_sessions=2), clock=lambda: now[0])
    ended: list[str] = []
    sessions.on_ended = ended.append
    session = sessions.open("a", ANN, sessions.events.session())
    store(session.events, "1", note())
    assert sessions.find("a", ANN) is session
    assert sessions.find("a", BEN) is None
    with sessions.using(session):
        now[0] = 100
        assert sessions.find("a", ANN) is session
    now[0] = 109
    assert sessions.find("a", ANN) is session
    sessions.open("b", BEN, sessions.events.session())
    assert sessions.is_full()
    now[0] = 111
    assert not sessions.is_full(), "an idle session makes room"
    assert (ended, len(sessions.events)) == (["a"], 0)


# Formats


@pytest.mark.parametrize(
    ("header", "wants"),
    [
        (None, (True, True)),
        (b"*/*", (True, True)),
        (b"application/json, text/event-stream", (True, True)),
        (b"APPLICATION/JSON", (True, False)),
        (b"text/*", (False, True)),
        (b"text/event-stream;q=0.5, text/html", (False, True)),
        (b"application/json; q=0, text/event-stream", (False, True)),
        (b"application/jsonx", (False, False)),
    ],
)
def test_accept_is_read(header: bytes | None, wants: tuple[bool, bool]) -> None:
    assert accepted(header) == wants


async def send_all(wrapper: Any, kind: bytes, chunks: list[bytes]) -> None:
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]}
    await wrapper(start)
    for number, chunk in enumerate(chunks):
        more = number < len(chunks) - 1
        await wrapper({"type": "http.response.body", "body": chunk, "more_body": more})


@pytest.mark.parametrize("width", [1, 7, 1000])
def test_a_stream_becomes_its_response(width: int) -> None:
    stream = (
        b"id: 1\r\ndata: \r\n\r\n: ping\r\n\r\n"
        b'event: message\r\ndata: {"method":"notifications/x"}\r\n\r\n'
        b'event: message\r\ndata: {"id":1,"result":{}}\r\n\r\n'
    )
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    chunks = [stream[at : at + width] for at in range(0, len(stream), width)]
    asyncio.run(send_all(ResponseOnly(send, b"none"), b"text/event-stream", chunks))
    assert sent[0]["status"] == 200
    assert dict(sent[0]["headers"])[b"content-type"] == b"application/json"
    assert [one["body"] for one in sent[1:]] == [b'{"id":1,"result":{}}']


def test_a_stream_without_a_response_becomes_an_error() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(send_all(ResponseOnly(send, b"none"), b"text/event-stream", [b": ping\n\n"]))
    assert (sent[0]["status"], sent[1]["body"]) == (500, b"none")


def test_json_becomes_a_stream_of_one_event() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(send_all(OneEvent(send), b"application/json", [b'{"id"', b":1}"]))
    assert dict(sent[0]["headers"])[b"content-type"] == b"text/event-stream"
    assert sent[1]["body"] == b'event: message\r\ndata: {"id":1}\r\n\r\n'


def test_a_principal_cannot_drop_the_events_of_another() -> None:
    settings = HttpConfig(max_events=1000, max_event_bytes=100_000, event_seconds=1000)
    log = EventLog(settings)
    bob, alice = log.session("bob"), [log.session("alice") for _ in range(3)]
    kept = [log.add(bob, "1", b"b" * 1000) for _ in range(20)]
    for number in range(500):
        log.add(alice[number % 3], "1", b"a" * 5000)
    assert all(bob.knows(str(number)) for number in kept)
    assert log.bytes <= 100_000
    assert log.bytes == log.bytes_of("alice") + log.bytes_of("bob")
    for _ in range(200):
        log.add(bob, "2", b"b" * 5000)
    assert abs(log.bytes_of("alice") - log.bytes_of("bob")) <= 6000, "then each has a half"
    for session in (bob, *alice):
        session.clear()
    assert (log.bytes, log.bytes_of("alice"), len(log._owned), len(log._bytes)) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("used", "token", "may"),
    [
        ((None, None), (None, None), True),
        ((None, None), (["library"], None), False),
        ((None, None), (None, ["arxiv"]), False),
        ((["library"], ["arxiv"]), (None, None), True),
        ((["library"], ["arxiv"]), (["library"], ["arxiv"]), True),
        ((["library"], ["arxiv"]), (["library", "lookup"], ["arxiv"]), True),
        ((["library"], ["arxiv"]), ([], ["arxiv"]), False),
        ((["library"], ["arxiv"]), (["library"], []), False),
    ],
)
def test_a_token_may_replay_what_all_tokens_of_the_session_could_use(
    used: tuple[list[str] | None, ...], token: tuple[list[str] | None, ...], may: bool
) -> None:
    def principal(*names: list[str] | None) -> Principal:
        sets = [None if one is None else frozenset(one) for one in names]
        return Principal("ann", frozenset(), *sets)

    narrow, wide = principal([], []), principal(*used)
    for tokens in ((narrow, wide), (wide, narrow), (narrow, wide, narrow)):
        log = EventLog(HttpConfig())
        session = HttpSession("id", tokens[0], log.session("ann"))
        for one in tokens:
            session.widen(one)
        assert session.may_replay(principal(*token)) == may


class WireOfTest(asyncio.Transport):
    """A connection without a client; `written` has what the server sent."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        """Does nothing: the test sends no more than is read."""

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def resume_reading(self) -> None:
        """Does nothing either."""


class TimersOfTest:
    """An event loop whose timers run when the test calls them."""

    def __init__(self) -> None:
        self.callbacks: list[Any] = []

    def time(self) -> float:
        return 0.0

    def call_later(self, delay: float, callback: Any, *args: Any, **options: Any) -> Any:
        del delay, args, options
        self.callbacks.append(callback)
        return asyncio.TimerHandle(0.0, callback, (), cast("Any", self))

    def get_debug(self) -> bool:
        return False

    def _timer_handle_cancelled(self, handle: Any) -> None:
        """Does nothing: the test knows which timers it calls."""


class SlowWire(WireOfTest):
    """A connection whose client reads slowly."""

    unread = 10 * 2**20
    aborted = False

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.aborted = True


def test_a_client_that_reads_slowly_is_disconnected_when_it_reads_too_little() -> None:
    config = uvicorn.Config(lambda: None, http=protocol_class(HttpConfig()), lifespan="off")
    config.load()
    loop: Any = TimersOfTest()
    wire = SlowWire()
    connection = protocol_class(HttpConfig())(config, ServerState(), {}, loop)
    connection.connection_made(wire)
    connection.pause_writing()
    for _ in range(5):
        wire.unread -= 2**20
        loop.callbacks[-1]()
        assert not wire.aborted
    wire.unread -= 1000
    loop.callbacks[-1]()
    assert wire.aborted


@pytest.mark.anyio
async def test_fields_behind_a_body_are_dropped() -> None:
    """The gate has checked the head: a field that it did not see must not change the request."""
    seen: list[dict[bytes, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass
        seen.append(dict(scope["headers"]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(app, http=protocol_class(HttpConfig()), lifespan="off")
    config.load()
    connection = protocol_class(HttpConfig())(config, ServerState(), {})
    wire = WireOfTest()
    connection.connection_made(wire)
    head = b"POST /mcp HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    for data in (head, b"1\r\n{\r\n", b"0\r\nauthorization: Bearer x\r\nx-more: 1\r\n\r\n", head):
        connection.data_received(data)
    connection.data_received(b"0\r\n\r\n")
    for _ in range(10):
        await asyncio.sleep(0)
    assert wire.written.count(b"HTTP/1.1 204") == 2
    assert seen == [{b"host": b"x", b"transfer-encoding": b"chunked"}] * 2
    connection.connection_lost(None)
