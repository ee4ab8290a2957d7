"""Keeps large results under the hash of their text."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from .sealed_store import SealedStore
from .sealing import installation_sealer

if TYPE_CHECKING:
    from carrel.config import Config

#: Seconds that a result can be read.
LIFE_SECONDS: Final = 30 * 60.0
#: Bytes of all results, and of the largest that is kept; the oldest are removed for new ones.
_STORE_BYTES: Final = 256 * 2**20
_LARGEST: Final = 16 * 2**20
_ID: Final = re.compile(r"[0-9a-f]{64}")


class ArtifactStore:
    """Large results of the principals. Thread-safe.

    Args:
        values: keeps them for `LIFE_SECONDS`.
    """

    def __init__(self, values: SealedStore) -> None:
        self._values = values

    def put(self, body: bytes) -> tuple[str, str]:
        """Keeps a text, and returns its id and when it is removed.

        The same text has the same id; keeping it again renews its life.

        Raises:
            CarrelError: the store cannot be used.
        """
        id_ = hashlib.sha256(body).hexdigest()
        self._values.put(id_, body)
        until = datetime.now(tz=UTC) + timedelta(seconds=self._values.seconds)
        return id_, until.isoformat(timespec="seconds").replace("+00:00", "Z")

    def get(self, id_: str) -> bytes | None:
        """Returns a text that the current principal has kept; None if there is none.

        Raises:
            CarrelError: the store cannot be used.
        """
        return self._values.get(id_) if _ID.fullmatch(id_) else None

    def close(self) -> None:
        """Closes the store."""
        self._values.close()


def open_artifacts(config: Config) -> ArtifactStore:
    """Returns the store of a configuration; opened when it is first used."""
    from carrel.state import StoreLimits, open_store

    limits = StoreLimits(max_bytes=_STORE_BYTES, max_value_bytes=_LARGEST, evict=True)
    return ArtifactStore(
        SealedStore(
            lambda: open_store(config, "artifacts", limits),
            lambda: installation_sealer(config),
            seconds=LIFE_SECONDS,
        )
    )
