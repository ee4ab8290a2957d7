"""One HTTP/1.1 connection to a registry, pinned to addresses that were checked, with a deadline."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore2

from carrel.fetch.connect import Dialer

from .url import Site

#: Seconds for which an idle connection stays open.
_KEEP_SECONDS = 30.0


class RegistryConnection:
    """One connection, made for its first request.

    Args:
        site: whose it is; TLS is verified against its name.
        addresses: checked; tried in turn.
        context: for https.
        dial: where to connect for an address.
        total_seconds: for one request with its response.
    """

    def __init__(
        self,
        site: Site,
        addresses: tuple[str, ...],
        context: ssl.SSLContext | None,
        dial: Dialer,
        total_seconds: float,
    ) -> None:
        self._total = total_seconds
        self._deadline = _Deadline()
        self._http = httpcore2.HTTPConnection(
            origin=httpcore2.Origin(site.scheme.encode(), site.host.encode(), site.port),
            ssl_context=context,
            keepalive_expiry=_KEEP_SECONDS,
            network_backend=_PinnedBackend(addresses, dial, self._deadline),
        )

    @property
    def usable(self) -> bool:
        """Whether another request can go over it."""
        return self._http.is_available() and not self._http.has_expired()

    def ask(self, request: httpcore2.Request) -> httpcore2.Response:
        """Sends a request; raises httpcore's exceptions."""
        self._deadline.at = time.monotonic() + self._total
        return self._http.handle_request(request)

    def close(self) -> None:
        """Closes it; never raises."""
        try:
            self._http.close()
        except Exception:  # noqa: BLE001, S110 -- it is discarded either way
            pass


class _Deadline:
    """The deadline of the current request, also for a peer that sends a byte at a time."""

    at = float("inf")

    def cut(self, timeout: float | None) -> float:
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout
        return left if timeout is None else min(timeout, left)


class _PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the checked addresses, whatever name httpcore passes."""

    def __init__(self, addresses: tuple[str, ...], dial: Dialer, deadline: _Deadline) -> None:
        self._addresses = addresses
        self._dial = dial
        self._deadline = deadline
        self._inner = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 -- httpcore's signature; the address is already known
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        for address in self._addresses:
            try:
                real_host, real_port = self._dial(address, port)
                stream = self._inner.connect_tcp(
                    real_host, real_port, self._deadline.cut(timeout), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if address == self._addresses[-1]:
                    raise
                continue
            return _TimedStream(stream, self._deadline)
        raise httpcore2.ConnectError  # pragma: no cover -- there is always an address


class _TimedStream(httpcore2.NetworkStream):
    """A stream whose waits end at the request's deadline."""

    def __init__(self, inner: httpcore2.NetworkStream, deadline: _Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.cut(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.cut(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, self._deadline.cut(timeout))
        return _TimedStream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
