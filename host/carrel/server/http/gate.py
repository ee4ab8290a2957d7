"""Checks every request before the SDK's session manager serves it.

In this order: path, size of the headers, Host and Origin, shutdown, principal, method, `Accept`,
session, body, message, number of requests in flight. Each refusal of `refusals` is one response and
one log line.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import from_json

from carrel.config import HttpConfig, ServerConfig
from carrel.text.printable import printable

from .formats import BOTH, Headers, OneEvent, ResponseOnly, Send, accepted, with_accept
from .identity import Principal, identify
from .origins import OriginCheck
from .refusals import REFUSALS, Refusal
from .sessions import HttpSession, SessionManager, Sessions, opening

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

PATH: Final = "/mcp"
#: Bytes of a refused request's body that are read so that the client sees the response.
_DRAINED: Final = 64 * 2**10
_SESSION: Final = b"mcp-session-id"
_UNANSWERED: Final = Refusal("unanswered", 500, -32603, "the session ended before the response")


class Refused(Exception):
    """Ends the handling of a request."""

    def __init__(self, name: str, **changes: Any) -> None:
        self.refusal = replace(REFUSALS[name], **changes)


class HttpRequest:
    """What the gate knows of one request.

    Attributes:
        headers: the first value of each header.
        principal: who sends it.
        body: None before it was read.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self.send = send
        self.headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))
        self.method: str = scope["method"]
        self.principal: Principal | None = None
        self.body: bytes | None = None
        self.id: int | str | None = None
        self.status = 0
        self.session_id: str | None = None
        self.finished = False
        #: Called with the id of a session that the response opens, before the client sees it.
        self.on_opened: Callable[[str], object] = lambda _id: None
        #: Called before the last byte of the response is sent.
        self.on_finished: Callable[[], object] = lambda: None

    @property
    def is_modern(self) -> bool:
        """Returns whether the revision has no sessions; the SDK decides by the same header."""
        revision = self.headers.get(b"mcp-protocol-version")
        return revision is not None and revision.decode("latin-1") not in _HANDSHAKE

    async def watched_send(self, message: Message) -> None:
        """Sends a message and notes the status, the session, and the end of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            for name, value in message.get("headers", ()):
                if name.lower() == _SESSION and self.status < 300 and _SESSION not in self.headers:
                    self.session_id = value.decode("latin-1")
                    self.on_opened(self.session_id)
        elif not message.get("more_body", False):
            self.finished = True
            self.on_finished()
        await self.send(message)

    async def read(self, limit: int) -> bytes:
        """Reads the body.

        Raises:
            Refused: it is larger than `limit`.
            ConnectionError: the client is gone.
        """
        parts, size = [], 0
        while True:
            message = await self.receive()
            if message["type"] != "http.request":
                raise ConnectionResetError
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise Refused("body-too-large")
            if not message.get("more_body", False):
                self.body = b"".join(parts)
                return self.body


_HANDSHAKE: Final = frozenset(HANDSHAKE_PROTOCOL_VERSIONS)


class Gate:
    """The ASGI application.

    Args:
        manager: the SDK's.
        sessions: the open sessions.
        settings: the server's limits.
        http: the limits of HTTP.
        is_ready: whether the tools can be called; for `/readyz`.
    """

    def __init__(
        self,
        manager: SessionManager,
        sessions: Sessions,
        settings: ServerConfig,
        http: HttpConfig,
        *,
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._manager = manager
        self._sessions = sessions
        self._settings = settings
        self._http = http
        self._is_ready = is_ready
        self._origins = OriginCheck(http.allowed_hosts, http.allowed_origins)
        self._stopping = asyncio.Event()
        self._settled = asyncio.Event()
        self.in_flight = 0

    def stop(self) -> None:
        """Refuses further requests and ends the streams that wait for changes."""
        self._stopping.set()
        self._check_settled()

    async def settled(self) -> None:
        """Waits, after `stop`, until every request is answered."""
        await self._settled.wait()

    def _check_settled(self) -> None:
        if self._stopping.is_set() and not self.in_flight:
            self._settled.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        request = HttpRequest(scope, receive, send)
        try:
            await self._serve(request)
        except Refused as refused:
            await self._refuse(request, refused.refusal)
        except ConnectionError:
            logger.info("%s closed its connection before its request was read", _peer(request))

    async def _serve(self, request: HttpRequest) -> None:
        size = sum(len(name) + len(value) + 4 for name, value in request.scope["headers"])
        if size + len(request.scope["raw_path"]) > self._http.max_header_bytes:
            raise Refused("headers-too-large")
        refusal = self._origins.refusal(request.headers)
        if refusal is not None:
            raise Refused(refusal.name)
        path = request.scope["path"]
        if path in {"/healthz", "/readyz"}:
            await self._answer_probe(request, is_live=path == "/healthz")
            return
        if path != PATH:
            raise Refused("no-such-path")
        if self._stopping.is_set():
            raise Refused("stopping")
        known = identify(request.headers)
        if isinstance(known, Refusal):
            await self._refuse(request, known)
            return
        request.principal = known
        if request.method not in ({"POST"} if request.is_modern else {"GET", "POST", "DELETE"}):
            allowed = "POST" if request.is_modern else "GET, POST, DELETE"
            raise Refused("wrong-method", headers={"Allow": allowed})
        session = None if request.is_modern else self._session(request, known)
        if request.method == "POST":
            await self._post(request, session)
        else:
            assert session is not None
            await self._stream_or_end(request, session)

    # Sessions

    def _session(self, request: HttpRequest, principal: Principal) -> HttpSession | None:
        """Returns the request's session; None if it may open one."""
        named = request.headers.get(_SESSION)
        if named is None:
            if request.method != "POST":
                raise Refused("no-session")
            return None
        session = self._sessions.find(named.decode("latin-1"), principal)
        if session is None:
            raise Refused("unknown-session")
        return session

    async def _stream_or_end(self, request: HttpRequest, session: HttpSession) -> None:
        """Serves a stream of notifications, a resumed stream, or the end of a session."""
        if request.method == "GET":
            if not accepted(request.headers.get(b"accept"))[1]:
                raise Refused("not-acceptable")
            last = request.headers.get(b"last-event-id")
            if last is not None and not session.events.knows(last.decode("latin-1")):
                raise Refused("event-gone")
            scope = _with_headers(request.scope, request.scope["headers"], BOTH)
            with self._sessions.using(session):
                await self._pass_on(request, scope, self._until_stopped(request.receive))
        else:
            await self._pass_on(request, request.scope, request.receive)
            if request.status < 300:
                self._sessions.end(session.id)
        if request.status == 404:
            self._sessions.end(session.id)

    def _until_stopped(self, receive: Receive) -> Receive:
        """Returns a `receive` that reports the client as gone when the server stops."""

        async def until_stopped() -> Message:
            receiving = asyncio.ensure_future(receive())
            stopping = asyncio.ensure_future(self._stopping.wait())
            try:
                await asyncio.wait({receiving, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if receiving.done():
                    return receiving.result()
                return {"type": "http.disconnect"}
            finally:
                receiving.cancel()
                stopping.cancel()

        return until_stopped

    # Messages

    async def _post(self, request: HttpRequest, session: HttpSession | None) -> None:
        wants = self._check_headers(request)
        message = await self._message(request)
        is_request = "method" in message and "id" in message
        self._check_message(request, message, session, wants, is_request=is_request)
        send: Send = request.watched_send
        if not wants[1]:
            send = ResponseOnly(send, _UNANSWERED.body(request.id))
        elif not wants[0]:
            send = OneEvent(send)
        body = request.body or b""
        headers = _without_length(request.scope["headers"], len(body))
        scope = _with_headers(request.scope, headers, BOTH)
        with ExitStack() as stack:
            if session is not None:
                stack.enter_context(self._sessions.using(session))
            if is_request:
                flying = stack.enter_context(self._flying(session, str(request.id)))
                # A client may send its next request before the SDK has returned.
                request.on_finished = flying.close
            await self._pass_on(request, scope, _replaying(body, request.receive), send)
        if session is not None and request.status == 404:
            self._sessions.end(session.id)

    def _check_message(
        self,
        request: HttpRequest,
        message: dict[str, Any],
        session: HttpSession | None,
        wants: tuple[bool, bool],
        *,
        is_request: bool,
    ) -> None:
        method = message.get("method")
        if not request.is_modern and session is None:
            if method != "initialize" or not is_request:
                raise Refused("no-session")
            if self._sessions.is_full():
                raise Refused("too-many-sessions")
        if method == "subscriptions/listen" and not wants[1]:
            raise Refused("not-acceptable")
        if is_request and self.in_flight >= self._settings.max_in_flight:
            raise Refused("busy")

    def _check_headers(self, request: HttpRequest) -> tuple[bool, bool]:
        """Returns what the client accepts: JSON, and event streams."""
        kind = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            raise Refused("wrong-content-type")
        if request.headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            raise Refused("encoded-body")
        wants = accepted(request.headers.get(b"accept"))
        if not any(wants):
            raise Refused("not-acceptable")
        declared = request.headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared[:20]) > self._http.max_body_bytes:
            raise Refused("body-too-large")
        return wants

    async def _message(self, request: HttpRequest) -> dict[str, Any]:
        """Reads the body and returns its message; the SDK validates it."""
        try:
            async with asyncio.timeout(self._http.read_seconds):
                body = await request.read(self._http.max_body_bytes)
        except TimeoutError:
            raise Refused("body-too-slow") from None
        try:
            message = from_json(body, allow_inf_nan=False)
        except ValueError as error:
            # The parser's words hold a position and no input.
            raise Refused("not-json", message=f"the body is not JSON: {error}") from None
        if isinstance(message, list):
            raise Refused("batch")
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise Refused("not-a-message")
        id_ = message.get("id")
        if isinstance(id_, int | str) and not isinstance(id_, bool):
            request.id = id_
        elif "id" in message:
            raise Refused("not-a-message")
        if not isinstance(message.get("params", {}), dict):
            raise Refused("not-a-message")
        if not isinstance(message.get("method"), str) and not message.keys() & {"result", "error"}:
            raise Refused("not-a-message")
        return message

    def _flying(self, session: HttpSession | None, id_: str) -> ExitStack:
        """Counts a request until it is answered, and keeps its id from being used twice."""
        stack = ExitStack()
        if session is not None:
            if id_ in session.ids:
                raise Refused("id-in-use")
            session.ids.add(id_)
            stack.callback(session.ids.discard, id_)
        self.in_flight += 1
        stack.callback(self._landed)
        return stack

    def _landed(self) -> None:
        self.in_flight -= 1
        self._check_settled()

    async def _pass_on(
        self, request: HttpRequest, scope: Scope, receive: Receive, send: Send | None = None
    ) -> None:
        """Lets the SDK serve the request; registers the session that it opens."""
        scope["state"] = {**scope.get("state", {}), "principal": request.principal}
        events = self._sessions.events.session()
        principal = request.principal
        if principal is not None:
            request.on_opened = lambda id_: self._sessions.open(id_, principal, events)
        token = opening.set(events)
        try:
            await self._manager.asgi_app(scope, receive, send or request.watched_send)
        finally:
            opening.reset(token)
            if request.session_id is None:
                events.clear()
            elif events.has_error:
                await self._end(scope, request.session_id)
        if request.status and not request.finished:
            # The SDK ends a stream by returning, which uvicorn reports as an error.
            await request.watched_send({"type": "http.response.body", "body": b""})

    async def _end(self, scope: Scope, id_: str) -> None:
        """Ends a session that a refused `initialize` opened, which the SDK keeps."""
        headers = [(b"host", b"localhost"), (_SESSION, id_.encode())]
        self._sessions.end(id_)
        await self._manager.asgi_app(
            {**scope, "method": "DELETE", "headers": headers}, _nothing, _discard
        )

    # Responses

    async def _answer_probe(self, request: HttpRequest, *, is_live: bool) -> None:
        ok = is_live or (self._is_ready() and not self._stopping.is_set())
        body = b'{"status":"ok"}' if ok else b'{"status":"unavailable"}'
        await _respond(request, 200 if ok else 503, body, {"Cache-Control": "no-store"})

    async def _refuse(self, request: HttpRequest, refusal: Refusal) -> None:
        shown = printable(refusal.message, 200)
        who = request.principal.name if request.principal else "-"
        logger.warning(
            "refused %s of %s (%s): %d %s: %s",
            printable(request.method, 20),
            _peer(request),
            who,
            refusal.status,
            refusal.name,
            shown,
        )
        headers = dict(refusal.headers)
        drained = refusal.name != "body-too-slow" and await self._drained(request)
        if refusal.closes or not drained:
            headers["Connection"] = "close"
        await _respond(request, refusal.status, refusal.body(request.id), headers)

    async def _drained(self, request: HttpRequest) -> bool:
        """Reads the rest of a small body: closing a connection with unread input loses the
        response.
        """
        if request.body is not None or request.method == "GET":
            return True
        try:
            async with asyncio.timeout(1.0):
                await request.read(_DRAINED)
        except (Refused, TimeoutError, ConnectionError):
            return False
        return True


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(_message: Message) -> None:
    """Drops the response to a request of the gate itself."""


async def _respond(request: HttpRequest, status: int, body: bytes, more: dict[str, str]) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **more}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await request.watched_send({"type": "http.response.start", "status": status, "headers": raw})
    await request.watched_send({"type": "http.response.body", "body": body})


def _with_headers(scope: Scope, headers: Headers, accept: bytes) -> Scope:
    return {**scope, "headers": with_accept(headers, accept)}


def _without_length(headers: Headers, size: int) -> Headers:
    """Returns the headers with the length of the body that was read."""
    dropped = {b"content-length", b"transfer-encoding"}
    kept = [one for one in headers if one[0] not in dropped]
    return [*kept, (b"content-length", str(size).encode())]


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that gives the body once, and then what the connection gives."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _peer(request: HttpRequest) -> str:
    client = request.scope.get("client")
    return f"{client[0]}:{client[1]}" if client else "a client"
