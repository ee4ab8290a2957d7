"""Limits the records that wasmtime-py converts for one call of a host function.

wasmtime-py converts all arguments before it calls a host function, at 0.1 ms a record, and a guest
may pass a list of a million requests. So `RecordType.convert_from_c` is replaced by a function that
counts, and refuses a record too many before it is converted. wasmtime-py then frees the list, as
after any failed conversion. Threads that run no guest of Carrel's are not affected.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import wasmtime
from wasmtime.component import RecordType

#: Requests and headers that a guest may pass in one call of `fetch` or `fetch-all`.
MAX_RECORDS = 10_000


class _Count(threading.local):
    """The count of the guest that runs in a thread.

    Attributes:
        exceeded: is called with a number of records beyond `MAX_RECORDS`; None without a guest.
        records: converted since the guest called a host function.
    """

    exceeded: Callable[[int], object] | None = None
    records: int = 0


_count = _Count()
_convert = RecordType.convert_from_c


def _counting(self: RecordType, value: Any) -> Any:
    if _count.exceeded is not None:
        _count.records += 1
        if _count.records > MAX_RECORDS:
            _count.exceeded(_count.records)
            # wasmtime's own words for a list that it refuses.
            raise wasmtime.WasmtimeError("too much data is being copied between guest and host")
    return _convert(self, value)


RecordType.convert_from_c = _counting  # type: ignore[method-assign, assignment]


@contextmanager
def counted(exceeded: Callable[[int], object]) -> Iterator[None]:
    """Limits what a guest passes to host functions while it runs in this thread.

    Args:
        exceeded: is called with the number of records before a record too many is refused.
    """
    before = _count.exceeded
    _count.exceeded, _count.records = exceeded, 0
    try:
        yield
    finally:
        _count.exceeded = before


def take_count() -> int:
    """Returns the number of records of a host function's call, and starts with the next call."""
    records, _count.records = _count.records, 0
    return records
