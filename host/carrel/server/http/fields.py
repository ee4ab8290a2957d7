"""Checks a request's header fields: their size, and those that must come once."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from .formats import Headers
from .refusals import Refused

#: Fields that decide how a request is served. Two programs could read different ones.
_SINGLE: Final = (
    b"origin",
    b"authorization",
    b"content-type",
    b"content-encoding",
    b"last-event-id",
    b"mcp-protocol-version",
    b"mcp-session-id",
)


def check_fields(
    scope: MutableMapping[str, Any], fields: Mapping[bytes, bytes], limit: int
) -> None:
    """Checks the fields of a request.

    Args:
        scope: ASGI's.
        fields: the first value of each field.
        limit: bytes of the target and the fields.

    Raises:
        Refused: they are too large, or ambiguous.
    """
    sent: Headers = scope["headers"]
    size = sum(len(name) + len(value) + 4 for name, value in sent)
    if size + len(scope["raw_path"]) > limit:
        raise Refused("headers-too-large")
    if len(fields) < len(sent):
        names = [name for name, _ in sent]
        if any(names.count(name) > 1 for name in _SINGLE):
            raise Refused("repeated-header")
