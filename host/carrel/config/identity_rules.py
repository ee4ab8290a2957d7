"""Rules for the settings of the table `identity`."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from .values import (
    MisfitError,
    Rule,
    flag,
    folder,
    items,
    kind_of,
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
    found = []
    for at, item in items(value, "a list of algorithms"):
        if item not in ALGORITHMS:
            raise MisfitError(f"expected one of {', '.join(ALGORITHMS)} but found {item!r}", at)
        found.append(item)
    if not found:
        raise ValueError("expected at least one algorithm")
    return tuple(dict.fromkeys(found))


def audiences(value: object, base: Path) -> tuple[str, ...]:
    """A text or a list of texts."""
    listed = [value] if isinstance(value, str) else value
    found = []
    for at, item in items(listed, "a text or a list of texts"):
        if not _URL_PART.fullmatch(text(item, base)):
            raise MisfitError("expected printable ASCII without blanks", at)
        found.append(item)
    return tuple(dict.fromkeys(found))


def scope_names(value: object, _base: Path) -> tuple[str, ...]:
    """A list of scopes."""
    found = []
    for at, item in items(value, "a list of scopes"):
        if not _SCOPE.fullmatch(item):
            raise MisfitError(_SCOPE_FAULT, at)
        found.append(item)
    return tuple(dict.fromkeys(found))


_SCOPE_FAULT: Final = "expected a scope: printable ASCII without blanks, quotes and backslashes"


def scope_grants(value: object, base: Path) -> dict[str, ScopeGrant]:
    """Scope → table of toolsets and plugins."""
    from .model import ScopeGrant

    if not isinstance(value, dict):
        raise wrong("a table of scopes", value)
    found = {}
    for key, item in value.items():
        at = f"[{key!r}]"
        if not isinstance(key, str) or not _SCOPE.fullmatch(key):
            raise MisfitError(_SCOPE_FAULT, at)
        if not isinstance(item, dict):
            raise MisfitError(f"expected a table but found {kind_of(item)}", at)
        found[key] = ScopeGrant(**members(item, at, _GRANT_RULES, base))
    return found


def _names(value: object, _base: Path) -> tuple[str, ...]:
    found = []
    for at, item in items(value, "a list of names"):
        if not _NAME.fullmatch(item):
            raise MisfitError(f"expected a name, or * for all, but found {item!r}", at)
        found.append(item)
    return tuple(dict.fromkeys(found))


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
