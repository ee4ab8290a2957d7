"""Facts of the current request, for log lines, spans and the audit log.

The worker threads of a call run in its context, so the lines of a guest have the facts as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar, Token
from functools import cache
from typing import Any, Final

from carrel.principal import current_principal
from carrel.text.printable import printable

from .redaction import LogRedactor, secrets_in

#: Characters of a session's id that are shown: enough to find its lines, too few to use it.
_SHOWN: Final = 8


class RequestFacts:
    """One request of a client. Its texts are made printable when they are shown, not before.

    Args:
        method: of the protocol, such as `tools/call`.
        params: as the client sent them.
        request_id: as the client chose it; None for a notification.
        session: the session's id; None without a session.

    Attributes:
        trace_id: in hex digits, of a traced request.
        error_code: of a call that failed.
    """

    __slots__ = ("_id", "_method", "_params", "_session", "error_code", "trace_id")

    def __init__(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        request_id: object = None,
        session: str | None = None,
    ) -> None:
        self._method = method
        self._params = params
        self._id = request_id
        self._session = session
        self.trace_id: str | None = None
        self.error_code: str | None = None

    @property
    def method(self) -> str:
        """The method of the protocol."""
        return _shown(self._method, 100)

    @property
    def request_id(self) -> str | None:
        """The id that the client chose."""
        return None if self._id is None else _shown(str(self._id), 100)

    @property
    def session(self) -> str | None:
        """The first characters of the session's id, which lets its principal use the session."""
        if self._session is None:
            return None
        return f"{printable(self._session, 200)[:_SHOWN]}…"

    @property
    def tool(self) -> str | None:
        """The tool that is called, if any."""
        if self._method != "tools/call" or not self._params:
            return None
        name = self._params.get("name")
        return _shown(name, 128) if isinstance(name, str) else None


_current: ContextVar[RequestFacts | None] = ContextVar("carrel-request-facts", default=None)


def current_facts() -> RequestFacts | None:
    """Returns the facts of the request that the current code runs for."""
    return _current.get()


class Serving:
    """Makes facts the current ones while the context is open."""

    __slots__ = ("_facts", "_token")

    def __init__(self, facts: RequestFacts) -> None:
        self._facts = facts
        self._token: Token[RequestFacts | None] | None = None

    def __enter__(self) -> None:
        self._token = _current.set(self._facts)

    def __exit__(self, *_exc: object) -> None:
        if self._token is not None:
            _current.reset(self._token)


@cache
def _redactor() -> LogRedactor:
    """Returns what removes secrets: a client may put one where a name belongs."""
    return LogRedactor(secrets_in(os.environ))


def _shown(text: str, limit: int) -> str:
    """Returns a text of a client without control characters and credentials."""
    return _redactor()(printable(text, limit))


def described() -> dict[str, str]:
    """Returns principal, session, request and tool as members of a JSON object."""
    facts = _current.get()
    if facts is None:
        return {}
    members = {
        "principal": current_principal().name,
        "session": facts.session,
        "request_id": facts.request_id,
        "method": facts.method,
        "tool": facts.tool,
        "trace_id": facts.trace_id,
    }
    return {key: value for key, value in members.items() if value is not None}
