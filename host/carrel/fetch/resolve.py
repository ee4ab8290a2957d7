"""Resolves names, and refuses addresses that are not public.

The table of addresses is our own. Python's `ipaddress.is_global` changes between versions and
calls, among others, NAT64-wrapped loopback, IPv4-compatible addresses, site-local, multicast and
Azure's wire server global. IPv4 is denied by list (the IANA special-purpose registry and known
metadata services); IPv6 is denied by default: only 2000::/3 is public, minus its special ranges.

Not handled: a NAT64 prefix that a network chose for itself looks like any other.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, cast

T = TypeVar("T")

IPv4 = ipaddress.IPv4Address
IPv6 = ipaddress.IPv6Address

_SPECIAL_V4 = [
    (ipaddress.IPv4Network(network), why)
    for network, why in [
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "AS112"),
        ("192.52.193.0/24", "AMT relay"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "AS112"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    ]
]

_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")

# Ranges that embed an IPv4 address are refused whole: no scholarly service is published under one.
_SPECIAL_V6 = [
    (ipaddress.IPv6Network(network), why)
    for network, why in [
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "IPv4-mapped"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("::/96", "IPv4-compatible"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "NAT64"),
        ("100::/64", "discard"),
        ("2001::/32", "Teredo"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("2620:4f:8000::/48", "AS112"),
        ("3ffe::/16", "6bone"),
        ("3fff::/20", "documentation"),
        ("5f00::/16", "segment routing"),
        ("fc00::/7", "unique local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    ]
]

# The interface identifiers of ISATAP (RFC 5214), followed by an IPv4 address.
_ISATAP = {0x0000_5EFE, 0x0200_5EFE}


def special_range(answer: str) -> str | None:
    """Returns why a resolver's `answer` is refused; None for a public address."""
    try:
        address = ipaddress.ip_address(answer)
    except ValueError:
        return "not an address"
    if isinstance(address, IPv4):
        return _first_match(address, _SPECIAL_V4)
    if address.scope_id is not None:
        return "scoped"
    why = _first_match(address, _SPECIAL_V6)
    if why:
        return why
    if address not in _PUBLIC_V6:
        return "not globally routed"
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return "ISATAP"
    return None


def check_answers(answers: Sequence[str]) -> str | None:
    """Returns why a name with these answers is refused; None when every one is public.

    One special answer among public ones refuses the name: a retry could use it.
    """
    if not answers:
        return "no address"
    for answer in answers:
        why = special_range(answer)
        if why:
            return why
    return None


def _first_match(
    address: IPv4 | IPv6,
    table: Sequence[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str]],
) -> str | None:
    return next((why for network, why in table if address in network), None)


class Resolver(Protocol):
    """Resolves a name to addresses."""

    async def __call__(self, host: str) -> Sequence[str]:
        """Returns all addresses of the name, preferred first; empty when it has none.

        Raises:
            OSError: the name could not be looked up now.
        """
        ...


async def system_resolver(host: str) -> Sequence[str]:
    """Asks the system. The name is made absolute, so that no search domain is tried."""
    try:
        found = await _in_daemon_thread(
            # As bytes, which Python passes unchanged; a str would be encoded by its IDNA codec.
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
    """Runs blocking work that may hang, without delaying the end of the process.

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
        except Exception as raised:  # noqa: BLE001 -- raised in the awaiting task
            fault = raised
        try:
            loop.call_soon_threadsafe(finish, result, fault)
        except RuntimeError:
            pass  # the loop is closed

    threading.Thread(target=run, name="carrel-lookup", daemon=True).start()
    return future
