"""Finds the bearer token in the headers of a request (RFC 6750, section 2.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl

_CREDENTIALS: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?: +([\x21-\x7e]*))?")
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")


class MalformedCredentialsError(Exception):
    """The credentials cannot be read; the message is for the log and quotes nothing."""


def bearer_token(headers: Iterable[tuple[bytes, bytes]], query: bytes = b"") -> str | None:
    """Returns the token of a request; None if it has none.

    Args:
        headers: all of them, names in lower case.
        query: of the URL, where a token is never accepted.

    Raises:
        MalformedCredentialsError: it has several, or one in the wrong place or form.
    """
    if query and any(
        name.strip().lower() == "access_token"
        for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    ):
        raise MalformedCredentialsError("a token in the URL, where logs and proxies keep it")
    values = [value for name, value in headers if name.lower() == b"authorization"]
    if not values:
        return None
    if len(values) > 1:
        raise MalformedCredentialsError("several Authorization headers")
    found = _CREDENTIALS.fullmatch(values[0])
    if found is None:
        raise MalformedCredentialsError("the Authorization header is not a scheme and a token")
    if found[1].lower() != b"bearer":
        return None
    token = (found[2] or b"").decode("ascii")
    if not _TOKEN.fullmatch(token):
        raise MalformedCredentialsError("the token has characters that no token has")
    return token
