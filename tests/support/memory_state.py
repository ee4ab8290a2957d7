"""A key-value store in memory, in the place of `carrel.state`'s."""

from __future__ import annotations

import threading
from collections.abc import Callable


class MemoryStore:
    """Keeps entries until a clock that tests set has passed their end."""

    def __init__(self) -> None:
        self.now = 0.0
        self.entries: dict[str, tuple[bytes, float | None]] = {}
        self._lock = threading.RLock()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            value, end = self.entries.get(key, (None, None))
            if end is not None and end <= self.now:
                del self.entries[key]
                return None
            return value

    def put(self, key: str, value: bytes, *, seconds: float | None = None) -> None:
        with self._lock:
            self.entries[key] = value, None if seconds is None else self.now + seconds

    def delete(self, key: str) -> bool:
        with self._lock:
            return self.entries.pop(key, None) is not None

    def update(
        self,
        key: str,
        change: Callable[[bytes | None], bytes | None],
        *,
        seconds: float | None = None,
    ) -> bytes | None:
        with self._lock:
            changed = change(self.get(key))
            if changed is None:
                self.entries.pop(key, None)
            else:
                self.put(key, changed, seconds=seconds)
            return changed

    def increment(self, key: str, amount: int, *, limit: int, seconds: float) -> int | None:
        with self._lock:
            count = int(self.get(key) or b"0") + amount
            if count > limit:
                return None
            self.put(key, str(count).encode(), seconds=seconds)
            return count

    def clock(self) -> float | None:
        return None

    def keys(self, prefix: str) -> list[str]:
        with self._lock:
            return sorted(
                key for key in list(self.entries) if key.startswith(prefix) and self.get(key)
            )

    def close(self) -> None:
        pass
