"""Connections: a name is resolved once per hop, every answer checked, and the checked one used.

TLS is verified against the name, never the address, and cannot be switched off.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar, cast

import httpcore2
from httpcore2 import AsyncHTTPConnection, AsyncNetworkBackend, AsyncNetworkStream

from .address import check_answers
from .settings import FetchSettings

log = logging.getLogger("carrel.fetch")

# At DEBUG it writes what goes over the wire, and there go the secrets.
logging.getLogger("httpcore2").setLevel(logging.WARNING)

T = TypeVar("T")

#: Idle connections kept per host.
_IDLE_PER_HOST = 8

#: What one address of several gets before the next is tried.
_CONNECT_SHARE_SECONDS = 3.0


class Resolver(Protocol):
    """Turns a name into addresses."""

    async def __call__(self, host: str) -> Sequence[str]:
        """All addresses of the name, preferred first; empty when it has none.

        Raises:
            OSError: the name could not be looked up now.
        """
        ...


#: Where the socket for a checked address and port really goes: itself, but for tests that run a
#: server of their own on loopback.
Dialer = Callable[[str, int], tuple[str, int]]


class PrivateAddressError(Exception):
    """A name has a special address among its answers. `why` names the range."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class NoAddressError(Exception):
    """A name has no address."""


async def system_resolver(host: str) -> Sequence[str]:
    """Asks the system. The name is made absolute, so that no search domain is tried."""
    try:
        found = await _in_daemon_thread(
            # As bytes, which Python hands on as they are; a str would pass its IDNA codec.
            lambda: socket.getaddrinfo(
                f"{host}.".encode(), 443, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
            )
        )
    except socket.gaierror as fault:
        if fault.errno in {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None)}:
            return []
        raise
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _in_daemon_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Runs blocking work that may hang, without ever holding up the end of the process.

    An executor's threads are joined at exit; a lookup can take half a minute.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(result: T | None, fault: Exception | None) -> None:
        if future.done():
            return
        if fault is None:
            future.set_result(cast("T", result))
        else:
            future.set_exception(fault)

    def run() -> None:
        result, fault = None, None
        try:
            result = work()
        except Exception as raised:  # noqa: BLE001 -- it is raised where it is waited for
            fault = raised
        try:
            loop.call_soon_threadsafe(finish, result, fault)
        except RuntimeError:
            pass  # the loop has closed meanwhile

    threading.Thread(target=run, name="carrel-lookup", daemon=True).start()
    return future


class Connections:
    """Makes and keeps connections; lives on the event loop."""

    def __init__(
        self, settings: FetchSettings, resolver: Resolver | None, dialer: Dialer | None
    ) -> None:
        self._settings = settings
        self._resolver = resolver or system_resolver
        self._dialer = dialer or _straight
        self._context: ssl.SSLContext | None = None
        self._idle: dict[str, list[_Connection]] = {}

    async def resolve(self, host: str) -> tuple[str, ...]:
        """The addresses of the name, all checked.

        Raises:
            OSError: the lookup failed for now, or took too long.
            NoAddressError: there are none.
            PrivateAddressError: one of them is not public.
        """
        async with asyncio.timeout(self._settings.connect_seconds):
            answers = tuple(await self._resolver(host))
        if not answers:
            raise NoAddressError
        why = check_answers(answers)
        if why:
            log.warning("%s resolves to a special address (%s): %s", host, why, answers[:8])
            raise PrivateAddressError(why)
        return answers

    def take(self, host: str, addresses: tuple[str, ...], *, fresh: bool = False) -> _Connection:
        """A connection to one of the checked addresses; an idle one where there is one."""
        idle = self._idle.get(host, [])
        while idle and not fresh:
            connection = idle.pop()
            if connection.usable and connection.address in addresses:
                return connection
            connection.abandon()
        if self._context is None:
            self._context = _make_context(self._settings)
        return _Connection(host, addresses, self._context, self._settings, self._dialer)

    async def give_back(self, connection: _Connection) -> None:
        """Keeps a connection for the next request, or closes it."""
        idle = self._idle.setdefault(connection.host, [])
        if connection.usable and len(idle) < _IDLE_PER_HOST:
            connection.used = True
            idle.append(connection)
        else:
            await connection.aclose()

    async def aclose(self) -> None:
        """Closes what is idle."""
        for idle in self._idle.values():
            for connection in idle:
                await connection.aclose()
        self._idle.clear()


class _Connection:
    """One HTTP/1.1 connection, pinned to the checked addresses of its host."""

    def __init__(
        self,
        host: str,
        addresses: tuple[str, ...],
        context: ssl.SSLContext,
        settings: FetchSettings,
        dialer: Dialer,
    ) -> None:
        self.host = host
        self.used = False
        self._backend = _PinnedBackend(addresses, dialer)
        self._http = AsyncHTTPConnection(
            origin=httpcore2.Origin(b"https", host.encode(), 443),
            ssl_context=context,
            keepalive_expiry=settings.keepalive_seconds,
            network_backend=self._backend,
        )

    @property
    def address(self) -> str | None:
        """The address it is connected to."""
        return self._backend.connected

    @property
    def usable(self) -> bool:
        """Whether another request can go over it."""
        return self._http.is_available() and not self._http.has_expired()

    async def send(self, request: httpcore2.Request) -> httpcore2.Response:
        """Sends the request, connecting first where needed; httpcore's exceptions come through."""
        return await self._http.handle_async_request(request)

    def abandon(self) -> None:
        """Closes it without waiting."""
        task = asyncio.ensure_future(self.aclose())
        _closing.add(task)
        task.add_done_callback(_closing.discard)

    async def aclose(self) -> None:
        """Closes it; never raises."""
        try:
            await self._http.aclose()
        except Exception as fault:  # noqa: BLE001 -- it is thrown away, however it goes
            log.debug("closing a connection to %s failed: %s", self.host, type(fault).__name__)


# Tasks are only weakly held by the loop.
_closing: set[Any] = set()


class _PinnedBackend(AsyncNetworkBackend):
    """Connects to addresses that were checked, whatever name it is told."""

    def __init__(self, addresses: tuple[str, ...], dialer: Dialer) -> None:
        self._addresses = addresses
        self._dialer = dialer
        self._inner = httpcore2.AnyIOBackend()
        self.connected: str | None = None

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 -- httpcore's signature; the address is already known
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        for address in self._addresses:
            last = address == self._addresses[-1]
            share = timeout if last or timeout is None else min(timeout, _CONNECT_SHARE_SECONDS)
            real_host, real_port = self._dialer(address, port)
            try:
                stream = await self._inner.connect_tcp(
                    real_host, real_port, share, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if last:
                    raise
                continue
            self.connected = address
            return stream
        raise httpcore2.ConnectError  # pragma: no cover -- there is always an address

    async def connect_unix_socket(self, *_args: Any, **_kwargs: Any) -> AsyncNetworkStream:
        raise httpcore2.ConnectError

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


def _straight(address: str, port: int) -> tuple[str, int]:
    return address, port


def _make_context(settings: FetchSettings) -> ssl.SSLContext:
    context = httpcore2.default_ssl_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.ca_bundle is not None:
        context.load_verify_locations(cafile=settings.ca_bundle)
    return context
