"""Checks every request before the SDK's session manager serves it.

In this order: headers, Host and Origin, path, preflight, shutdown, principal, method, `Accept`,
session, body, message, scopes, number of requests in flight. Each refusal of `refusals` is one
response and one log line.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any, Final

from carrel.config import HttpConfig, ServerConfig
from carrel.principal import Principal
from carrel.text.printable import printable

from .admission import BY_SDK, BYTES, OPENS_SESSION, PLAIN, RequestAdmission, body_units
from .connection import OWNER, REFUSED
from .cors import is_preflight, preflight_headers
from .fields import check_fields
from .formats import BOTH, Escaped, Headers, OneEvent, ResponseOnly, Send, accepted, with_accept
from .identity import Identifier, LocalIdentifier
from .messages import parse_message
from .origins import OriginCheck
from .receiving import replaying, until
from .refusals import UNANSWERED, Refusal, Refused
from .request import SESSION, HttpRequest, Message, Receive, Scope
from .sessions import HttpSession, SessionManager, Sessions, opening

if TYPE_CHECKING:
    from carrel.server.identity.allowances import Allowances
    from carrel.server.operations.routes import Routes

    from .plain_calls import PlainCalls

logger = logging.getLogger(__name__)

#: Returns the scopes that a message of a principal needs beyond those of its token.
ScopesFor = Callable[[Principal, dict[str, Any]], Sequence[str]]

#: Gets the name and the status of a refusal, the client's address, the principal, the reason.
OnRefused = Callable[[str, int, str, str | None, str], object]

PATH: Final = "/mcp"
#: The method whose response is a stream that waits for changes.
_LISTEN: Final = "subscriptions/listen"
#: Bytes of a refused request's body that are read so that the client sees the response.
_DRAINED: Final = 64 * 2**10
#: Bytes of a body that takes so long to parse that others are served in between.
_LARGE: Final = 256 * 2**10


class Gate:
    """The ASGI application.

    Args:
        manager: the SDK's.
        sessions: the open sessions.
        settings: the server's limits.
        http: the limits of HTTP.
        plain_calls: answers plain calls; without it, the SDK does.
        identifier: decides who sends a request; everyone is the local user when None.
        allowances: the limits of principals; None without identity.
        admission: paces their requests; likewise.
        scopes_for: returns the scopes that grant what a message asks for, if its principal may not
            use it; else nothing.
        own_host: the value of `Host` in requests to the public URL.
        routes: answers the paths beside the endpoint; None without them.
        on_refused: called with the name and the status of each refusal, the client's address, the
            principal if it is known, and the reason.
    """

    def __init__(
        self,
        manager: SessionManager,
        sessions: Sessions,
        settings: ServerConfig,
        http: HttpConfig,
        *,
        plain_calls: PlainCalls | None = None,
        identifier: Identifier | None = None,
        allowances: Allowances | None = None,
        admission: RequestAdmission | None = None,
        scopes_for: ScopesFor = lambda _principal, _message: (),
        own_host: str | None = None,
        routes: Routes | None = None,
        on_refused: OnRefused = lambda _name, _status, _peer, _principal, _reason: None,
    ) -> None:
        self._manager = manager
        self._sessions = sessions
        self._settings = settings
        self._http = http
        self._plain_calls = plain_calls
        self._identifier = identifier or LocalIdentifier()
        self._allowances = allowances
        self._admission = admission
        self._scopes_for = scopes_for
        hosts = http.allowed_hosts if own_host is None else (*http.allowed_hosts, own_host)
        self._origins = OriginCheck(hosts, http.allowed_origins)
        self._routes = routes
        self._on_refused = on_refused
        self._stopping = asyncio.Event()
        self._all_answered = asyncio.Event()
        self._ending: set[asyncio.Future[None]] = set()
        self.in_flight = 0

    def stop(self) -> None:
        """Refuses further requests and ends the streams that wait for changes."""
        self._stopping.set()
        if self._admission is not None:
            self._admission.stop()
        self._check_all_answered()

    async def all_answered(self) -> None:
        """Waits, after `stop`, until every request is answered."""
        await self._all_answered.wait()

    def _check_all_answered(self) -> None:
        if self._stopping.is_set() and not self.in_flight:
            self._all_answered.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        request = HttpRequest(scope, receive, send)
        try:
            await self._serve(request)
        except Refused as refused:
            request.id = refused.id if request.id is None else request.id
            await self._refuse(request, refused.refusal)
        except ConnectionError:
            if not scope["state"].get(REFUSED):
                logger.info("%s closed its connection before its request was read", _peer(request))
        finally:
            request.opening.close()

    async def _serve(self, request: HttpRequest) -> None:
        check_fields(request.scope, request.headers, self._http.max_header_bytes)
        refusal = self._origins.refusal(request.headers)
        if refusal is not None:
            raise Refused(refusal.name)
        path = _path_of(request)
        access = None if self._routes is None else self._routes.access(path)
        if access is not None:
            await self._answer_route(request, path, is_open=access == "open")
            return
        public = self._identifier.metadata
        metadata = public[1] if public is not None and path == public[0] else None
        if path != PATH and metadata is None:
            raise Refused("no-such-path")
        request.page = self._origins.page(request.headers)
        if request.page is not None and is_preflight(request.method, request.headers):
            await _send(request, 204, preflight_headers())
            return
        if metadata is not None:
            await self._answer_metadata(request, metadata)
            return
        if self._stopping.is_set():
            raise Refused("stopping")
        principal = await self._identified(request)
        await self._admitted(request, principal)
        if request.method not in ({"POST"} if request.is_modern else {"GET", "POST", "DELETE"}):
            allowed = "POST" if request.is_modern else "GET, POST, DELETE"
            raise Refused("wrong-method", headers={"Allow": allowed})
        session = None if request.is_modern else self._session(request, principal)
        if request.method == "POST":
            await self._post(request, session)
            self._charge(request, request.sent / BYTES)
            if request.vanished:
                logger.info("%s closed its connection before the response", _peer(request))
        else:
            assert session is not None
            await self._stream_or_end(request, session)

    async def _identified(self, request: HttpRequest) -> Principal:
        """Returns who sends a request."""
        found = await self._identifier.identify(
            request.scope["headers"], request.scope.get("query_string", b"")
        )
        if isinstance(found, Refusal):
            raise Refused.by(found)
        request.principal = found
        return found

    async def _admitted(self, request: HttpRequest, principal: Principal, units: float = 0) -> None:
        """Waits until the principal's request may be served, and charges it with `units` and its
        declared body, unless that is refused unread.
        """
        request.scope["state"][OWNER] = principal.name
        size = 0 if request.declared > self._http.max_body_bytes else request.declared
        await self._charged(request, principal, PLAIN + units + body_units(size))

    async def _charged(self, request: HttpRequest, principal: Principal, units: float) -> None:
        if self._admission is None:
            return
        await self._admission.admit(principal, request.scope["state"], units)
        if self._stopping.is_set():
            raise Refused("stopping")

    def _charge(self, request: HttpRequest, units: float) -> None:
        if self._admission is not None and request.principal is not None:
            self._admission.charge(request.principal, units)

    # Sessions

    def _session(self, request: HttpRequest, principal: Principal) -> HttpSession | None:
        """Returns the request's session; None if it may open one."""
        session_id = request.headers.get(SESSION)
        if session_id is None:
            if request.method != "POST":
                raise Refused("no-session")
            return None
        session = self._sessions.find(session_id.decode("latin-1"), principal)
        if session is None:
            raise Refused("unknown-session")
        return session

    async def _stream_or_end(self, request: HttpRequest, session: HttpSession) -> None:
        """Serves a stream of notifications, a resumed stream, or the end of a session."""
        if request.method == "GET":
            await self._stream(request, session)
        else:
            await self._pass_on(request, request.scope, request.receive)
            if request.status < 300:
                self._sessions.end(session.id)
        if request.status == 404:
            self._sessions.end(session.id)

    async def _stream(self, request: HttpRequest, session: HttpSession) -> None:
        """Serves a stream of notifications, or resumes a stream: that costs what is sent again, and
        a principal may do it for as many streams as it may have requests in flight.
        """
        if not accepted(request.accept)[1]:
            raise Refused("not-acceptable")
        last, size = request.headers.get(b"last-event-id"), 0
        with ExitStack() as stack:
            stack.enter_context(self._sessions.using(session))
            if last is None:
                if session.listening:
                    raise Refused("stream-open")
                stack.enter_context(session.listened_to())
            else:
                event = last.decode("latin-1")
                self._check_replay(request, session, event)
                stack.enter_context(self._counted(request.principal, resumed=True))
                size = session.events.size_after(event)
                self._charge(request, size / BYTES)
                if session.events.notifies(event):
                    stack.enter_context(session.listened_to())
            scope = _with_headers(request.scope, request.scope["headers"], BOTH)
            receive = await self._until_the_end(request, request.receive)
            await self._pass_on(request, scope, receive)
        self._charge(request, max(0, request.sent - size) / BYTES)

    def _check_replay(self, request: HttpRequest, session: HttpSession, event: str) -> None:
        assert request.principal is not None, "identified before"
        if not session.events.knows(event):
            raise Refused("event-gone")
        if not session.may_replay(request.principal):
            raise Refused.by(self._identifier.insufficient(sorted(session.scopes)))

    async def _until_the_end(self, request: HttpRequest, receive: Receive) -> Receive:
        """Returns the `receive` of a stream that waits for changes: it ends when the server stops,
        and when the token that opened it expires.
        """
        headers, query = request.scope["headers"], request.scope.get("query_string", b"")
        seconds = await self._identifier.seconds_left(headers, query)

        def expired() -> None:
            name = request.principal.name if request.principal else None
            logger.info(
                "closed a stream of %s (%s): its token has expired",
                _peer(request),
                name or "-",
                extra={"principal": name},
            )

        return until(self._stopping, receive, seconds=seconds, on_expired=expired)

    # Messages

    async def _post(self, request: HttpRequest, session: HttpSession | None) -> None:
        wants = self._check_headers(request)
        message = await self._message(request)
        is_request = "method" in message and "id" in message
        self._check_message(request, message, session, wants, is_request=is_request)
        plain = self._plain_calls
        with ExitStack() as stack:
            if session is not None:
                stack.enter_context(self._sessions.using(session))
                if request.principal is not None:
                    session.widen(request.principal)
            if is_request:
                counted = stack.enter_context(self._unanswered(request, session))
                # A client may send its next request before the SDK has returned.
                request.on_finished = counted.close
                if plain is not None and await plain.serve(request, message, session, wants):
                    return
            elif plain is not None and session is not None:
                plain.notice(message, session)
            await self._pass_message_on(request, wants, listens=message.get("method") == _LISTEN)
        if session is not None and request.status == 404:
            self._sessions.end(session.id)

    async def _pass_message_on(
        self, request: HttpRequest, wants: tuple[bool, bool], *, listens: bool
    ) -> None:
        """Lets the SDK answer a message, in the format that the client accepts."""
        send: Send = request.watched_send
        if not wants[1]:
            send = ResponseOnly(send, UNANSWERED.body(request.id))
        elif not wants[0]:
            send = OneEvent(send)
        body = request.body or b""
        headers = _without_length(request.scope["headers"], len(body))
        scope = _with_headers(request.scope, headers, BOTH)
        receive = replaying(body, request.receive)
        if listens:
            receive = replaying(body, await self._until_the_end(request, request.receive))
        await self._pass_on(request, scope, receive, send)

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
        if request.is_modern and method is None:
            raise Refused("not-a-message")  # a server of these revisions asks for no response
        if not request.is_modern and session is None:
            if method != "initialize" or not is_request:
                raise Refused("no-session")
            assert request.principal is not None, "identified before"
            self._check_sessions(request.principal)
            request.opening.enter_context(self._sessions.opening(request.principal))
            self._charge(request, OPENS_SESSION)
        if method == _LISTEN and not wants[1]:
            raise Refused("not-acceptable")
        if is_request:
            assert request.principal is not None, "identified before"
            scopes = self._scopes_for(request.principal, message)
            if scopes:
                raise Refused.by(self._identifier.insufficient(scopes))
            if self.in_flight >= self._settings.max_in_flight:
                raise Refused("busy")

    def _check_sessions(self, principal: Principal) -> None:
        """Refuses a session more than the server, or its principal, may have."""
        if self._sessions.is_full():
            raise Refused("too-many-sessions")
        allowances = self._allowances
        if allowances is None:
            return
        if self._sessions.count(principal) >= allowances.max_sessions:
            self._sessions.expire()
            if self._sessions.count(principal) >= allowances.max_sessions:
                raise Refused("too-many-own-sessions")

    def _check_headers(self, request: HttpRequest) -> tuple[bool, bool]:
        """Returns what the client accepts: JSON, and event streams."""
        kind = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            raise Refused("wrong-content-type")
        if request.headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            raise Refused("encoded-body")
        wants = accepted(request.accept)
        if not any(wants):
            raise Refused("not-acceptable")
        if request.declared > self._http.max_body_bytes:
            raise Refused("body-too-large")
        return wants

    async def _message(self, request: HttpRequest) -> dict[str, Any]:
        """Reads the body and returns its message; the SDK validates it."""
        try:
            async with asyncio.timeout(self._http.read_seconds):
                body = await request.read(self._http.max_body_bytes)
        except TimeoutError:
            raise Refused("body-too-slow") from None
        if self._stopping.is_set():
            raise Refused("stopping")  # nobody waits for a call that starts now
        if not request.declared and body:
            assert request.principal is not None, "identified before"
            await self._charged(request, request.principal, body_units(len(body)))
        message, request.id = parse_message(body)
        if len(body) > _LARGE:
            await asyncio.sleep(0)  # others are served before the call is started
        return message

    def _unanswered(self, request: HttpRequest, session: HttpSession | None) -> ExitStack:
        """Counts a request until it is answered. Counts it for its principal, and keeps its id from
        being used twice, until its call has ended too.
        """
        id_, stack, resources = str(request.id), ExitStack(), ExitStack()
        if session is not None and id_ in session.ids:
            raise Refused("id-in-use")
        resources.enter_context(self._counted(request.principal))
        if session is not None:
            session.ids.add(id_)
            resources.callback(session.ids.discard, id_)
            session.events.expect(id_)
        stack.callback(self._release, request, session, resources)
        self.in_flight += 1
        stack.callback(self._answered)
        return stack

    def _counted(
        self, principal: Principal | None, *, resumed: bool = False
    ) -> AbstractContextManager[None]:
        """Counts a request among those in flight of its principal, or refuses it."""
        if self._allowances is None or principal is None:
            return nullcontext()
        if self._allowances.is_full(principal, resumed=resumed):
            raise Refused("too-many-own-requests")
        return self._allowances.in_flight(principal, resumed=resumed)

    @staticmethod
    def _release(request: HttpRequest, session: HttpSession | None, resources: ExitStack) -> None:
        """Frees what a request holds. In a session, the call of a client that is gone continues:
        its response must not be taken for another's, and it still counts for its principal.
        """
        if session is None:
            resources.close()
            return
        if not request.vanished:
            session.events.answered(str(request.id))
        session.events.when_answered(str(request.id), resources.close)

    def _answered(self) -> None:
        self.in_flight -= 1
        self._check_all_answered()

    async def _pass_on(
        self, request: HttpRequest, scope: Scope, receive: Receive, send: Send | None = None
    ) -> None:
        """Lets the SDK serve the request; registers the session that it opens."""
        self._charge(request, BY_SDK)
        scope["state"] = {**scope.get("state", {}), "principal": request.principal}
        principal = request.principal
        assert principal is not None, "identified before"
        events = self._sessions.events.session(principal.name)

        def opened(id_: str) -> None:
            request.opening.close()
            self._sessions.open(id_, principal, events)

        request.on_opened = opened
        answered = request.on_finished

        def finished() -> None:
            if request.session_id is not None and events.has_error:
                self._sessions.end(request.session_id)  # before the client can open another
            answered()

        request.on_finished = finished
        token = opening.set(events)
        try:
            await self._manager.asgi_app(scope, receive, Escaped(send or request.watched_send))
        finally:
            opening.reset(token)
            if request.session_id is None:
                events.clear()
            elif events.has_error:
                await self._end(request.session_id)
        if request.status and not request.finished:
            # The SDK ends a stream by returning, which uvicorn reports as an error.
            await request.watched_send({"type": "http.response.body", "body": b""})

    def expire(self, id_: str) -> None:
        """Ends a session in the SDK, because it has expired."""
        ending = asyncio.ensure_future(self._end(id_))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _end(self, id_: str) -> None:
        """Ends a session in the SDK, which keeps those whose `initialize` it refused."""
        headers = [(b"host", b"localhost"), (SESSION, id_.encode())]
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "DELETE",
            "scheme": "http",
            "path": PATH,
            "raw_path": PATH.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": headers,
        }
        await self._manager.asgi_app(scope, _nothing, _discard)

    # Responses

    async def _answer_route(self, request: HttpRequest, path: str, *, is_open: bool) -> None:
        """Answers a path of `carrel.server.operations`."""
        assert self._routes is not None, "it has the path"
        if not is_open:
            principal = await self._identified(request)
            await self._admitted(request, principal, BY_SDK)  # it costs a thread, too
        reply = await self._routes.reply(request.method, path, request.principal)
        await _respond(request, reply.status, reply.body, dict(reply.headers))

    async def _answer_metadata(self, request: HttpRequest, body: bytes) -> None:
        if request.method not in {"GET", "HEAD"}:
            raise Refused("wrong-method", headers={"Allow": "GET, HEAD"})
        more = {"Cache-Control": "max-age=300"}
        if request.page is None:
            more["Vary"] = "Origin"
        await _respond(request, 200, body, more)

    async def _refuse(self, request: HttpRequest, refusal: Refusal) -> None:
        shown = printable(refusal.reason or refusal.message, 200)
        name = request.principal.name if request.principal else None
        self._on_refused(refusal.name, refusal.status, _peer(request), name, shown)
        logger.warning(
            "refused %s of %s (%s): %d %s: %s",
            printable(request.method, 20),
            _peer(request),
            name or "-",
            refusal.status,
            refusal.name,
            shown,
            extra={"principal": name},
        )
        headers = dict(refusal.headers)
        drained = refusal.name != "body-too-slow" and await self._drained(request)
        if refusal.closes or not drained:
            headers["Connection"] = "close"
        await _respond(request, refusal.status, refusal.body(request.id), headers)

    async def _drained(self, request: HttpRequest) -> bool:
        """Reads the rest of a small body: closing a connection with unread input loses the
        response. A client that has not sent its body is not asked for it.
        """
        if request.body is not None or request.method == "GET":
            return True
        if request.withholds:
            return False
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
    await _send(request, status, raw, body)


def _path_of(request: HttpRequest) -> str:
    """Returns the path; refuses an encoded one, which a proxy that allows some paths may not decode
    as uvicorn does.
    """
    if b"%" in request.scope["raw_path"]:
        raise Refused("no-such-path")
    return str(request.scope["path"])


async def _send(request: HttpRequest, status: int, headers: Headers, body: bytes = b"") -> None:
    start = {"type": "http.response.start", "status": status, "headers": headers}
    await request.watched_send(start)
    await request.watched_send({"type": "http.response.body", "body": body})


def _with_headers(scope: Scope, headers: Headers, accept: bytes) -> Scope:
    return {**scope, "headers": with_accept(headers, accept)}


def _without_length(headers: Headers, size: int) -> Headers:
    """Returns the headers with the length of the body that was read."""
    dropped = {b"content-length", b"transfer-encoding"}
    remaining = [header for header in headers if header[0] not in dropped]
    return [*remaining, (b"content-length", str(size).encode())]


def _peer(request: HttpRequest) -> str:
    client = request.scope.get("client")
    return f"{client[0]}:{client[1]}" if client else "a client"
