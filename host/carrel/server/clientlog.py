"""Sends log lines to clients that ask for them; stderr gets them too.

Older clients ask once, with `logging/setLevel`; since revision 2026-07-28 each request asks for its
own lines.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from mcp.server.session import ServerSession
from mcp_types import (
    LOG_LEVEL_META_KEY,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    RequestId,
)

from carrel.files.local_paths import without_paths
from carrel.text.printable import printable

from .calls import Context, session_id

#: MCP's eight levels on Python's scale.
_LEVELS: Final[dict[LoggingLevel, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO + 5,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL + 5,
    "emergency": logging.CRITICAL + 10,
}
_LINE_LENGTH: Final = 4000
_LINES_PER_SECOND: Final = 50


@dataclass(frozen=True, slots=True)
class _Listener:
    session: ServerSession
    level: int
    request_id: RequestId | None = None


_request: ContextVar[_Listener | None] = ContextVar("carrel-log-listener", default=None)


class ClientLog(logging.Handler):
    """A logging handler that sends Carrel's log lines to clients, without exception texts.

    Args:
        is_shared: whether there are several clients. Then a client gets only the lines of its own
            requests.
    """

    def __init__(self, *, is_shared: bool = False) -> None:
        super().__init__()
        self._is_shared = is_shared
        self._logger = logging.getLogger("carrel")
        self._loop: asyncio.AbstractEventLoop | None = None
        # By session; None over stdio.
        self._listeners: dict[str | None, _Listener] = {}
        self._sessions: dict[str | None, ServerSession] = {}
        self._sending: set[asyncio.Future[None]] = set()
        self._second = 0
        self._lines = 0

    def connected(self, ctx: Context) -> None:
        """Registers a client that used `initialize`; it may ask for lines that belong to no
        request.
        """
        self._sessions[session_id(ctx)] = ctx.session

    def forget(self, id_: str) -> None:
        """Forgets a client whose session has ended."""
        self._sessions.pop(id_, None)
        self._listeners.pop(id_, None)

    def set_level(self, ctx: Context, level: LoggingLevel) -> None:
        """Sets the lowest level for a client that used `initialize`."""
        id_ = session_id(ctx)
        session = self._sessions.get(id_)
        if session is not None:
            self._listeners[id_] = _Listener(session, _LEVELS[level])
            self._attach(_LEVELS[level])

    def listens(self, id_: str) -> bool:
        """Returns whether the client of a session asked for the log lines of its requests."""
        return id_ in self._listeners

    def request(self, ctx: Context) -> AbstractContextManager[None]:
        """Sends lines to the request's client while the context is open, if the request asked for
        them.
        """
        if self._is_shared and ctx.request_id is not None:
            listener = self._listeners.get(session_id(ctx))
            if listener is not None:
                return self._listening(_Listener(ctx.session, listener.level, ctx.request_id))
        level = ctx.meta.get(LOG_LEVEL_META_KEY) if ctx.meta else None
        if ctx.request_id is None or not isinstance(level, str) or level not in _LEVELS:
            return nullcontext()
        return self._listening(_Listener(ctx.session, _LEVELS[level], ctx.request_id))

    @contextmanager
    def _listening(self, listener: _Listener) -> Iterator[None]:
        self._attach(listener.level)
        token = _request.set(listener)
        try:
            yield
        finally:
            _request.reset(token)

    def _attach(self, level: int) -> None:
        self._loop = asyncio.get_running_loop()
        if self._logger.getEffectiveLevel() > level:
            self._logger.setLevel(level)  # stderr's handler has its own level
        if self not in self._logger.handlers:
            self._logger.addHandler(self)

    def detach(self) -> None:
        """Stops sending."""
        self._logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a log record; called from any thread."""
        listener = _request.get()
        if listener is None and not self._is_shared:
            listener = self._listeners.get(None)
        if listener is None or record.levelno < listener.level or self._loop is None:
            return
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._lines = second, 0
        self._lines += 1
        if self._lines > _LINES_PER_SECOND:
            return
        # A traceback may quote any data, so only stderr gets it.
        text = "internal error" if record.exc_info else record.getMessage()
        level: LoggingLevel = "debug"
        for name, number in _LEVELS.items():
            if number <= record.levelno:
                level = name
        line = printable(without_paths(text), _LINE_LENGTH)
        try:
            self._loop.call_soon_threadsafe(self._send, listener, level, record.name, line)
        except RuntimeError:
            pass  # the event loop has ended

    def _send(self, listener: _Listener, level: LoggingLevel, name: str, text: str) -> None:
        notification = LoggingMessageNotification(
            params=LoggingMessageNotificationParams(level=level, data=text, logger=name)
        )
        sending = asyncio.ensure_future(
            listener.session.send_notification(notification, listener.request_id)
        )
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)
