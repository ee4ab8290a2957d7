"""Lets pages of `http.allowed_origins` call the server: the header fields of CORS.

A browser asks before it sends a page's message to another origin (a preflight, without a token),
and shows a response to the page only if the response names the page's origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .formats import Headers

#: Seconds that a browser may use the answer to a preflight.
_MAX_AGE: Final = b"600"
#: Fields of a response that a client needs besides those that every page sees.
_EXPOSED: Final = b"Mcp-Session-Id, WWW-Authenticate, Retry-After"


def is_preflight(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Returns whether a browser asks if a page may send a request."""
    return method == "OPTIONS" and b"access-control-request-method" in headers


def preflight_headers() -> Headers:
    """Returns the fields of the answer to a preflight, besides those of every response."""
    return [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        # The wildcard stands for every field but this one: `Mcp-Param-*` have any names.
        (b"access-control-allow-headers", b"*, Authorization"),
        (b"access-control-max-age", _MAX_AGE),
    ]


def response_headers(origin: bytes) -> Headers:
    """Returns the fields that let a page of this origin read a response."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]
