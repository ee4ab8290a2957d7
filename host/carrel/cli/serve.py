"""`carrel serve`: the MCP server on stdio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .command import EXCHANGE, command
from .session import Session

if TYPE_CHECKING:
    from carrel.config import ServerConfig
    from carrel.server import ServerSettings
    from carrel.tools import Toolbox


@command("serve", example="serve --config carrel.toml", options=EXCHANGE)
def serve(session: Session) -> int:
    """Serve the tools to one MCP client over stdin and stdout.

    stdout carries protocol frames and nothing else; the log goes to stderr. The end of stdin ends
    the server. A client's configuration names this command: {"command": "carrel", "args":
    ["serve"]}.
    """
    config = session.config()
    from carrel.server import serve_stdio

    def make_toolbox() -> Toolbox:
        # Imported here, in the server's own time: the first answer does not wait for it.
        from carrel.tools import Toolbox

        return Toolbox(config)

    return serve_stdio(make_toolbox, server_settings(config.server))


def server_settings(config: ServerConfig) -> ServerSettings:
    """The server's settings; the configuration has them under the same names."""
    from dataclasses import asdict

    from carrel.server import ServerSettings

    return ServerSettings(**asdict(config))
