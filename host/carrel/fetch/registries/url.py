"""URLs of registries, and untrusted ones from their responses.

Unlike a plugin's URLs they may have a port, an address, and http: the caller decides for each site
whether that is allowed. The grammar is as narrow as that of `url`.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from carrel.fetch.url import _AUTHORITY_END, _SCHEME, UrlFault, _check_characters, _split_resource
from carrel.fetch.url import normalise_host as _normalise_name

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Site:
    """Scheme, host and port: the scope of a credential.

    Attributes:
        host: a DNS name in lower case, or an address without brackets.
    """

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port as in a URL, without the scheme's default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_address(self) -> bool:
        """Whether the host is an address, not a name."""
        return ":" in self.host or self.host[-1].isdigit()


@dataclass(frozen=True, slots=True)
class RegistryUrl:
    """A checked URL, without fragment.

    Attributes:
        resource: path and query, as they go onto the wire.
    """

    site: Site
    resource: str

    def __str__(self) -> str:
        return f"{self.site.scheme}://{self.site.authority}{self.resource}"


def parse_site(scheme: str, authority: str) -> Site | UrlFault:
    """Parses `host[:port]` of a reference or URL."""
    name, colon, port = authority, "", ""
    if authority.startswith("["):
        name, _, rest = authority[1:].partition("]")
        colon, port = rest[:1], rest[1:]
        if rest and colon != ":":
            return UrlFault("malformed_url", "the URL has something behind its address")
    else:
        name, colon, port = authority.partition(":")
    host = _parse_host(name, bracketed=authority.startswith("["))
    if isinstance(host, UrlFault):
        return host
    number = _PORTS[scheme]
    if colon:
        if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 65_536):
            return UrlFault("malformed_url", "the URL's port is not a number from 1 to 65535")
        number = int(port)
    return Site(scheme, host, number)


def parse_location(base: RegistryUrl, text: str) -> RegistryUrl | UrlFault:
    """Parses a `Location`, `Link` or realm relative to `base`: absolute, or an absolute path.

    A relative path is accepted too; user names, backslashes and odd spellings of addresses are
    refused.
    """
    fault = _check_characters(text)
    if fault:
        return fault
    scheme = _SCHEME.match(text)
    if scheme is None and not text.startswith("//"):
        if not text.startswith("/"):
            head = base.resource.partition("?")[0]
            text = head + text if text.startswith("?") else head.rpartition("/")[0] + "/" + text
        return RegistryUrl(base.site, _resource(text))
    kind = scheme[1].lower() if scheme else base.site.scheme
    if kind not in _PORTS:
        return UrlFault("insecure_scheme", "the URL's scheme is not https")
    rest = text[scheme.end() :] if scheme else text
    if not rest.startswith("//"):
        return UrlFault("malformed_url", "the URL has no // after its scheme")
    end = _AUTHORITY_END.search(rest, 2)
    authority = rest[2 : end.start()] if end else rest[2:]
    if "@" in authority:
        return UrlFault("userinfo_in_url", "the URL carries a user name or password")
    site = parse_site(kind, authority)
    if isinstance(site, UrlFault):
        return site
    return RegistryUrl(site, _resource(rest[end.start() :] if end else ""))


def _resource(text: str) -> str:
    path, query = _split_resource(text)
    return path if query is None else f"{path}?{query}"


def _parse_host(name: str, *, bracketed: bool) -> str | UrlFault:
    try:
        if bracketed:
            return str(ipaddress.IPv6Address(name))
        return str(ipaddress.IPv4Address(name))
    except ValueError:
        if bracketed:
            return UrlFault("malformed_url", "the URL has brackets round something not an address")
    return _normalise_name(name)
