"""Downloads one small document from a URL of the operator, such as the keys of an issuer.

A request passes the same checks as one to a registry: one grammar for URLs, every resolved address
checked before connecting, TLS verified against the name, limits on time and size. Redirects are not
followed. Unlike requests of plugins, it is neither cached nor paced: the caller decides how often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .registries.client import Network, RegistryHttp, RegistryIoError
from .registries.url import RegistryUrl, Site, parse_location
from .url import UrlFault

_BASE = RegistryUrl(Site("https", "invalid", 443), "/")


class SmallDocumentError(Exception):
    """A document could not be downloaded; the message names the host and quotes no response."""


@dataclass(frozen=True, slots=True)
class SmallDocumentFetcher:
    """Downloads documents.

    Attributes:
        connect_seconds: for connecting, TLS handshake included.
        total_seconds: for one request with its response.
        max_bytes: of the largest document.
        ca_bundle: a PEM file of authorities trusted besides the system's.
        plain_http: whether `http` URLs are accepted.
        private: whether a host may be on an address that is not public.
        network: resolves and connects; tests redirect it.
    """

    connect_seconds: float = 5.0
    total_seconds: float = 10.0
    max_bytes: int = 256 * 1024
    ca_bundle: Path | None = None
    plain_http: bool = False
    private: bool = False
    network: Network | None = None

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> bytes:
        """Returns the document at a URL.

        Raises:
            SmallDocumentError: the URL is refused, or there is no document.
        """
        target = self._target(url)
        http = RegistryHttp(
            connect_seconds=self.connect_seconds,
            read_seconds=self.connect_seconds,
            total_seconds=self.total_seconds,
            ca_bundle=self.ca_bundle,
            may_be_private=lambda _site: self.private,
            network=self.network,
        )
        host = target.site.authority
        try:
            with http.send("GET", target, {"Accept": "application/json", **(headers or {})}) as got:
                if got.status != 200:
                    raise SmallDocumentError(f"{host} answered with status {got.status}")
                parts, size = [], 0
                for chunk in got.chunks():
                    size += len(chunk)
                    if size > self.max_bytes:
                        raise SmallDocumentError(f"{host} sent more than {self.max_bytes:,} bytes")
                    parts.append(chunk)
        except RegistryIoError as error:
            raise SmallDocumentError(error.message) from error
        finally:
            http.close()
        return b"".join(parts)

    def _target(self, url: str) -> RegistryUrl:
        if "://" not in url:
            raise SmallDocumentError("the URL has no scheme")
        found = parse_location(_BASE, url)
        if isinstance(found, UrlFault):
            raise SmallDocumentError(found.message)
        if found.site.scheme == "http" and not self.plain_http:
            raise SmallDocumentError("the URL's scheme is not https")
        return found
