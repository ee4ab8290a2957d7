"""Defines the interface of a key-value store, and the limits of one namespace."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

#: Bytes of the longest key, in UTF-8.
MAX_KEY_BYTES: Final = 1024

#: Attempts of `update` before it gives up; in each round one of the competing processes succeeds.
UPDATE_ATTEMPTS: Final = 1000

_NAMESPACE: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")

#: What `KeyValueStore.update` calls: the present value → the new one. None is no value.
Change = Callable[[bytes | None], bytes | None]


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """Limits of one namespace.

    Attributes:
        max_entries: entries at once.
        max_bytes: bytes of all keys and values.
        max_value_bytes: bytes of one value.
        evict: whether a full namespace evicts the entries that expire first; in Redis, those of the
            owner that has the most bytes, if keys are like `OWNER/NAME`. Otherwise it refuses new
            ones, and no entry is lost before it expires.
    """

    max_entries: int = 10_000
    max_bytes: int = 64 * 2**20
    max_value_bytes: int = 8 * 2**20
    evict: bool = False


class KeyValueStore(Protocol):
    """Entries of one namespace. Thread-safe, and shared by all processes with the same store.

    Methods wait for a file or a server, ordinarily for less than a millisecond: an event loop calls
    them in a thread.

    Every method raises `carrel.errors.StateError` if the store cannot be used, if it is full, or if
    a value is too large. A method that raises has changed nothing, unless a server's response
    was lost: then the outcome is unknown.
    """

    def get(self, key: str) -> bytes | None:
        """Returns the value; None when there is none or it has expired."""
        ...

    def put(self, key: str, value: bytes, *, seconds: float | None = None) -> None:
        """Stores a value in place of any other of the key.

        Args:
            key: at most 1,024 bytes in UTF-8.
            value: what `get` returns.
            seconds: until it expires; None keeps it until it is deleted.
        """
        ...

    def delete(self, key: str) -> bool:
        """Deletes an entry; returns whether there was one."""
        ...

    def update(self, key: str, change: Change, *, seconds: float | None = None) -> bytes | None:
        """Replaces a value by `change(value)` atomically, and returns the new one.

        Args:
            key: as in `put`.
            change: called with None if there is no value; returns None to delete the entry. It may
                be called several times, because another process may change the value meanwhile.
            seconds: until the new value expires.
        """
        ...

    def increment(self, key: str, amount: int, *, limit: int, seconds: float) -> int | None:
        """Adds to a counter atomically.

        Args:
            key: as in `put`.
            amount: to add; a negative one gives back. A counter is never below 0.
            limit: the highest count.
            seconds: from the first increment until the counter expires.

        Returns:
            The new count; None if it would exceed the limit, and then nothing changes.
        """
        ...

    def clock(self) -> float | None:
        """Returns seconds since 1970 by a clock that all its processes share; None if it has none,
        because they are on one machine.
        """
        ...

    def keys(self, prefix: str) -> list[str]:
        """Returns the keys with this prefix, sorted."""
        ...

    def close(self) -> None:
        """Closes the store; other methods then raise `StateError`."""
        ...


def check_namespace(namespace: str) -> str:
    """Returns the namespace.

    Raises:
        ValueError: it is no name of lower-case letters, digits, `_` and `-`.
    """
    if not _NAMESPACE.fullmatch(namespace):
        raise ValueError(f"expected lower-case letters, digits, _ and - but found {namespace!r}")
    return namespace


def encode_key(key: str) -> bytes:
    """Returns the key's bytes.

    Raises:
        ValueError: it is too long.
    """
    data = key.encode("utf-8", "surrogatepass")
    if len(data) > MAX_KEY_BYTES:
        raise ValueError(f"a key of {len(data):,} bytes; at most {MAX_KEY_BYTES:,} are allowed")
    return data


def decode_key(data: bytes) -> str:
    """Returns the key that `encode_key` encoded."""
    return data.decode("utf-8", "surrogatepass")


def parse_count(value: bytes) -> int | None:
    """Returns the count that a counter's value says; None for another value."""
    return int(value) if value.isdigit() and len(value) < 20 else None
