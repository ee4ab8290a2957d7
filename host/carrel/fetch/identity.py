"""The User-Agent and the secrets of requests: attached last, and redacted in responses.

Every hop decides by its own host what to attach. Attached values are removed from everything that
returns before any other code sees it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus, unquote_plus

from carrel.exchange import Headers

from .policy.hosts import matches, parse_host_entry
from .url import Target

#: Replaces a secret in a text.
REDACTED = "[redacted]"

#: The secret with the operator's contact address; the hosts that it is declared for also get it in
#: the User-Agent.
CONTACT = "contact"

#: Not confidential: the name and version by which an upstream knows this software. The User-Agent
#: has it too, and it is not redacted.
SOFTWARE = "software"

#: Shorter values are not redacted: they would match everywhere.
_SHORTEST_REDACTED = 4

_HOST_OWNED = frozenset(
    str.split("""
    accept-encoding connection content-encoding content-length cookie expect host keep-alive
    proxy-authorization te trailer transfer-encoding upgrade
""")
)

# Not for guests: cookies and credentials, and headers that describe the transfer, not the text.
_HIDDEN_HEADERS = frozenset(
    str.split("""
    authorization connection content-encoding content-length keep-alive proxy-authenticate
    proxy-authorization proxy-connection set-cookie set-cookie2 te trailer transfer-encoding
    upgrade www-authenticate authentication-info
