"""Tracks the sessions of clients that use `initialize`.

The SDK's session manager serves the sessions. This module decides who may use one, when it
expires, and which request ids are in use.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from carrel.config import HttpConfig
from carrel.principal import Principal

from .events import EventLog, SessionEvents

logger = logging.getLogger(__name__)

#: The events of the session that the current request opens.
opening: Final[ContextVar[SessionEvents | None]] = ContextVar("carrel-http-opening", default=None)


class SessionManager(StreamableHTTPSessionManager):
    """The SDK's session manager with one event store for each session.

    With a shared store, a client could resume another session's stream, because stores know
    streams by request ids only. The SDK reads `event_store` once for each session that it opens.
    """

    @property
    def event_store(self) -> EventStore | None:
        """The store of the session that is being opened."""
        return opening.get()

    @event_store.setter
    def event_store(self, _value: EventStore | None) -> None:
        """Ignores the constructor's store."""


class HttpSession:
    """One open session.

    Attributes:
        id: the value of `Mcp-HttpSession-Id`.
        principal: the only one who may use it.
        events: kept for resuming streams.
        ids: ids of unanswered requests, those of clients that are gone included.
        scopes: of all tokens that it was used with.
        listening: number of open streams of notifications; one may be opened, others resume it.
    """

    def __init__(self, id_: str, principal: Principal, events: SessionEvents) -> None:
        self.id = id_
        self.principal = principal
        self.events = events
        self.ids: set[str] = set()
        self.in_flight = 0
        self.listening = 0
        self.used = 0.0
        self._known = principal
        self.scopes = principal.scopes
        self._toolsets = principal.toolsets
        self._plugins = principal.plugins

    def widen(self, principal: Principal) -> None:
        """Notes what a token of the principal may use, because the answers are kept."""
        if principal is self._known:
            return
        self._known = principal
        self.scopes |= principal.scopes
        self._toolsets = _both(self._toolsets, principal.toolsets)
        self._plugins = _both(self._plugins, principal.plugins)

    @contextmanager
    def listened_to(self) -> Iterator[None]:
        """Counts a stream of notifications while it is open."""
        self.listening += 1
        try:
            yield
        finally:
            self.listening -= 1

    def may_replay(self, principal: Principal) -> bool:
        """Returns whether a token may see what the session's tokens could use together."""
        return _covers(principal.toolsets, self._toolsets) and _covers(
            principal.plugins, self._plugins
        )


def _both(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    """Returns the names of both; None means all."""
    return None if first is None or second is None else first | second


def _covers(names: frozenset[str] | None, needed: frozenset[str] | None) -> bool:
    return names is None or (needed is not None and names >= needed)


class Sessions:
    """The open sessions.

    Args:
        settings: the limits.
        clock: seconds that never go back.

    Attributes:
        on_ended: called with the id of each session that ended.
        on_expired: called with the id of each session that ended because it was idle.
    """

    def __init__(
        self, settings: HttpConfig, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._sessions: dict[str, HttpSession] = {}
        self._opening: Counter[str] = Counter()
        self.events = EventLog(settings, clock=clock)
        self.on_ended: Callable[[str], object] = lambda _id: None
        self.on_expired: Callable[[str], object] = lambda _id: None

    def __len__(self) -> int:
        return len(self._sessions)

    def is_full(self) -> bool:
        """Returns whether no further session may be opened."""
        most = self._settings.max_sessions - self._opening.total()
        if len(self._sessions) >= most:
            self.expire()
        return len(self._sessions) >= most

    def count(self, principal: Principal) -> int:
        """Returns the number of the principal's sessions, those included that are being opened."""
        owned = sum(session.principal.name == principal.name for session in self._sessions.values())
        return owned + self._opening[principal.name]

    @contextmanager
    def opening(self, principal: Principal) -> Iterator[None]:
        """Counts a session that is being opened, until it is registered or refused."""
        self._opening[principal.name] += 1
        try:
            yield
        finally:
            self._opening[principal.name] -= 1
            if not self._opening[principal.name]:
                del self._opening[principal.name]

    def open(self, id_: str, principal: Principal, events: SessionEvents) -> HttpSession:
        """Registers a session that the SDK has opened."""
        session = self._sessions[id_] = HttpSession(id_, principal, events)
        session.used = self._clock()
        return session

    def find(self, id_: str, principal: Principal) -> HttpSession | None:
        """Returns the principal's session; None if there is none, or it is another's."""
        session = self._sessions.get(id_)
        if session is None or session.principal.name != principal.name:
            return None
        if self._is_idle(session):
            self._expire(session)
            return None
        return session

    @contextmanager
    def using(self, session: HttpSession) -> Iterator[None]:
        """Keeps a session from expiring while a request of it is served."""
        session.in_flight += 1
        try:
            yield
        finally:
            session.in_flight -= 1
            session.used = self._clock()

    def end(self, id_: str) -> None:
        """Forgets a session and its events."""
        session = self._sessions.pop(id_, None)
        if session is not None:
            session.events.clear()
            self.on_ended(id_)

    def expire(self) -> None:
        """Ends idle sessions, and drops old events."""
        for session in [session for session in self._sessions.values() if self._is_idle(session)]:
            self._expire(session)
        self.events.expire()

    def _is_idle(self, session: HttpSession) -> bool:
        waited = self._clock() - session.used
        return not session.in_flight and waited > self._settings.session_idle_seconds

    def _expire(self, session: HttpSession) -> None:
        logger.info("session %.8s… of %s expired", session.id, session.principal.name)
        self.end(session.id)
        self.on_expired(session.id)
