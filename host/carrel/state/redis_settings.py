"""Says how to reach a Redis server; reads its URL."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from carrel.known_secrets import remember

#: Bytes of the largest password file.
_MAX_PASSWORD_BYTES: Final = 4096

_PREFIX: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """A Redis server that several processes and machines share.

    Attributes:
        host: its name or address.
        port: its port.
        database: number of the database.
        tls: whether it is reached over TLS.
        username: for its access control lists; None for the default user.
        password: None if there is none, or if `password_file` has it. Never shown.
        password_file: a file with the password, read for each connection, so that it can change.
        ca_bundle: a PEM file of the certificate authorities that may sign the server's certificate;
            None trusts the system's.
        prefix: the beginning of all keys; servers with different prefixes share nothing.
        timeout_seconds: the longest wait for a connection, and for each answer.
    """

    host: str
    port: int = 6379
    database: int = 0
    tls: bool = False
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    password_file: Path | None = None
    ca_bundle: Path | None = None
    prefix: str = "carrel"
    timeout_seconds: float = 1.0

    @property
    def address(self) -> str:
        """The URL without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"redis{'s' if self.tls else ''}://{host}:{self.port}/{self.database}"

    def read_password(self) -> str | None:
        """Returns the password for a new connection.

        Raises:
            OSError: the file cannot be read.
            UnicodeDecodeError: it is not UTF-8.
        """
        found = self.password
        if self.password_file is not None:
            with self.password_file.open("rb") as file:
                found = file.read(_MAX_PASSWORD_BYTES).decode("utf-8").strip("\r\n")
        remember(found)
        return found


def parse_redis_url(url: str) -> RedisSettings:
    """Returns the settings that `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]` says; `rediss:`
    means TLS.

    Raises:
        ValueError: it is no such URL. The message does not show it, because it may hold a password.
    """
    expected = "expected redis://HOST:PORT/DATABASE or rediss://… (the value is not shown)"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(expected) from error
    if parts.scheme not in {"redis", "rediss"} or not parts.hostname:
        raise ValueError(expected)
    if parts.query or parts.fragment or re.search(r"[\s\x00-\x1f]", url):
        raise ValueError(expected)
    if not re.fullmatch(r"/?|/\d{1,5}", parts.path) or port == 0:
        raise ValueError(expected)
    return RedisSettings(
        host=parts.hostname,
        port=port or 6379,
        database=int(parts.path[1:] or "0"),
        tls=parts.scheme == "rediss",
        username=_unquoted(parts, "username"),
        password=_unquoted(parts, "password"),
    )


def check_prefix(prefix: str) -> str:
    """Returns the prefix.

    Raises:
        ValueError: it is no short name.
    """
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"expected letters, digits, _, . and - but found {prefix!r}")
    return prefix


def _unquoted(parts: SplitResult, name: str) -> str | None:
    value: str | None = getattr(parts, name)
    return unquote(value) if value else None