""")
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the host attaches to requests; exactly one of `query` and `header` is set.

    Attributes:
        name: as the manifest declares it; `contact` is the operator's address.
        value: what is attached. Never part of the repr.
        hosts: host entries it may go to.
        query: the query parameter that carries it.
        header: the header that carries it.
        scheme: the word in front of the value in the header, such as `Bearer`.

    Raises:
        ValueError: the declaration is contradictory, or the value cannot be part of a request.
    """

    name: str
    value: str = field(repr=False)
    hosts: tuple[str, ...]
    query: str | None = None
    header: str | None = None
    scheme: str | None = None

    def __post_init__(self) -> None:
        if (self.query is None) == (self.header is None):
            raise ValueError(f"secret {self.name}: exactly one of query and header")
        if self.scheme is not None and self.header is None:
            raise ValueError(f"secret {self.name}: a scheme belongs to a header")
        if self.scheme is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,31}", self.scheme):
            raise ValueError(f"secret {self.name}: {self.scheme!r} is not a scheme such as Bearer")
        header = (self.header or "").lower()
        if header in _HOST_OWNED or (header == "user-agent" and self.name != CONTACT):
            raise ValueError(f"secret {self.name}: the header {self.header} belongs to the host")
        if not re.fullmatch(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", self.value):
            raise ValueError(f"secret {self.name}: the value is empty or not printable ASCII")
        if self.name == SOFTWARE and " " in self.value:
            raise ValueError(f"secret {self.name}: the name of the software has a blank in it")
        for host in self.hosts:
            parse_host_entry(host)

    @property
    def header_value(self) -> str:
        """The header's value: the scheme, a space, the secret.

        A secret that begins with the scheme, as some sources issue their keys, is not changed.
        """
        if self.scheme is None or self.value.lower().startswith(f"{self.scheme.lower()} "):
            return self.value
        return f"{self.scheme} {self.value}"

    def goes_to(self, host: str) -> bool:
        """Whether the secret is declared for the host."""
        return any(matches(entry, host) for entry in self.hosts)


@dataclass(frozen=True, slots=True)
class Attachment:
    """The headers and secrets that the host adds to one hop.

    Attributes:
        resource: path and query with secrets; for the wire only.
        headers: User-Agent and secret headers.
        secrets: those that were attached.
    """

    resource: str = field(repr=False)
    headers: Headers = field(repr=False)
    secrets: tuple[Secret, ...]


def without_secret_parameters(target: Target, secrets: Sequence[Secret]) -> Target:
    """Removes the parameters that the host itself sets from a URL.

    They may be a guest's own value, or an echo of the host's in a redirect.
    """
    if not target.query or not secrets:
        return target
    owned = {secret.query for secret in secrets if secret.query and secret.goes_to(target.host)}
    values = {
        secret.value
        for secret in secrets
        if len(secret.value) >= _SHORTEST_REDACTED and secret.name != SOFTWARE
    }
    parts = target.query.split("&")
    remaining = []
    for part in parts:
        name, _, value = part.partition("=")
        if unquote_plus(name) not in owned and unquote_plus(value) not in values:
            remaining.append(part)
    if len(remaining) == len(parts):
        return target
    return Target(target.host, target.path, "&".join(remaining) or None, target.port)


def attach(target: Target, secrets: Sequence[Secret], homepage: str | None) -> Attachment:
    """Decides what to attach for this host, and puts it where the manifest declares."""
    used = tuple(secret for secret in secrets if secret.goes_to(target.host))
    contact = next((secret.value for secret in used if secret.name == CONTACT), None)
    headers = [("User-Agent", user_agent(homepage, contact))]
    query = [] if target.query is None else [target.query]
    for secret in used:
        if secret.query is not None:
            query.append(f"{quote(secret.query, safe='')}={quote(secret.value, safe='')}")
        elif secret.header is not None and secret.header.lower() != "user-agent":
            headers.append((secret.header, secret.header_value))
    joined = "&".join(part for part in query if part)
    has_query = bool(joined) or target.query is not None
    resource = f"{target.path}?{joined}" if has_query else target.path
    return Attachment(resource, tuple(headers), used)


def user_agent(homepage: str | None, contact: str | None) -> str:
    """Returns `carrel/VERSION (+homepage; mailto:contact)`, with the parts that are known."""
    notes = [f"+{homepage}"] if homepage else []
    if contact:
        notes.append(f"mailto:{contact}")
    return software() + (f" ({'; '.join(notes)})" if notes else "")


@functools.cache
def software() -> str:
    """Returns `carrel/VERSION`."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"carrel/{version('carrel')}"
    except PackageNotFoundError:
        return "carrel/0"


class Redactor:
    """Removes attached values from responses, in the spellings that an echo may have."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        spellings: set[str] = set()
        for secret in secrets:
            if secret.name == SOFTWARE:
                continue
            # "Bearer x" may come back as x alone.
            for value in {secret.value, secret.header_value, secret.value.rpartition(" ")[2]}:
                if len(value) >= _SHORTEST_REDACTED:
                    spellings |= _spellings(value)
        # Longest first, so that no spelling is cut by one it contains.
        self._spellings = sorted(spellings, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Replaces every known spelling in a text."""
        for spelling in self._spellings:
            if spelling in text:
                text = text.replace(spelling, REDACTED)
        return text

    def stream(self) -> RedactedStream:
        """Returns a redactor for a text that comes in pieces."""
        return RedactedStream(self)

    @property
    def longest(self) -> int:
        """Characters of the longest spelling; 0 when there is none."""
        return len(self._spellings[0]) if self._spellings else 0

    def finds(self, text: str) -> bool:
        """Whether a text contains a secret."""
        return any(spelling in text for spelling in self._spellings)

    def headers(self, headers: Iterable[tuple[str, str]]) -> Headers:
        """Headers for a guest: lower-case names, without credentials and transfer details."""
        return tuple(
            (name, self.text(value))
            for name, value in ((name.lower(), value) for name, value in headers)
            if name not in _HIDDEN_HEADERS
        )


class RedactedStream:
    """Redacts a text piece by piece, including a secret that two pieces share."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        # Characters that may be the beginning of a spelling are held back for the next piece.
        self._kept = max(0, redactor.longest - 1)
        self._rest = ""

    def feed(self, piece: str) -> str:
        """Takes the next piece; returns text that is free of secrets."""
        if not self._kept:
            return piece
        text = self._redactor.text(self._rest + piece)
        self._rest = text[-self._kept :]
        return text[: -self._kept]

    def finish(self) -> str:
        """Returns the rest of the text."""
        return self._rest


def _spellings(value: str) -> set[str]:
    import base64
    import html
    import json

    percent = {quote(value, safe=""), quote(value), quote_plus(value), quote(value, safe="@:/")}
    lower = {re.sub(r"%[0-9A-F]{2}", lambda m: m[0].lower(), text) for text in percent}
    quoted = json.dumps(value)[1:-1]
    escaped = {html.escape(value), html.escape(value, quote=False)}
    encoded = base64.b64encode(value.encode()).decode()
    return {value, quoted, quoted.replace("/", "\\/"), encoded} | percent | lower | escaped
