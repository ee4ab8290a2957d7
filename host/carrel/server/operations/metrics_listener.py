"""Serves `/metrics` on an address of its own, without identity, for a Prometheus beside the server.

Nothing else is served there. A browser's request for another site is refused by its `Origin`, and
on loopback `Host` has to be a loopback name, against DNS rebinding.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from carrel.errors import ConfigError

from .routes import HEADERS, RouteReply, Routes

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class MetricsApp:
    """The ASGI application of that address.

    Args:
        routes: has the metrics.
        is_own_host: whether a value of `Host` names this server; None accepts every name.
    """

    def __init__(self, routes: Routes, is_own_host: Callable[[str], bool] | None) -> None:
        self._routes = routes
        self._is_own_host = is_own_host or (lambda _host: True)

    async def __call__(self, scope: Scope, _receive: object, send: Send) -> None:
        """Answers one request."""
        reply = await self._reply(scope)
        headers = {**reply.headers, "Content-Length": str(len(reply.body))}
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": raw})
        body = b"" if scope["method"] == "HEAD" else reply.body
        await send({"type": "http.response.body", "body": body})

    async def _reply(self, scope: Scope) -> RouteReply:
        headers = dict(scope["headers"])
        text = {**HEADERS, "Content-Type": "text/plain; charset=utf-8"}
        if b"origin" in headers or not self._is_own_host(
            headers.get(b"host", b"").decode("latin-1")
        ):
            return RouteReply(403, b"refused: this address is for Prometheus\n", text)
        if scope["path"] != "/metrics":
            return RouteReply(404, b"metrics are at /metrics\n", text)
        if scope["method"] not in {"GET", "HEAD"}:
            return RouteReply(405, b"GET or HEAD\n", {**text, "Allow": "GET, HEAD"})
        return await self._routes.metrics()


def parse_place(address: str) -> tuple[str, int] | None:
    """Returns host and port of `http.metrics`; None where it is no address.

    Raises:
        ConfigError: the port is no port.
    """
    if address in {"off", "same"}:
        return None
    host, _, port = address.rpartition(":")
    if int(port) > 65_535:
        raise ConfigError([f"http.metrics: {port} is no port"])
    return host.strip("[]"), int(port)
