"""Answers plain tool calls over HTTP without the SDK: the fast path.

For each request the SDK creates streams, tasks and models, which takes longer than a small call. A
plain call (see `fast_path`) of an initialised session, or of revision 2026-07-28, needs none of
them. Its response has the same format, and in a session the same events, so that it can be resumed.
The SDK handles every other request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    ClientCapabilities,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
)
from pydantic import ValidationError

from carrel.principal import LOCAL, acting_as
from carrel.server.fast_path import FastPath
from carrel.server.frames import Rejection, encode_rejection

from .plain_responses import PlainCall, PlainResponse

if TYPE_CHECKING:
    from carrel.server.app import App

    from .request import HttpRequest
    from .sessions import HttpSession, Sessions

#: The first revision whose streams begin with an event without data.
_PRIMED_SINCE: Final = "2025-11-25"
#: Members of `_meta` that a plain call of revision 2026-07-28 may have.
_PLAIN_META: Final = frozenset(
    {PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY}
)
#: Headers that the protocol compares with the message.
_ROUTING: Final = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")
_PARAMETER: Final = b"mcp-param-"


class _SessionCalls:
    """The running plain calls of one session."""

    def __init__(self, app: App, session: HttpSession) -> None:
        self._app = app
        self._events = session.events
        self._running: dict[RequestId, tuple[PlainCall, bool]] = {}
        self._has_ended = False
        self.fast_path = FastPath(app.calls, self._answer, session=session.id)

    def start(self, frame: JSONRPCRequest, revision: str, *, is_stream: bool) -> PlainCall | None:
        """Starts a call; returns None if the fast path does not support it.

        Args:
            frame: the request.
            revision: of the session.
            is_stream: whether the response is an event stream, which can be resumed.
        """
        call = PlainCall()
        if is_stream:
            call.priming = self._events.start_stream(str(frame.id))
        self._running[frame.id] = call, is_stream
        self._app.handling += 1
        if self.fast_path.take(frame, revision):
            return call
        self._app.handling -= 1
        del self._running[frame.id]
        if call.priming is not None:
            self._events.forget_stream(call.priming)
        return None

    def _answer(self, id_: RequestId, line: bytes | None) -> None:
        self._app.handling -= 1
        call, is_stream = self._running.pop(id_)
        if line is None and not self._has_ended:
            line = encode_rejection(
                Rejection(REQUEST_CANCELLED, "Request cancelled", id_), null_id=False
            )
        if is_stream:
            call.event = self._events.end_stream(str(id_), line)
        self._events.answered(str(id_))
        call.end(line)

    def close(self) -> None:
        """Cancels the calls, because the session has ended."""
        self._has_ended = True
        self.fast_path.close()


class PlainCalls:
    """The plain calls of all clients. Used on the event loop only.

    Args:
        app: runs them.
        sessions: the open sessions; calls of a session that ends are cancelled.
        max_in_flight: the maximum number of requests that run.
    """

    def __init__(self, app: App, sessions: Sessions, max_in_flight: int) -> None:
        self._app = app
        sessions.on_ended = self._session_ended
        self._max_in_flight = max_in_flight
        self._sessions: dict[str, _SessionCalls] = {}

    async def serve(
        self,
        request: HttpRequest,
        message: Mapping[str, Any],
        session: HttpSession | None,
        wants: tuple[bool, bool],
    ) -> bool:
        """Answers a request and returns True; returns False if it is not a plain call.

        Args:
            request: as it came; the gate has checked it.
            message: its body.
            session: its session; None in revision 2026-07-28.
            wants: whether the client accepts JSON, and event streams.
        """
        if message["method"] != "tools/call" or self._app.handling >= self._max_in_flight:
            return False
        params = message.get("params")
        if not params:
            return False
        if session is not None:
            return await self._serve_in_session(request, message, session, wants)
        return await self._serve_alone(request, message, wants)

    def notice(self, message: Mapping[str, Any], session: HttpSession) -> None:
        """Cancels the call that a notification of the session names, if it is a plain one."""
        calls = self._sessions.get(session.id)
        if calls is not None and message.get("method") == "notifications/cancelled":
            calls.fast_path.notice(
                JSONRPCNotification(
                    jsonrpc="2.0", method="notifications/cancelled", params=message.get("params")
                )
            )

    def _session_ended(self, id_: str) -> None:
        calls = self._sessions.pop(id_, None)
        if calls is not None:
            calls.close()
        self._app.session_ended(id_)

    async def _serve_in_session(
        self,
        request: HttpRequest,
        message: Mapping[str, Any],
        session: HttpSession,
        wants: tuple[bool, bool],
    ) -> bool:
        revision = self._app.plain_revision(session.id)
        if revision is None or message["params"].get("_meta"):
            return False
        calls = self._sessions.get(session.id)
        if calls is None:
            calls = self._sessions[session.id] = _SessionCalls(self._app, session)
        is_stream = wants[1]
        with acting_as(request.principal or LOCAL):
            call = calls.start(_frame(message), revision, is_stream=is_stream)
        if call is None:
            return False
        if revision < _PRIMED_SINCE:
            call.priming = None
        response = PlainResponse(request, call, session.id)
        await response.send_in_session(is_stream=is_stream)
        return True

    async def _serve_alone(
        self, request: HttpRequest, message: Mapping[str, Any], wants: tuple[bool, bool]
    ) -> bool:
        revision = self._modern_revision(request, message)
        if revision is None:
            return False
        call = PlainCall()

        def ended(_id: RequestId, line: bytes | None) -> None:
            self._app.handling -= 1
            call.end(line)

        fast_path = FastPath(self._app.calls, ended)
        self._app.handling += 1
        with acting_as(request.principal or LOCAL):
            is_taken = fast_path.take(_frame(message), revision)
        if not is_taken:
            self._app.handling -= 1
            return False
        try:
            await PlainResponse(request, call).send_alone(wants)
        finally:
            fast_path.close()  # of no effect after the end; else the client is gone
        return True

    def _modern_revision(self, request: HttpRequest, message: Mapping[str, Any]) -> str | None:
        """Returns the revision of a complete request that needs nothing of the SDK; else None."""
        meta = message["params"].get("_meta")
        if not isinstance(meta, dict) or not meta.keys() <= _PLAIN_META:
            return None
        names = [name for name, _ in request.scope["headers"]]
        if any(names.count(name) > 1 for name in _ROUTING):
            return None
        if any(name.startswith(_PARAMETER) for name in names):
            return None
        headers = {
            name.decode(): request.headers[name].decode("latin-1")
            for name in _ROUTING
            if name in request.headers
        }
        route = classify_inbound_request(message, headers=headers)
        if isinstance(route, InboundLadderRejection):
            return None
        try:
            ClientCapabilities.model_validate(route.client_capabilities)
        except ValidationError:
            return None
        name = message["params"].get("name")
        if not isinstance(name, str) or self._app.has_header_arguments(name):
            return None
        return route.protocol_version


def _frame(message: Mapping[str, Any]) -> JSONRPCRequest:
    """Returns the request without `_meta`, which a plain call does not read."""
    params = {key: value for key, value in message["params"].items() if key != "_meta"}
    return JSONRPCRequest(jsonrpc="2.0", id=message["id"], method="tools/call", params=params)
