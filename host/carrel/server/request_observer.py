"""Defines the interface by which the server reports requests and calls to an observer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class CallReport(Protocol):
    """Observes one call on the fast path.

    Attributes:
        code: the error's code; `ok` without one.
    """

    code: str

    def run(self, start: Callable[[], T]) -> T:
        """Starts the call in the context of its request."""
        ...

    def ended(self) -> None:
        """Reports the end of the call."""
        ...

    def dropped(self) -> None:
        """Reports that the fast path did not take the call."""
        ...


class RequestObserver(Protocol):
    """Gets the requests of clients; `operations` implements it."""

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        request_id: object,
        session: str | None,
        *,
        protocol: str,
        headers: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[None]:
        """Returns a context for the handling of one request or notification.

        Args:
            method: of the protocol.
            params: as the client sent them.
            request_id: None for a notification.
            session: the session's id; None without a session.
            protocol: its revision.
            headers: of HTTP; None on stdio.
        """
        ...

    async def call(self, tool: str, run: Callable[[], Awaitable[Any]]) -> Any:
        """Runs a call, and returns or raises what it does.

        Args:
            tool: the tool's name; empty for a call of another method.
            run: runs it.
        """
        ...

    def begin(
        self, tool: str, params: Mapping[str, Any], request_id: object, session: str | None
    ) -> CallReport:
        """Returns what observes a call on the fast path.

        Args:
            tool: the tool's name.
            params: as the client sent them.
            request_id: of the request.
            session: the session's id; None without a session.
        """
        ...
