"""Serves `subscriptions/listen` of revision 2026-07-28, with one subscription bus per principal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

from carrel.principal import Principal, current_principal

from .calls import Context

_Change = type[ToolsListChanged] | type[PromptsListChanged] | type[ResourcesListChanged]
_CHANGES: Final[Mapping[str, _Change]] = {
    "tools": ToolsListChanged,
    "prompts": PromptsListChanged,
    "resources": ResourcesListChanged,
}


class Subscriptions:
    """The subscriptions of all clients. Used on one event loop.

    Args:
        limit: subscriptions of one principal.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        #: Name of a principal → its bus and handler.
        self._served: dict[str, tuple[InMemorySubscriptionBus, ListenHandler]] = {}

    async def serve(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serves a subscription of the current principal until its client or the server ends it."""
        return await self._of(current_principal().name)[1](ctx, params)

    async def notify_changed(self, what: str, principal: Principal | None) -> None:
        """Notifies the subscribers of a list, of one principal or all."""
        for bus in self._buses(principal):
            await bus.publish(_CHANGES[what]())

    async def notify_updated(self, uri: str, principal: Principal | None) -> None:
        """Notifies the subscribers of a document, of one principal or all."""
        for bus in self._buses(principal):
            await bus.publish(ResourceUpdated(uri=uri))

    def close(self) -> None:
        """Ends every subscription with its result."""
        for _, handler in self._served.values():
            handler.close()

    def _of(self, name: str) -> tuple[InMemorySubscriptionBus, ListenHandler]:
        if name not in self._served:
            bus = InMemorySubscriptionBus()
            self._served[name] = bus, ListenHandler(bus, max_subscriptions=self._limit)
        return self._served[name]

    def _buses(self, principal: Principal | None) -> list[InMemorySubscriptionBus]:
        if principal is None:
            return [bus for bus, _ in self._served.values()]
        found = self._served.get(principal.name)
        return [] if found is None else [found[0]]
