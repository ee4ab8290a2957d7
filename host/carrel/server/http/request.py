"""Reads one request over HTTP, and records its status and its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from typing import Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from carrel.principal import Principal

from .cors import response_headers
from .formats import Send
from .refusals import Refused

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

#: The header that names the session.
SESSION: Final = b"mcp-session-id"
_HANDSHAKE: Final = frozenset(HANDSHAKE_PROTOCOL_VERSIONS)


class HttpRequest:
    """The gate's facts about one request.

    Attributes:
        headers: the first value of each header.
        principal: who sends it.
        body: None before it was read.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.send = send
        self._receive = receive
        self.headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))
        self.method: str = scope["method"]
        self.principal: Principal | None = None
        self.body: bytes | None = None
        self.id: int | str | None = None
        self.status = 0
        self.session_id: str | None = None
        #: Origin of a page that may read the response.
        self.page: bytes | None = None
        self.finished = False
        #: Whether the client waits for `100 Continue`, which reading sends, before its body.
        self.withholds = self.headers.get(b"expect", b"").lower() == b"100-continue"
        #: Bytes of the response so far.
        self.sent = 0
        #: Whether the client closed its connection before the response ended.
        self.vanished = False
        #: Counts the session that the request opens, until there is one or it is refused.
        self.opening = ExitStack()
        #: Called with the id of a session that the response opens, before the client sees it.
        self.on_opened: Callable[[str], object] = lambda _id: None
        #: Called before the last byte of the response is sent.
        self.on_finished: Callable[[], object] = lambda: None

    @property
    def accept(self) -> bytes | None:
        """Returns the value of `Accept`, which may come in several lines; None without one."""
        lines = [value for name, value in self.scope["headers"] if name == b"accept"]
        return b", ".join(lines) if lines else None

    @property
    def declared(self) -> int:
        """Returns the bytes of the body that the request declares; 0 if it does not."""
        length = self.headers.get(b"content-length", b"0")
        return int(length[:20]) if length.isdigit() else 0

    @property
    def is_modern(self) -> bool:
        """Returns whether the revision has no sessions; the SDK decides by the same header."""
        revision = self.headers.get(b"mcp-protocol-version")
        return revision is not None and revision.decode("latin-1") not in _HANDSHAKE

    async def receive(self) -> Message:
        """Returns what the connection gives, and notes that the client is gone."""
        self.withholds = False
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self.finished:
            self.vanished = True
        return message

    async def watched_send(self, message: Message) -> None:
        """Sends a message and notes the status, the session, and the end of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            for name, value in message.get("headers", ()):
                if name.lower() == SESSION and self.status < 300 and SESSION not in self.headers:
                    self.session_id = value.decode("latin-1")
                    self.on_opened(self.session_id)
            if self.page is not None:
                headers = [*message.get("headers", ()), *response_headers(self.page)]
                message = {**message, "headers": headers}
        else:
            self.sent += len(message.get("body", b""))
            if not message.get("more_body", False):
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
