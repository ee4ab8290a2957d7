"""What an operator can set about the server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The server's caps; each has a default that an ordinary client never meets.

    Attributes:
        max_line_bytes: longest message taken from a client; a longer one is refused unread.
        max_in_flight: requests taken and not yet answered; further ones are refused as `busy`.
        calls_per_second: sustained rate of tool calls; quicker ones wait their turn.
        burst: tool calls that may come at once before the rate counts.
        patience_seconds: longest wait for a turn; a call that would wait longer is refused as
            `busy` with the seconds.
        shutdown_seconds: from the end of stdin, or a signal, to the end of the process. Running
            calls get four fifths of it, then they are cancelled.
        log_level: of the lines on stderr: debug, info, warning, error or critical.
        text: of results: json beside structured content, or compact and alone.
    """

    max_line_bytes: int = 4 * 2**20
    max_in_flight: int = 1024
    calls_per_second: float = 1000.0
    burst: int = 5000
    patience_seconds: float = 5.0
    shutdown_seconds: float = 5.0
    log_level: str = "warning"
    text: str = "json"
