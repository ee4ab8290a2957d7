"""What one call may fetch, charged by every fetcher that answers it."""

from __future__ import annotations

from carrel.errors import LimitExceeded
from carrel.exchange import Call


def charge_requests(call: Call, count: int) -> bool:
    """Counts requests; False, with `call.fatal` set, when the call may not make them."""
    call.fetches += count
    if call.fetches > call.limits.fetches:
        _end(call, "fetches", call.limits.fetches)
        return False
    return True


def charge_bytes(call: Call, size: int) -> bool:
    """Counts a response; False, with `call.fatal` set, when the call has fetched too much."""
    call.fetched_bytes += size
    if call.fetched_bytes > call.limits.fetched_bytes:
        _end(call, "fetched_bytes", call.limits.fetched_bytes)
        return False
    return True


def _end(call: Call, limit: str, allowed: int) -> None:
    if call.fatal is None:
        call.fatal = LimitExceeded(limit, allowed, plugin=call.plugin, tool=call.tool)
