"""Sends one request to a registry, or to where it redirects: resolve, check, connect, send, read.

`carrel.oci` decides what to request, where credentials go and which redirects to follow. This
module checks every address before connecting, verifies TLS against the name, and limits every wait.

Not handled on purpose: proxies, HTTP/2, cookies.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpcore2

from carrel.fetch.connect import Dialer, dial_directly
from carrel.fetch.resolve import check_answers
from carrel.fetch.tls import client_context

from .connection import RegistryConnection
from .url import RegistryUrl, Site

#: Bytes of a body that are handed to the socket at once.
_PIECE = 2**20


class RegistryIoError(Exception):
    """A request without a usable response.

    Attributes:
        message: for a person; names the host, quotes nothing of the response.
        retryable: whether the same request may soon succeed.
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        self.message = message
        self.retryable = retryable
        super().__init__(message)


Lookup = Callable[[str], Sequence[str]]


def system_lookup(host: str) -> Sequence[str]:
    """Returns all addresses of a name, as the system resolves it; empty when there are none."""
    try:
        found = socket.getaddrinfo(
            host.encode(), 443, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    except socket.gaierror as fault:
        if fault.errno in {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None)}:
            return []
        raise
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class Network:
    """Resolves names and chooses where to connect; tests redirect it to servers of their own."""

    lookup: Lookup = system_lookup
    dial: Dialer = dial_directly


@dataclass(slots=True)
class RegistryResponse:
    """A response whose body is not read yet.

    Attributes:
        headers: names in lower case; several of one name are joined with commas.
    """

    status: int
    headers: Mapping[str, str]
    _response: httpcore2.Response
    _host: str

    def chunks(self) -> Iterator[bytes]:
        """Yields the body.

        Raises:
            RegistryIoError: it broke off, or took too long.
        """
        with _explained(self._host):
            yield from self._response.iter_stream()


class RegistryHttp:
    """Sends requests; keeps one connection per site. Not thread-safe.

    Args:
        connect_seconds: for connecting, TLS handshake included.
        read_seconds: for which the other side may be silent.
        total_seconds: for one request with its response.
        ca_bundle: a PEM file of authorities trusted besides the system's.
        may_be_private: whether a site may be on an address that is not public.
    """

    def __init__(
        self,
        *,
        connect_seconds: float,
        read_seconds: float,
        total_seconds: float,
        ca_bundle: Path | None,
        may_be_private: Callable[[Site], bool],
        network: Network | None = None,
    ) -> None:
        self._connect_seconds = connect_seconds
        self._read_seconds = read_seconds
        self._total_seconds = total_seconds
        self._ca_bundle = ca_bundle
        self._may_be_private = may_be_private
        self._network = network or Network()
        self._context: ssl.SSLContext | None = None
        self._kept: dict[Site, RegistryConnection] = {}

    @contextmanager
    def send(
        self,
        method: str,
        url: RegistryUrl,
        headers: Mapping[str, str],
        body: bytes = b"",
        on_sent: Callable[[int], None] | None = None,
    ) -> Iterator[RegistryResponse]:
        """Sends one request and returns its response; redirects are not followed.

        Args:
            method: HTTP's.
            url: of the request.
            headers: besides Host, Content-Length and Accept-Encoding.
            body: to send.
            on_sent: called with the number of body bytes sent so far.

        Raises:
            RegistryIoError: there is no response.
        """
        host = url.site.authority
        connection = self._kept.pop(url.site, None)
        request = self._request(method, url, headers, body, on_sent)
        with _explained(host):
            response = None
            if connection is not None and connection.usable:
                response = _ask_again(connection, request)
            elif connection is not None:
                connection.close()
            if response is None or connection is None:
                connection = self._connect(url.site)
                try:
                    response = connection.ask(request)
                except BaseException:
                    connection.close()
                    raise
        try:
            yield RegistryResponse(response.status, _headers(response), response, host)
        finally:
            response.close()
            if connection.usable:
                self._kept[url.site] = connection
            else:
                connection.close()

    def close(self) -> None:
        """Closes idle connections."""
        for connection in self._kept.values():
            connection.close()
        self._kept.clear()

    def _connect(self, site: Site) -> RegistryConnection:
        addresses = self._addresses(site)
        if self._context is None and site.scheme == "https":
            try:
                self._context = client_context(self._ca_bundle)
            except (OSError, ssl.SSLError) as fault:
                raise RegistryIoError(
                    f"the certificate authorities in {self._ca_bundle} cannot be read"
                ) from fault
        return RegistryConnection(
            site, addresses, self._context, self._network.dial, self._total_seconds
        )

    def _addresses(self, site: Site) -> tuple[str, ...]:
        private = self._may_be_private(site)
        if site.is_address:
            answers: Sequence[str] = (site.host,)
        else:
            # Absolute, so that no search domain is tried; but a private network may resolve the
            # name only with one.
            name = site.host if private else f"{site.host}."
            answers = _in_time(lambda: self._network.lookup(name), self._connect_seconds, site.host)
        if not answers:
            raise RegistryIoError(f"{site.host} has no address; check the network and the name")
        why = None if private else check_answers(answers)
        if why:
            raise RegistryIoError(
                f"{site.authority} is on an address that is not public ({why}); a registry may be "
                "there only if its entry says so"
            )
        return tuple(answers)

    def _request(
        self,
        method: str,
        url: RegistryUrl,
        headers: Mapping[str, str],
        body: bytes,
        on_sent: Callable[[int], None] | None,
    ) -> httpcore2.Request:
        sent = {"Host": url.site.authority, "Accept-Encoding": "identity", **headers}
        if body or method in {"POST", "PUT", "PATCH"}:
            sent["Content-Length"] = str(len(body))
        return httpcore2.Request(
            method,
            httpcore2.URL(
                scheme=url.site.scheme.encode(),
                host=url.site.host.encode(),
                port=url.site.port,
                target=url.resource.encode(),
            ),
            headers=[(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
            content=_Pieces(body, on_sent) if body else None,
            extensions={
                "timeout": {
                    "connect": self._connect_seconds,
                    "read": self._read_seconds,
                    "write": self._read_seconds,
                    "pool": self._connect_seconds,
                }
            },
        )


class _Pieces:
    """A body in pieces, from the start each time it is sent."""

    def __init__(self, body: bytes, on_sent: Callable[[int], None] | None) -> None:
        self._body = body
        self._on_sent = on_sent

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self._body), _PIECE):
            yield self._body[at : at + _PIECE]
            if self._on_sent is not None:
                self._on_sent(min(at + _PIECE, len(self._body)))


