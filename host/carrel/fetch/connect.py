"""Makes and keeps TLS connections to checked addresses.

A name is resolved once per hop, and every address checked. TLS is verified against the name, never
the address, and cannot be switched off. A connection belongs to one partition (see
`Policy.partition`): what one plugin's requests leave on it can reach no other plugin.

Nothing is read in the background: bytes that arrive while no request is under way stay in the
socket until `TLSStream.unread` looks for them, so a connection with leftovers is never reused.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from .http1 import HTTPConnection
from .policy.endpoint import Endpoint
from .resolve import Resolver, check_answers, system_resolver
from .settings import FetchSettings
from .stream import PlainStream, TLSStream, connected_socket, open_stream
from .tls import client_context
from .url import HTTPS_PORT

log = logging.getLogger("carrel.fetch")

T = TypeVar("T")

#: Idle connections per host, and in all for a plugin that is not built in.
_IDLE_PER_HOST = 8
_IDLE_PER_PLUGIN = 16

#: Seconds for one address of several before the next is tried.
_CONNECT_SHARE_SECONDS = 3.0

#: For a plugin that is not built in: TLS handshakes at once, each a millisecond of the loop, and
#: lookups under way, each a thread.
_HANDSHAKES = 2
_LOOKUPS = 16

#: The most names whose special addresses are warned about, once each.
_MAX_WARNED = 256


#: Where to connect for a checked address and port: there, except in tests, which run a server of
#: their own on loopback.
Dialer = Callable[[str, int], tuple[str, int]]


class PrivateAddressError(Exception):
    """A name has a special address among its answers. `why` names the range."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class NoAddressError(Exception):
    """A name has no address."""


class NotConnectedError(Exception):
    """No connection could be made; nothing was sent.

    Attributes:
        certificate: whether the certificate was refused.
        silent: whether no address answered in time.
    """

    def __init__(self, *, certificate: bool = False, silent: bool = False) -> None:
        self.certificate = certificate
        self.silent = silent
        super().__init__()


class Connection:
    """An HTTP connection to a checked address.

    Attributes:
        partition: the only one whose requests it carries.
        host: the name that its certificate is for.
        address: the checked address.
        http: speaks HTTP over it.
        port: of the address.
    """

    def __init__(
        self,
        partition: str,
        host: str,
        address: str,
        http: HTTPConnection,
        port: int = HTTPS_PORT,
    ) -> None:
        self.partition = partition
        self.host = host
        self.address = address
        self.http = http
        self.port = port


