"""Lists every refusal of the HTTP server: its status, JSON-RPC error and reason.

`docs/reference/http.md` has the same table; a test compares them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

#: JSON-RPC error codes; `BUSY` is Carrel's, as over stdio.
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
BUSY: Final = -32000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response that ends a request before the SDK sees it.

    Attributes:
        name: identifies it in logs and documentation.
        status: of HTTP.
        code: of the JSON-RPC error.
        message: what happened and what to do.
        headers: further headers.
        closes: whether the connection is closed, because the rest of the request is not read.
        reason: for the log, where the message does not say why.
    """

    name: str
    status: int
    code: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    closes: bool = False
    reason: str = ""

    def body(self, id_: int | str | None = None) -> bytes:
        """Returns the JSON-RPC error."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": id_, "error": error}).encode()


#: The response to a request whose session ended first.
UNANSWERED: Final = Refusal("unanswered", 500, -32603, "the session ended before the response")

REFUSALS: Final = {
    refusal.name: refusal
    for refusal in (
        Refusal(
            "wrong-host",
            421,
            INVALID_REQUEST,
            "this Host is not served; add it to http.allowed_hosts if it is this server",
        ),
        Refusal(
            "wrong-origin",
            403,
            INVALID_REQUEST,
            "this Origin is not allowed; add it to http.allowed_origins if it may call this server",
        ),
        Refusal(
            "malformed-credentials",
            400,
            INVALID_REQUEST,
            "the credentials are malformed; send one header Authorization: Bearer TOKEN",
        ),
        Refusal(
            "no-token", 401, INVALID_REQUEST, "a token is needed; send Authorization: Bearer TOKEN"
        ),
        Refusal("invalid-token", 401, INVALID_REQUEST, "the token is invalid; get another"),
        Refusal(
            "insufficient-scope",
            403,
            INVALID_REQUEST,
            "the token's scopes do not suffice; get one with a scope of WWW-Authenticate",
        ),
        Refusal(
            "identity-unavailable",
            503,
            BUSY,
            "tokens cannot be verified now; try again later",
            {"Retry-After": "10"},
        ),
        Refusal("no-such-path", 404, INVALID_REQUEST, "the endpoint is /mcp"),
        Refusal(
            "wrong-method",
            405,
            INVALID_REQUEST,
            "the endpoint accepts GET, POST and DELETE",
            {"Allow": "GET, POST, DELETE"},
        ),
        Refusal(
            "headers-too-large",
            431,
            INVALID_REQUEST,
            "the headers are larger than http.max_header_bytes",
            closes=True,
        ),
        Refusal(
            "wrong-content-type", 415, INVALID_REQUEST, "the Content-Type must be application/json"
        ),
        Refusal(
            "encoded-body",
            415,
            INVALID_REQUEST,
            "the body must not have a Content-Encoding",
        ),
        Refusal(
            "not-acceptable",
            406,
            INVALID_REQUEST,
            "Accept must include application/json or text/event-stream; a stream needs the latter",
        ),
        Refusal(
            "repeated-header",
            400,
            INVALID_REQUEST,
            "a header that must come once comes twice",
            closes=True,
        ),
        Refusal(
            "body-too-large",
            413,
            INVALID_REQUEST,
            "the body is larger than http.max_body_bytes",
            closes=True,
        ),
        Refusal(
            "body-too-slow",
            408,
            INVALID_REQUEST,
            "the body did not arrive within http.read_seconds",
            closes=True,
        ),
        Refusal("not-json", 400, PARSE_ERROR, "the body is not JSON"),
        Refusal(
            "batch", 400, INVALID_REQUEST, "batches are not accepted; send one message a request"
        ),
        Refusal("not-a-message", 400, INVALID_REQUEST, "the body is not a JSON-RPC message"),
        Refusal(
            "ambiguous",
            400,
            INVALID_REQUEST,
            "the message has a member twice, or members that differ only in case",
        ),
        Refusal(
            "id-in-use", 400, INVALID_REQUEST, "the session has an unanswered request with this id"
        ),
        Refusal(
            "no-session",
            400,
            INVALID_REQUEST,
            "Mcp-Session-Id is missing; send initialize first, or use revision 2026-07-28",
        ),
        Refusal(
            "unknown-session",
            404,
            INVALID_REQUEST,
            "no such session, or it has ended; send initialize to open another",
        ),
        Refusal(
            "stream-open",
            409,
            INVALID_REQUEST,
            "the session has an open stream of notifications; end it before you open another",
        ),
        Refusal(
            "event-gone",
            410,
            INVALID_REQUEST,
            "the events after this Last-Event-ID are not kept; send the request again",
        ),
        Refusal(
            "too-many-sessions",
            503,
            BUSY,
            "http.max_sessions are open; end one, or try again later",
            {"Retry-After": "5"},
        ),
        Refusal(
            "too-many-own-sessions",
            429,
            BUSY,
            "identity.max_sessions of yours are open; end one, or try again later",
            {"Retry-After": "5"},
        ),
        Refusal(
            "too-many-own-requests",
            429,
            BUSY,
            "identity.max_in_flight requests of yours are unanswered; try again shortly",
            {"Retry-After": "1"},
        ),
        Refusal(
            "busy",
            503,
            BUSY,
            "server.max_in_flight requests are unanswered; try again shortly",
            {"Retry-After": "1"},
        ),
        Refusal(
            "stopping",
            503,
            BUSY,
            "the server is shutting down",
            {"Retry-After": "5"},
            closes=True,
        ),
    )
}


class Refused(Exception):
    """Ends the handling of a request.

    Args:
        name: of the refusal.
        id_: of the message, if it is known.
        changes: attributes that differ from the refusal in the table.
    """

    def __init__(self, name: str, id_: int | str | None = None, **changes: Any) -> None:
        self.refusal = replace(REFUSALS[name], **changes)
        self.id = id_

    @classmethod
    def by(cls, refusal: Refusal) -> Refused:
        """Returns the exception of a refusal that is not in the table as it is."""
        refused = cls(refusal.name)
        refused.refusal = refusal
        return refused