def _ask_again(
    connection: RegistryConnection, request: httpcore2.Request
) -> httpcore2.Response | None:
    """Returns the response over an idle connection; None if the other side had closed it."""
    try:
        return connection.ask(request)
    except (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise


def _in_time(work: Callable[[], Sequence[str]], seconds: float, host: str) -> Sequence[str]:
    """Runs a lookup that may hang, in a daemon thread that does not delay the process's end."""
    found: list[Sequence[str]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except Exception as fault:  # noqa: BLE001 -- raised below
            failed.append(fault)

    thread = threading.Thread(target=run, name="carrel-lookup", daemon=True)
    thread.start()
    thread.join(seconds)
    if found:
        return found[0]
    raise RegistryIoError(
        f"the name {host} cannot be looked up; check the network", retryable=True
    ) from (failed[0] if failed else None)


def _headers(response: httpcore2.Response) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


@contextmanager
def _explained(host: str) -> Iterator[None]:
    """Translates the HTTP library's errors: their texts may quote the other side."""
    try:
        yield
    except httpcore2.TimeoutException as fault:
        raise RegistryIoError(f"{host} did not answer in time", retryable=True) from fault
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as fault:
        raise _explain(host, fault) from fault


def _explain(host: str, fault: BaseException) -> RegistryIoError:
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return RegistryIoError(
                f"the certificate of {host} is not trusted for that name; an authority of your own "
                "can be added as the registry's ca_bundle"
            )
        if isinstance(cause, ssl.SSLError):
            return RegistryIoError(
                f"{host} does not speak TLS as it has to; a registry that speaks http only has to "
                "be named as one: --plain-http, or plain_http in its entry"
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(fault, httpcore2.ConnectError):
        return RegistryIoError(f"no connection to {host} could be made", retryable=True)
    if isinstance(fault, httpcore2.ProtocolError):
        return RegistryIoError(f"{host} cut its answer short or broke HTTP's rules", retryable=True)
    return RegistryIoError(f"the connection to {host} was lost", retryable=True)
