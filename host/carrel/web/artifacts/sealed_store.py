"""Keeps encrypted values of principals in a key-value store.

A value's key contains the principal, so one principal cannot read a value of another, even by its
id. The principal's own name is hashed: it may be an address or a subject of an identity provider.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.principal import Principal, current_principal

if TYPE_CHECKING:
    from carrel.state import KeyValueStore

    from .sealing import Sealer

log = logging.getLogger(__name__)


class SealedStore:
    """Values of principals by id. Thread-safe.

    Args:
        open_store: opens the store; called once, when it is first needed.
        open_sealer: returns what encrypts the values; likewise.
        seconds: after which a value that is not used is removed.
    """

    def __init__(
        self,
        open_store: Callable[[], KeyValueStore],
        open_sealer: Callable[[], Sealer],
        *,
        seconds: float,
    ) -> None:
        self._open_store = open_store
        self._open_sealer = open_sealer
        self._lock = threading.Lock()
        self._opened: tuple[KeyValueStore, Sealer] | None = None
        self._has_warned = False
        self.seconds = seconds

    def get(self, id_: str) -> bytes | None:
        """Returns a value of the current principal; None if there is none.

        Raises:
            CarrelError: the store cannot be used.
        """
        store, sealer = self._both()
        name = _name(id_)
        sealed = store.get(name)
        return None if sealed is None else self._unsealed(sealer, sealed, name)

    def put(self, id_: str, value: bytes) -> None:
        """Adds or replaces a value of the current principal. Raises as `get`."""
        store, sealer = self._both()
        name = _name(id_)
        store.put(name, sealer.seal(value, name), seconds=self.seconds)

    def change(self, id_: str, change: Callable[[bytes | None], bytes | None]) -> None:
        """Changes a value atomically, and renews its life. Raises as `get`.

        Args:
            id_: of the value.
            change: returns the new value from the old one, None to remove it; may be called again.
        """
        store, sealer = self._both()
        name = _name(id_)

        def exchange(sealed: bytes | None) -> bytes | None:
            value = None if sealed is None else self._unsealed(sealer, sealed, name)
            if value is None and sealed is not None:
                # Sealed with another key: not found here, and left for a server with that key.
                change(None)
                return sealed
            changed = change(value)
            return None if changed is None else sealer.seal(changed, name)

        store.update(name, exchange, seconds=self.seconds)

    def remove(self, id_: str) -> None:
        """Removes a value, if it is there. Raises as `get`."""
        self._both()[0].delete(_name(id_))

    def ids(self) -> list[str]:
        """Returns the ids of the current principal's values. Raises as `get`."""
        prefix = _name("")
        return [key.removeprefix(prefix) for key in self._both()[0].keys(prefix)]

    def close(self) -> None:
        """Closes the store."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    def _unsealed(self, sealer: Sealer, sealed: bytes, name: str) -> bytes | None:
        """Returns a value; None if it was sealed with another key, which the log says once."""
        value = sealer.open(sealed, name)
        if value is None and not self._has_warned:
            self._has_warned = True
            log.warning(
                "a kept value was sealed with another key, so it is not found; "
                "servers that share a store need the same web.key_file"
            )
        return value

    def _both(self) -> tuple[KeyValueStore, Sealer]:
        with self._lock:
            if self._opened is None:
                sealer = self._open_sealer()
                self._opened = self._open_store(), sealer
            return self._opened


def owner_of(principal: Principal) -> str:
    """Returns the name under which a principal's values are kept."""
    return hashlib.sha256(principal.name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _name(id_: str) -> str:
    return f"{owner_of(current_principal())}/{id_}"