class Connections:
    """Makes and pools connections; used on the event loop only."""

    def __init__(
        self, settings: FetchSettings, resolver: Resolver | None, dialer: Dialer | None
    ) -> None:
        self._settings = settings
        self._resolver = resolver or system_resolver
        self._dialer = dialer or dial_directly
        self._context: ssl.SSLContext | None = None
        self._pools: dict[str, _IdlePool] = {}
        self._handshakes: dict[str, asyncio.Semaphore] = {}
        self._lookups: Counter[str] = Counter()
        self._lookup_tasks: set[asyncio.Future[Any]] = set()
        self._warned: set[tuple[str, str]] = set()

    async def resolve(
        self, host: str, partition: str, endpoint: Endpoint | None = None
    ) -> tuple[str, ...]:
        """Returns the addresses of the name, all checked.

        Args:
            host: the name.
            partition: of the request.
            endpoint: in place of the name, a server of the operator's own, which may be on other
                addresses.

        Raises:
            OSError: the lookup failed or timed out, or too many others are running.
            NoAddressError: there are none.
            PrivateAddressError: one of them is not public.
        """
        if endpoint is not None:
            host = endpoint.host
            if endpoint.is_address:
                return self._checked(host, (host,), endpoint)
        if partition and self._lookups[partition] >= _LOOKUPS:
            raise OSError("too many lookups are under way")
        # Counted until it ends, not until its caller stops waiting: it occupies a thread.
        lookup = asyncio.ensure_future(self._resolver(host))
        self._lookups[partition] += 1
        self._lookup_tasks.add(lookup)
        lookup.add_done_callback(lambda ended: self._looked_up(partition, ended))
        async with asyncio.timeout(self._settings.connect_seconds):
            answers = tuple(await asyncio.shield(lookup))
        if not answers:
            raise NoAddressError
        return self._checked(host, answers, endpoint)

    def _checked(
        self, host: str, answers: tuple[str, ...], endpoint: Endpoint | None
    ) -> tuple[str, ...]:
        """Returns addresses if all are allowed."""
        why = check_answers(answers) if endpoint is None else endpoint.refusal(answers)
        if why:
            self._warn(host, why, answers)
            raise PrivateAddressError(why)
        return answers

    def idle(
        self, partition: str, host: str, addresses: tuple[str, ...], port: int = HTTPS_PORT
    ) -> Connection | None:
        """Returns an idle connection of the partition to one of the checked addresses, if any."""
        pool = self._pools.get(partition)
        return None if pool is None else pool.take(host, addresses, port)

    async def connect(
        self,
        partition: str,
        host: str,
        addresses: tuple[str, ...],
        port: int = HTTPS_PORT,
        endpoint: Endpoint | None = None,
    ) -> Connection:
        """Makes a new connection to one of the checked addresses; arguments as of `resolve`.

        Raises:
            NotConnectedError: no address accepted, or proved to be the host.
        """
        if self._context is None:
            self._context = client_context(self._settings.ca_bundle)
        if not partition:
            return await self._connect(
                self._context, partition, host, addresses, port, endpoint=endpoint
            )
        permits = self._handshakes.setdefault(partition, asyncio.Semaphore(_HANDSHAKES))
        async with permits:
            return await self._connect(
                self._context, partition, host, addresses, port, endpoint=endpoint
            )

    def give_back(self, connection: Connection) -> None:
        """Returns a connection to the pool if no bytes are left on it, otherwise closes it."""
        if not connection.http.finish():
            connection.http.close()
            return
        partition = connection.partition
        pool = self._pools.get(partition)
        if pool is None:
            limit = _IDLE_PER_PLUGIN if partition else None
            pool = self._pools[partition] = _IdlePool(self._settings.keepalive_seconds, limit)
        pool.keep(connection)

    def close(self) -> None:
        """Closes idle connections and cancels lookups."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()
        for lookup in self._lookup_tasks:
            lookup.cancel()

    async def _connect(
        self,
        context: ssl.SSLContext,
        partition: str,
        host: str,
        addresses: tuple[str, ...],
        port: int,
        *,
        endpoint: Endpoint | None,
    ) -> Connection:
        end = asyncio.get_running_loop().time() + self._settings.connect_seconds
        fault = NotConnectedError()
        for number, address in enumerate(addresses, start=1):
            left = end - asyncio.get_running_loop().time()
            share = left if number == len(addresses) else min(left, _CONNECT_SHARE_SECONDS)
            try:
                async with asyncio.timeout(share):
                    stream = await self._open(context, host, address, port, endpoint)
            except TimeoutError:
                fault = NotConnectedError(silent=True)
            except ssl.SSLCertVerificationError:
                raise NotConnectedError(certificate=True) from None
            except OSError as refusal:
                log.debug("no connection to %s: %s", host, type(refusal).__name__)
                fault = NotConnectedError()
            else:
                http = HTTPConnection(stream, read_seconds=self._settings.read_seconds)
                return Connection(partition, host, address, http, port)
        raise fault

    async def _open(
        self,
        context: ssl.SSLContext,
        host: str,
        address: str,
        port: int,
        endpoint: Endpoint | None,
    ) -> TLSStream | PlainStream:
        if endpoint is None:
            real_host, real_port = self._dialer(address, port)
            return await open_stream(real_host, real_port, context=context, host=host)
        real_host, real_port = self._dialer(address, endpoint.port)
        if endpoint.scheme == "http":
            return PlainStream(await connected_socket(real_host, real_port))
        return await open_stream(real_host, real_port, context=context, host=endpoint.host)

    def _looked_up(self, partition: str, lookup: asyncio.Future[Any]) -> None:
        self._lookup_tasks.discard(lookup)
        self._lookups[partition] -= 1
        if not self._lookups[partition]:
            del self._lookups[partition]
        if not lookup.cancelled():
            lookup.exception()  # retrieved, so that asyncio does not log it

    def _warn(self, host: str, why: str, answers: tuple[str, ...]) -> None:
        if (host, why) not in self._warned and len(self._warned) < _MAX_WARNED:
            self._warned.add((host, why))
            log.warning("%s resolves to a special address (%s): %s", host, why, answers[:8])


class _IdlePool:
    """The idle connections of one partition; the oldest are closed first.

    Args:
        seconds: for which a connection stays open.
        limit: of connections in all; None for no limit but that of each host.
    """

    def __init__(self, seconds: float, limit: int | None) -> None:
        self._seconds = seconds
        self._limit = limit
        self._timers: OrderedDict[Connection, asyncio.TimerHandle] = OrderedDict()

    def keep(self, connection: Connection) -> None:
        """Adds a connection that is ready for another request."""
        timer = asyncio.get_running_loop().call_later(self._seconds, self._expire, connection)
        self._timers[connection] = timer
        origin = connection.host, connection.port
        same = [idle for idle in self._timers if (idle.host, idle.port) == origin]
        if len(same) > _IDLE_PER_HOST:
            self._expire(same[0])
        elif self._limit is not None and len(self._timers) > self._limit:
            self._expire(next(iter(self._timers)))

    def take(
        self, host: str, addresses: tuple[str, ...], port: int = HTTPS_PORT
    ) -> Connection | None:
        """Returns the last used connection that has received nothing since."""
        fitting = [idle for idle in self._timers if (idle.host, idle.port) == (host, port)]
        for connection in reversed(fitting):
            self._timers.pop(connection).cancel()
            if connection.address in addresses and connection.http.is_quiet():
                return connection
            connection.http.close()
        return None

    def close(self) -> None:
        """Closes all connections."""
        for connection in list(self._timers):
            self._expire(connection)

    def _expire(self, connection: Connection) -> None:
        self._timers.pop(connection).cancel()
        connection.http.close()


def dial_directly(address: str, port: int) -> tuple[str, int]:
    """The `Dialer` outside tests."""
    return address, port
