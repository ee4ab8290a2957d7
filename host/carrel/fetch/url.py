"""A URL is parsed here, once, into the `Target` that everything later uses.

The grammar is the common part of RFC 3986 and WHATWG: where parsers are known to disagree (user
info, backslashes, raw tabs, percent signs or non-ASCII in the host, short IPv4 forms, empty or
zero-padded ports) the URL is refused rather than read in one of the ways.

Not handled on purpose: internationalised names (write the `xn--` form), schemes other than https.
A port other than 443 is read only where the caller's policy decides on ports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Longest URL that is looked at; servers refuse less.
MAX_URL = 16_384

#: The port of https.
HTTPS_PORT = 443

_FORBIDDEN = re.compile(r"[^\x21-\x7e]|\\")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
#: A port in its only spelling: without leading zeros.
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_AUTHORITY_END = re.compile(r"[/?#]")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# WHATWG reads a host whose last label is a number, in any base, as an IPv4 address.
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.DOTALL)
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """A checked https URL in its parts, without fragment.

    Attributes:
        host: lower case, without trailing dot.
        path: starts with a slash, dot segments resolved, percent-encoding as given.
        query: what follows the question mark as given; None when there is none.
        port: 443, unless a policy lists another one.
    """

    host: str
    path: str
    query: str | None = None
    port: int = HTTPS_PORT

    @property
    def authority(self) -> str:
        """The host, with the port unless it is 443."""
        return self.host if self.port == HTTPS_PORT else f"{self.host}:{self.port}"

    @property
    def resource(self) -> str:
        """Path and query, as they go onto the wire."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    @property
    def url(self) -> str:
        """The normalised URL."""
        return f"https://{self.authority}{self.resource}"


@dataclass(frozen=True, slots=True)
class UrlFault:
    """Why a URL is refused.

    Attributes:
        reason: a denial reason of `contract/v1/errors.json`.
        message: for a person; says nothing that the URL could have smuggled in.
    """

    reason: str
    message: str


def parse_url(text: str, *, upgrade: bool = False, any_port: bool = False) -> Target | UrlFault:
    """Reads an absolute https URL, or says why it is refused.

    Args:
        text: the URL.
        upgrade: read an http URL of port 80 as the https URL of the same host.
        any_port: read an https URL of another port; the policy decides on it.
    """
    fault = _check_characters(text)
    if fault:
        return fault
    scheme = _SCHEME.match(text)
    if scheme is None:
        return UrlFault("malformed_url", "the URL has no scheme")
    plain = upgrade and scheme[1].lower() == "http"
    if scheme[1].lower() != "https" and not plain:
        return UrlFault("insecure_scheme", "only https URLs are fetched")
    rest = text[scheme.end() :]
    if not rest.startswith("//"):
        return UrlFault("malformed_url", "the URL has no // after its scheme")
    end = _AUTHORITY_END.search(rest, 2)
    authority = rest[2 : end.start()] if end else rest[2:]
    read = _parse_authority(authority, "80" if plain else "443", any_port=any_port and not plain)
    if isinstance(read, UrlFault):
        return read
    host, port = read
    path, query = _split_resource(rest[end.start() :] if end else "")
    return Target(host, path, query, HTTPS_PORT if plain else port)


def resolve_redirect(base: Target, location: str, *, any_port: bool = False) -> Target | UrlFault:
    """Reads a `Location` as seen from `base`: absolute, or relative in one of RFC 3986's forms.

    Args:
        base: the URL that redirects.
        location: the header.
        any_port: as of `parse_url`.
    """
    fault = _check_characters(location)
    if fault:
        return fault
    if _SCHEME.match(location):
        return parse_url(location, any_port=any_port)
    if location.startswith("//"):
        return parse_url(f"https:{location}", any_port=any_port)
    if location.startswith("#"):
        return base
    if location.startswith("?"):
        return Target(base.host, base.path, location[1:].partition("#")[0], base.port)
    if not location.startswith("/"):
        location = base.path.rpartition("/")[0] + "/" + location
    path, query = _split_resource(location)
    return Target(base.host, path, query, base.port)


def normalise_host(name: str) -> str | UrlFault:
    """A DNS name in the one spelling that is compared, or why it is not one."""
    host = name.lower().removesuffix(".")
    if not host or len(host) > 253:
        return UrlFault("malformed_url", "the host is empty or longer than 253 characters")
    if _NUMERIC.fullmatch(host):
        return UrlFault("ip_literal", "the host is an IP address; only names are fetched")
    if not _HOST.fullmatch(host):
        return UrlFault(
            "malformed_url",
            "the host is not a DNS name of letters, digits and hyphens in labels of at most 63",
        )
    return host


def _check_characters(text: str) -> UrlFault | None:
    if not text:
        return UrlFault("malformed_url", "the URL is empty")
    if len(text) > MAX_URL:
        return UrlFault("malformed_url", f"the URL is longer than {MAX_URL} characters")
    bad = _FORBIDDEN.search(text)
    if bad:
        what = {"\\": "a backslash", " ": "a space"}.get(bad[0])
        what = what or ("a control character" if bad[0] < "\x80" else "a non-ASCII character")
        return UrlFault("malformed_url", f"the URL has {what} at offset {bad.start()}")
    return None


def _parse_authority(
    authority: str, default_port: str, *, any_port: bool
) -> tuple[str, int] | UrlFault:
    if "@" in authority:
        return UrlFault("userinfo_in_url", "the URL carries a user name or password")
    if authority.startswith("["):
        import ipaddress

        try:
            ipaddress.IPv6Address(authority[1:].partition("]")[0].partition("%")[0])
        except ValueError:
            return UrlFault("malformed_url", "the URL has brackets round something not an address")
        return UrlFault("ip_literal", "the host is an IP address; only names are fetched")
    name, colon, port = authority.partition(":")
    host = normalise_host(name)
    if isinstance(host, UrlFault):
        return host
    if colon and port != default_port:
        if any_port and _PORT.fullmatch(port) and int(port) < 2**16:
            return host, int(port)
        if port.isascii() and port.isdigit():
            return UrlFault("port_not_allowed", f"the URL names a port other than {default_port}")
        return UrlFault("malformed_url", "the URL's port is not a number")
    return host, int(default_port)


def _split_resource(text: str) -> tuple[str, str | None]:
    text = text.partition("#")[0]
    path, mark, query = text.partition("?")
    if not path:
        path = "/"
    elif _DOT_SEGMENT.search(path):
        path = _remove_dot_segments(path)
    return path, query if mark else None


def _remove_dot_segments(path: str) -> str:
    output: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        plain = segment.lower().replace("%2e", ".")
        if plain == "..":
            if output:
                output.pop()
        elif plain != ".":
            output.append(segment)
    if segments[-1].lower().replace("%2e", ".") in {".", ".."}:
        output.append("")
    return "/" + "/".join(output)
