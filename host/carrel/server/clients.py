"""Tracks the clients that used `initialize`, and sends them notifications of changes.

Clients of revision 2026-07-28 use `subscriptions/listen` instead.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from carrel.principal import Principal, current_principal

from .calls import Context, session_id

logger = logging.getLogger(__name__)

#: Documents that one client may subscribe to.
MAX_DOCUMENTS: Final = 1000
#: Seconds that a client may take to accept a notification.
_SECONDS: Final = 30.0


@dataclass(slots=True)
class _Client:
    """A connected client.

    Attributes:
        session: sends it notifications.
        revision: of the protocol, as negotiated.
        declared_prompts: whether the response to `initialize` declared prompts.
        principal: the name of the principal that opened its session.
        documents: URIs whose changes it wants.
    """

    session: ServerSession
    revision: str
    declared_prompts: bool
    principal: str
    documents: set[str] = field(default_factory=set)


class Clients:
    """The connected clients: one over stdio, one for each session over HTTP."""

    def __init__(self) -> None:
        self._clients: dict[str | None, _Client] = {}
        self._notifications: set[asyncio.Task[None]] = set()
        #: Whether the last response to `initialize` declared prompts.
        self.declared_prompts = False

    def connected(self, ctx: Context) -> None:
        """Registers a client."""
        self._client(ctx)

    def _client(self, ctx: Context) -> _Client:
        client = _Client(
            ctx.session,
            ctx.protocol_version,
            self.declared_prompts,
            current_principal().name,
        )
        return self._clients.setdefault(session_id(ctx), client)

    def revision_of(self, id_: str) -> str | None:
        """Returns the revision of a session's client; None if there is none."""
        client = self._clients.get(id_)
        return None if client is None else client.revision

    def forget(self, id_: str | None) -> None:
        """Forgets a client whose session has ended, or begins again."""
        self._clients.pop(id_, None)

    def notify_changed(self, what: str, principal: Principal | None = None) -> None:
        """Notifies clients that the list of `tools`, `resources` or `prompts` has changed.

        A client hears of prompts only if the response to `initialize` declared them.

        Args:
            what: the list.
            principal: whose clients; None for all.
        """
        for client in self._of(principal):
            if what == "tools":
                self._send(client.session.send_tool_list_changed())
            elif what == "resources":
                self._send(client.session.send_resource_list_changed())
            elif client.declared_prompts:
                self._send(client.session.send_prompt_list_changed())

    def notify_updated(self, uri: str, principal: Principal | None = None) -> None:
        """Notifies the subscribers of a document, of one principal or all, that it has changed."""
        for client in self._of(principal):
            if uri in client.documents:
                self._send(client.session.send_resource_updated(uri))

    def _of(self, principal: Principal | None) -> list[_Client]:
        found = self._clients.values()
        return [
            client for client in found if principal is None or client.principal == principal.name
        ]

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Handles `resources/subscribe`."""
        documents = self._client(ctx).documents
        if len(documents) >= MAX_DOCUMENTS:
            raise MCPError(INVALID_PARAMS, f"more than {MAX_DOCUMENTS} subscriptions")
        documents.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Handles `resources/unsubscribe`."""
        self._client(ctx).documents.discard(str(params.uri))
        return EmptyResult()

    def _send(self, sending: Coroutine[Any, Any, None]) -> None:
        """Sends a notification in a task, because one client may not read."""
        task = asyncio.get_running_loop().create_task(_within(sending, _SECONDS))
        self._notifications.add(task)
        task.add_done_callback(self._notifications.discard)


async def _within(sending: Coroutine[Any, Any, None], seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await sending
    except TimeoutError:
        logger.warning("a client did not accept a notification within %g s", seconds)
