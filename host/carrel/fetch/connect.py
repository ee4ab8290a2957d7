"""Connections: a name is resolved once per hop, every answer checked, and the checked one used.

TLS is verified against the name, never the address, and cannot be switched off. A connection
belongs to one partition (see `Policy.partition`): what one plugin's requests leave on it can reach
no other plugin.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

from .address import check_answers
from .http1 import HTTPConnection
from .settings import FetchSettings
from .tls import client_context
from .tls_stream import TLSStream, open_stream

log = logging.getLogger("carrel.fetch")

T = TypeVar("T")

#: Idle connections kept per host, and in all for a plugin that is not built in.
_IDLE_PER_HOST = 8
_IDLE_PER_PLUGIN = 16

#: What one address of several gets before the next is tried.
_CONNECT_SHARE_SECONDS = 3.0

#: For a plugin that is not built in: TLS handshakes at once, each a millisecond of the loop, and
#: lookups under way, each a thread.
_HANDSHAKES = 2
_LOOKUPS = 16

#: Names whose special addresses were warned about; each is, once.
_MAX_WARNED = 256


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


class Connection:
    """An HTTP connection to a checked address.

    Attributes:
        partition: whose requests it may carry.
        host: the name that its certificate is for.
        address: the checked address.
        http: what speaks HTTP over it.
    """

    def __init__(self, partition: str, host: str, address: str, http: HTTPConnection) -> None:
        self.partition = partition
        self.host = host
        self.address = address
        self.http = http


class Connections:
    """Makes and keeps connections; lives on the event loop."""

    def __init__(
        self, settings: FetchSettings, resolver: Resolver | None, dialer: Dialer | None
    ) -> None:
        self._settings = settings
        self._resolver = resolver or system_resolver
        self._dialer = dialer or _straight
        self._context: ssl.SSLContext | None = None
        self._pools: dict[str, _IdlePool] = {}
        self._handshakes: dict[str, asyncio.Semaphore] = {}
        self._lookups: Counter[str] = Counter()
        self._lookup_tasks: set[asyncio.Future[Any]] = set()
        self._warned: set[tuple[str, str]] = set()

    async def resolve(self, host: str, partition: str) -> tuple[str, ...]:
        """The addresses of the name, all checked.

        Raises:
            OSError: the lookup failed for now, took too long, or too many others are under way.
            NoAddressError: there are none.
            PrivateAddressError: one of them is not public.
        """
        if partition and self._lookups[partition] >= _LOOKUPS:
            raise OSError("too many lookups are under way")
        # Counted until it ends, not until nobody waits: a lookup that hangs keeps its thread.
        lookup = asyncio.ensure_future(self._resolver(host))
        self._lookups[partition] += 1
        self._lookup_tasks.add(lookup)
        lookup.add_done_callback(lambda ended: self._looked_up(partition, ended))
        async with asyncio.timeout(self._settings.connect_seconds):
            answers = tuple(await asyncio.shield(lookup))
        if not answers:
            raise NoAddressError
        why = check_answers(answers)
        if why:
            self._warn(host, why, answers)
            raise PrivateAddressError(why)
        return answers

    def idle(self, partition: str, host: str, addresses: tuple[str, ...]) -> Connection | None:
        """A kept connection of the partition to one of the checked addresses, if there is one."""
        pool = self._pools.get(partition)
        return None if pool is None else pool.take(host, addresses)

    async def connect(self, partition: str, host: str, addresses: tuple[str, ...]) -> Connection:
        """A new connection to one of the checked addresses.

        Raises:
            NotConnectedError: none of them can be connected to, or proves that it is the host.
        """
        if self._context is None:
            self._context = client_context(self._settings.ca_bundle)
        if not partition:
            return await self._connect(self._context, partition, host, addresses)
        permits = self._handshakes.setdefault(partition, asyncio.Semaphore(_HANDSHAKES))
        async with permits:
            return await self._connect(self._context, partition, host, addresses)

    def give_back(self, connection: Connection) -> None:
        """Keeps a connection for the next request if nothing is left on it, else closes it."""
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
        """Closes what is idle, and ends lookups."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()
        for lookup in self._lookup_tasks:
            lookup.cancel()

    async def _connect(
        self, context: ssl.SSLContext, partition: str, host: str, addresses: tuple[str, ...]
    ) -> Connection:
        end = asyncio.get_running_loop().time() + self._settings.connect_seconds
        fault = NotConnectedError()
        for place, address in enumerate(addresses, start=1):
            left = end - asyncio.get_running_loop().time()
            share = left if place == len(addresses) else min(left, _CONNECT_SHARE_SECONDS)
            try:
                async with asyncio.timeout(share):
                    stream = await self._open(context, host, address)
            except TimeoutError:
                fault = NotConnectedError(silent=True)
            except ssl.SSLCertVerificationError:
                raise NotConnectedError(certificate=True) from None
            except OSError as refusal:
                log.debug("no connection to %s: %s", host, type(refusal).__name__)
                fault = NotConnectedError()
            else:
                http = HTTPConnection(stream, read_seconds=self._settings.read_seconds)
                return Connection(partition, host, address, http)
        raise fault

    async def _open(self, context: ssl.SSLContext, host: str, address: str) -> TLSStream:
        real_host, real_port = self._dialer(address, 443)
        return await open_stream(real_host, real_port, context=context, host=host)

    def _looked_up(self, partition: str, lookup: asyncio.Future[Any]) -> None:
        self._lookup_tasks.discard(lookup)
        self._lookups[partition] -= 1
        if not self._lookups[partition]:
            del self._lookups[partition]
        if not lookup.cancelled():
            lookup.exception()  # it was raised to whoever waited, if anybody did

    def _warn(self, host: str, why: str, answers: tuple[str, ...]) -> None:
        if (host, why) not in self._warned and len(self._warned) < _MAX_WARNED:
            self._warned.add((host, why))
            log.warning("%s resolves to a special address (%s): %s", host, why, answers[:8])


class _IdlePool:
    """The idle connections of one partition; the oldest go first.

    Args:
        seconds: for which one is kept.
        limit: how many are kept in all; None for no bound but that of each host.
    """

    def __init__(self, seconds: float, limit: int | None) -> None:
        self._seconds = seconds
        self._limit = limit
        self._timers: OrderedDict[Connection, asyncio.TimerHandle] = OrderedDict()

    def keep(self, connection: Connection) -> None:
        """Keeps one that is ready for another request, for a while."""
        timer = asyncio.get_running_loop().call_later(self._seconds, self._expire, connection)
        self._timers[connection] = timer
        same = [one for one in self._timers if one.host == connection.host]
        if len(same) > _IDLE_PER_HOST:
            self._expire(same[0])
        elif self._limit is not None and len(self._timers) > self._limit:
            self._expire(next(iter(self._timers)))

    def take(self, host: str, addresses: tuple[str, ...]) -> Connection | None:
        """The connection that was used last and on which nothing has come since."""
        for connection in reversed([one for one in self._timers if one.host == host]):
            self._timers.pop(connection).cancel()
            if connection.address in addresses and connection.http.is_quiet():
                return connection
            connection.http.close()
        return None

    def close(self) -> None:
        """Closes all."""
        for connection in list(self._timers):
            self._expire(connection)

    def _expire(self, connection: Connection) -> None:
        self._timers.pop(connection).cancel()
        connection.http.close()


def _straight(address: str, port: int) -> tuple[str, int]:
    return address, port
