"""The MCP server: what a client sees of a toolbox, over stdio.

Nothing here knows of sandboxes or upstreams: the server is handed a `Toolbox`. Importing
this package is cheap; the MCP SDK is imported when a server starts.

A call's way through the files: `pipes` → `frames` → `transport` → (SDK) → `app` → `calls` →
toolbox → `answers`, and back by `transport`. A plain tool call takes `lane` past the SDK and `app`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .settings import ServerSettings

if TYPE_CHECKING:
    from carrel.tools import Toolbox

    from .reload import Renewal

__all__ = ["ServerSettings", "serve_stdio"]


def serve_stdio(
    make_toolbox: Callable[[], Toolbox],
    settings: ServerSettings | None = None,
    *,
    renewal: Renewal | None = None,
    may_offer: Callable[[], bool] = lambda: False,
    expects: Callable[[str], bool] = lambda _tool: False,
) -> int:
    """Serves one client over the process's standard streams until it leaves.

    Ends at the end of stdin, on SIGTERM and on SIGINT, within `settings.shutdown_seconds`. While it
    serves, file descriptor 1 points at stderr, so that nothing but frames reaches the client.

    Args:
        make_toolbox: called once, in a thread, after the first answer or at first need. When it
            raises, the request that needed it fails and the next one tries again.
        settings: the caps; the defaults when None.
        renewal: what takes the toolbox's place when the configuration changes, or on SIGHUP; None
            serves the same toolbox to the end.
        may_offer: whether plugins can have prompts or completion. If so, the first answer waits for
            them, because it says what the server can do.
        expects: whether a tool of that name will be offered, for the first answer, which comes
            before the toolbox.

    Returns:
        The exit code: 0 for a clean end, 1 if the server itself failed.
    """
    from . import stdio

    return stdio.serve(
        make_toolbox,
        settings or ServerSettings(),
        renewal=renewal,
        may_offer=may_offer,
        expects=expects,
    )
