"""A server of the operator's own that a plugin asks, such as a self-hosted search engine.

The manifest declares the host `endpoint.invalid`, a name that never resolves (RFC 6761). The
operator says where it is (`runtime_config.endpoint`); requests go there, and the plugin does not
learn the address. It is the only way to a plain http server, to another port, and to an address
that is not public; the last needs the word `private` besides.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from carrel.fetch.url import UrlFault, normalise_host

#: The host that a manifest declares for the operator's server.
ENDPOINT: Final = "endpoint.invalid"

#: Special ranges that `private` allows: those of machines that an operator may run. Metadata
#: services of clouds, link-local addresses and the others stay refused.
_PRIVATE: Final = frozenset({"loopback", "private", "carrier-grade NAT", "unique local"})
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a server of the operator's own.

    Attributes:
        scheme: `https`, or `http` for a private address.
        host: a DNS name, or an IP address without brackets.
        port: of the server.
        prefix: path that precedes the path of each request; without slash at the end.
        private: whether it may be on an address that is not public.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""
    private: bool = False

    @property
    def authority(self) -> str:
        """The value of the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = 443 if self.scheme == "https" else 80
        return host if self.port == default else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The address as a URL."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    @property
    def is_address(self) -> bool:
        """Whether the host is an IP address, which is not looked up."""
        return _is_address(self.host)

    def refusal(self, answers: Sequence[str]) -> str | None:
        """Returns why the addresses of the host are refused; None if they are allowed.

        Every address counts: a retry could use any of them.
        """
        from carrel.fetch.resolve import special_range  # it imports asyncio

        for answer in answers:
            why = special_range(answer)
            if why is None and self.scheme == "http":
                return "public, which needs https"
            if why is not None and not (self.private and why in _PRIVATE):
                return why
        return None


def parse_endpoint(url: str, *, private: bool = False) -> Endpoint:
    """Reads where the operator's server is.

    Args:
        url: https; or http, if `private`. It may name a port and a path.
        private: whether it may be on an address that is not public.

    Raises:
        ValueError: what is wrong, for a person.
    """
    text = url.strip()
    if not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        raise ValueError("expected a URL of ASCII characters, such as http://127.0.0.1:8080")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as fault:
        raise ValueError(f"expected a URL such as http://127.0.0.1:8080: {fault}") from None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ValueError("expected a URL with http or https, such as http://127.0.0.1:8080")
    if "@" in parts.netloc:
        raise ValueError("the URL carries a user name or password; leave it out")
    if parts.query or parts.fragment:
        raise ValueError("expected a URL without query and fragment")
    if port == 0:
        raise ValueError("0 is no port")
    if parts.scheme == "http" and not private:
        raise ValueError(
            "http is allowed for a private address only; use https, or write "
            f'{{ url = "{text}", private = true }}'
        )
    prefix = parts.path.rstrip("/")
    if not _PREFIX.fullmatch(prefix) or {".", ".."} & set(prefix.split("/")):
        raise ValueError("expected a path of letters, digits, dots, hyphens and underscores")
    endpoint = Endpoint(
        parts.scheme,
        _host(parts.hostname or ""),
        port or (443 if parts.scheme == "https" else 80),
        prefix,
        private,
    )
    if endpoint.is_address and (why := endpoint.refusal([endpoint.host])) is not None:
        hint = "; private = true allows it" if why in _PRIVATE else ""
        raise ValueError(f"the address {endpoint.host} is refused: {why}{hint}")
    return endpoint


def _host(host: str) -> str:
    if _is_address(host):
        return str(ipaddress.ip_address(host))
    name = normalise_host(host)
    if isinstance(name, UrlFault):
        raise ValueError(name.message)  # noqa: TRY004 -- the value is wrong, not its type
    return name


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
