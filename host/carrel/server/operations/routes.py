"""Serves the paths beside `/mcp`: probes, metrics, and the page for people with its data.

The gate has checked the headers, `Host` and `Origin`, and for all but the open paths who asks.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal

from carrel.awaiting import run_in_thread
from carrel.principal import OPERATE, Principal

from .exposition import CONTENT_TYPE, Exposition
from .status import sees_all, status

if TYPE_CHECKING:
    from .operations import Operations

logger = logging.getLogger(__name__)

#: Seconds after which a probe is answered although something hangs.
_PATIENCE: Final = 5.0

#: Headers of every response here. Nothing of it may be cached, framed or read by another site.
HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: The page runs its own script, and asks its own server; nothing else.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_PAGE_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
#: Path → file of the page and its media type.
_FILES: Final[Mapping[str, tuple[str, str]]] = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}


@dataclass(frozen=True, slots=True)
class RouteReply:
    """A response.

    Attributes:
        status: of HTTP.
        body: empty for HEAD.
        headers: with the media type.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


#: Whether a path is answered to anybody, or needs an identity.
Access = Literal["open", "identified"]


class Routes:
    """Answers the paths of one server.

    Args:
        operations: what they show.
    """

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        http = operations.http
        self._exposition = Exposition(operations.metrics.families(), operations.gauges.collect)
        self._access: dict[str, Access] = {"/healthz": "open", "/readyz": "open"}
        if http is not None and http.metrics == "same":
            self._access["/metrics"] = "identified"
        if http is not None and http.page:
            # The page itself has no data: it asks for a token where one is needed.
            self._access |= dict.fromkeys(_FILES, "open")
            self._access["/status.json"] = "identified"
        #: The examination for `/readyz` that was started last.
        self._examination: asyncio.Future[RouteReply] | None = None

    def access(self, path: str) -> Access | None:
        """Returns who may ask for a path; None for one that is not here."""
        return self._access.get(path)

    async def reply(self, method: str, path: str, principal: Principal | None) -> RouteReply:
        """Answers a request for a path that `access` knows."""
        if method not in {"GET", "HEAD"}:
            return _json(405, {"error": "this path accepts GET and HEAD"}, {"Allow": "GET, HEAD"})
        if path in _FILES:
            name, kind = _FILES[path]
            found = RouteReply(200, _file(name), {**HEADERS, **_PAGE_HEADERS, "Content-Type": kind})
        elif path == "/healthz":
            found = _json(200, {"status": "ok"})
        elif path == "/readyz":
            found = await self._ready()
        elif path == "/metrics":
            found = await self._metrics_for(principal)
        else:
            assert principal is not None, "only identified principals see the status"
            found = await _timed(run_in_thread(self._status, principal))
        return found if method == "GET" else RouteReply(found.status, b"", found.headers)

    def _status(self, principal: Principal) -> RouteReply:
        return _json(200, status(self._operations, principal))

    async def _metrics_for(self, principal: Principal | None) -> RouteReply:
        """Answers a principal that may see what others do."""
        if principal is not None and sees_all(principal):
            return await self.metrics()
        challenge = f'Bearer error="insufficient_scope", scope="{OPERATE}"'
        error = {"error": f"metrics count the calls of everybody; they need the scope {OPERATE}"}
        return _json(403, error, {"WWW-Authenticate": challenge})

    async def metrics(self) -> RouteReply:
        """Answers with the metrics in Prometheus' text format."""

        def written() -> RouteReply:
            return RouteReply(
                200, self._exposition.text(), {**HEADERS, "Content-Type": CONTENT_TYPE}
            )

        return await _timed(run_in_thread(written))

    async def _ready(self) -> RouteReply:
        """Answers all who ask at once with one examination: anybody may ask, and it takes a thread,
        for as long as a store hangs.
        """

        def examined() -> RouteReply:
            found = self._operations.gauges.readiness()
            body: dict[str, Any] = {"status": "ready" if found.is_ready else "unavailable"}
            if found.reasons:
                body["reasons"] = list(found.reasons)
            body["plugins"] = found.plugins
            if found.reload is not None:
                body["reload"] = found.reload
            return _json(200 if found.is_ready else 503, body)

        if self._examination is None or self._examination.done():
            self._examination = run_in_thread(examined)
        return await _timed(asyncio.shield(self._examination))


async def _timed(reply: asyncio.Future[RouteReply]) -> RouteReply:
    """Awaits what a thread makes; a hanging disk or store ends in 503."""
    try:
        async with asyncio.timeout(_PATIENCE):
            return await reply
    except TimeoutError:
        return _json(503, {"status": "unavailable", "reasons": ["timeout"]})
    except Exception:
        logger.exception("a probe or a page failed")
        return _json(503, {"status": "unavailable", "reasons": ["internal"]})


def _json(status_code: int, value: Any, more: Mapping[str, str] | None = None) -> RouteReply:
    body = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    headers = {**HEADERS, "Content-Type": "application/json", **(more or {})}
    return RouteReply(status_code, body, headers)


@cache
def _file(name: str) -> bytes:
    return (resources.files("carrel.server.operations") / "page" / name).read_bytes()
