"""Serves a toolbox to MCP clients, over stdio or streamable HTTP.

This package does not know sandboxes or upstreams: the caller passes a `Toolbox`. Importing it is
cheap; the MCP SDK is imported when a server starts.

A call passes through `pipes` → `frames` → `transport` → (SDK) → `app` → `calls` → toolbox →
`answers`, and back through `transport`. A plain tool call skips the SDK and `app`: see `fast_path`.
Over HTTP, `http` takes the place of the first three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.config import HttpConfig, ServerConfig

if TYPE_CHECKING:
    from carrel.errors import CarrelError
    from carrel.tools import Toolbox

    from .http import Address
    from .identity.opening import TokenIdentity
    from .reload import Renewal

__all__ = ["serve_http", "serve_stdio"]


def serve_stdio(
    make_toolbox: Callable[[], Toolbox],
    settings: ServerConfig | None = None,
    *,
    renewal: Renewal | None = None,
    may_offer: Callable[[], bool] = lambda: False,
    watches: Callable[[], bool] = lambda: False,
    expects: Callable[[str], bool] = lambda _tool: False,
) -> int:
    """Serves one client over the process's standard streams.

    Returns after the end of stdin, SIGTERM or SIGINT, within `settings.shutdown_seconds`. While it
    serves, file descriptor 1 points at stderr, so that only frames reach the client.

    Args:
        make_toolbox: called once, in a thread, after the first response or when first needed. If it
            raises, that request fails and the next one tries again.
        settings: the limits; the defaults when None.
        renewal: creates a new toolbox when the configuration changes, or on SIGHUP; None serves the
            same toolbox to the end.
        may_offer: whether plugins can have prompts or completion. If so, the first response waits
            for the plugins, because it lists the server's capabilities.
        watches: whether there can be resources of the host that change, to which clients subscribe.
        expects: whether a tool of that name will be listed; used in the first response, before the
            toolbox exists.

    Returns:
        The exit code: 0 for a clean end, 1 if the server itself failed.
    """
    from . import stdio

    return stdio.serve(
        make_toolbox,
        settings or ServerConfig(),
        renewal=renewal,
        may_offer=may_offer,
        watches=watches,
        expects=expects,
    )


def serve_http(
    make_toolbox: Callable[[], Toolbox],
    address: Address,
    settings: ServerConfig | None = None,
    http: HttpConfig | None = None,
    *,
    identity: TokenIdentity | None = None,
    renewal: Renewal | None = None,
    may_offer: Callable[[], bool] = lambda: False,
    watches: Callable[[], bool] = lambda: False,
    expects: Callable[[str], bool] = lambda _tool: False,
    store_health: Callable[[], CarrelError | None] = lambda: None,
) -> int:
    """Serves many clients over streamable HTTP, until SIGTERM or SIGINT.

    Then further requests are refused, and running ones get `settings.shutdown_seconds`. Nothing is
    written to stdout; the endpoint's URL is the first line on stderr.

    Args:
        make_toolbox: called once, in a thread. If it raises, requests fail and try again.
        address: where to listen; on loopback only, unless there is an identity.
        settings: the limits; the defaults when None.
        http: the limits of HTTP; the defaults when None.
        identity: who may use the server; when None, all requests are the local user's.
        renewal: as of `serve_stdio`.
        may_offer: as of `serve_stdio`.
        watches: as of `serve_stdio`.
        expects: as of `serve_stdio`.
        store_health: returns why the store of state cannot be used; None when it can. May block.

    Returns:
        The exit code: 0 for a clean end, 1 if the server itself failed.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    from .http.serve import serve

    return serve(
        make_toolbox,
        address,
        settings or ServerConfig(),
        http or HttpConfig(),
        identity=identity,
        renewal=renewal,
        may_offer=may_offer,
        watches=watches,
        expects=expects,
        store_health=store_health,
    )
