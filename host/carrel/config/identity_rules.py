"""Rules for the settings of the table `identity`."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from .values import (
    Misfits,
    Rule,
    each,
    flag,
    folder,
    members,
    number,
    readable_file,
    text,
    whole,
    wrong,
)

if TYPE_CHECKING:
    from .model import ScopeGrant

#: As `carrel.server.identity.keys.ASYMMETRIC`; a test compares them.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)

_URL_PART: Final = re.compile(r"[!-~]{1,1000}")
_SCOPE: Final = re.compile(r"[!#-\[\]-~]{1,256}")
_NAME: Final = re.compile(r"\*|[A-Za-z0-9_]{1,40}")


def web_url(value: object, base: Path) -> str:
    """An absolute URL without user, query and fragment."""
    found = text(value, base)
    parts = _split(found)
    if (
        parts is None
        or parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.username is not None
        or "?" in found
        or "#" in found
        or not _URL_PART.fullmatch(found)
    ):
        raise ValueError(
            "expected an absolute URL such as https://login.example.org, without user, query "
            "and fragment"
        )
    return found


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    return parts


def is_loopback(host: str | None) -> bool:
    """Returns whether a name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def algorithms(value: object, _base: Path) -> tuple[str, ...]:
    """Algorithms of signatures with a public key."""

    def read(item: str) -> str:
        if item not in ALGORITHMS:
            raise ValueError(f"expected one of {', '.join(ALGORITHMS)} but found {item!r}")
        return item

    found = each(value, "a list of algorithms", read)
    if not found:
        raise ValueError("expected at least one algorithm")
    return found


def audiences(value: object, _base: Path) -> tuple[str, ...]:
    """A text or a list of texts."""

    def read(item: str) -> str:
        if not _URL_PART.fullmatch(item):
            raise ValueError("expected printable ASCII without blanks")
        return item

    listed = [value] if isinstance(value, str) else value
    return each(listed, "a text or a list of texts", read)


def scope_names(value: object, _base: Path) -> tuple[str, ...]:
    """A list of scopes."""
    return each(value, "a list of scopes", _scope)


def _scope(item: str) -> str:
    if not _SCOPE.fullmatch(item):
        raise ValueError("expected a scope: printable ASCII without blanks, quotes and backslashes")
    return item


def scope_grants(value: object, base: Path) -> dict[str, ScopeGrant]:
    """Scope → table of toolsets and plugins."""
    from .model import ScopeGrant

    if not isinstance(value, dict):
        raise wrong("a table of scopes", value)
    found, misfits = {}, Misfits()
    for key, item in value.items():
        with misfits.at(f"[{key!r}]"):
            scope = _scope(key)
            if not isinstance(item, dict):
                raise wrong("a table", item)
            found[scope] = ScopeGrant(**members(item, "", _GRANT_RULES, base))
    misfits.raise_found()
    return found


def _names(value: object, _base: Path) -> tuple[str, ...]:
    def read(item: str) -> str:
        if not _NAME.fullmatch(item):
            raise ValueError(f"expected a name, or * for all, but found {item!r}")
        return item

    return each(value, "a list of names", read)


_GRANT_RULES: Final[Mapping[str, Rule]] = {"toolsets": _names, "plugins": _names}

IDENTITY_RULES: Final[Mapping[str, Rule]] = {
    "issuer": web_url,
    "resource": web_url,
    "audience": audiences,
    "jwks_url": web_url,
    "algorithms": algorithms,
    "required_scopes": scope_names,
    "scopes": scope_grants,
    "leeway_seconds": number(0, 300, "seconds"),
    "keys_refresh_seconds": number(1, 86_400, "seconds"),
    "keys_keep_seconds": number(1, 604_800, "seconds"),
    "plain_http": flag,
    "private": flag,
    "ca_bundle": readable_file,
    "folder": folder,
    "calls_per_second": number(0, 1_000_000, above=True),
    "burst": whole(1, 1_000_000),
    "max_in_flight": whole(1, 1_000_000),
    "max_sessions": whole(1, 1_000_000),
    "calls_per_day": whole(1, 1_000_000_000),
}
