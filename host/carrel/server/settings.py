"""Defines the server's settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The server's limits; ordinary clients stay below the defaults.

    Attributes:
        max_line_bytes: longest message from a client; a longer one is refused unread.
        max_in_flight: maximum number of unanswered requests; further ones are refused as `busy`.
        calls_per_second: rate limit of tool calls; faster calls wait.
        burst: number of tool calls that may exceed the rate at once.
        patience_seconds: longest wait for the rate limit; a call that would wait longer is refused
            as `busy`, with the seconds.
        shutdown_seconds: from the end of stdin, or a signal, to the end of the process. Running
            calls are cancelled after four fifths of it.
        log_level: lowest level logged to stderr: debug, info, warning, error or critical.
        text: of results: json beside structured content, or compact without it.
    """

    max_line_bytes: int = 4 * 2**20
    max_in_flight: int = 1024
    calls_per_second: float = 1000.0
    burst: int = 5000
    patience_seconds: float = 5.0
    shutdown_seconds: float = 5.0
    log_level: str = "warning"
    text: str = "json"
