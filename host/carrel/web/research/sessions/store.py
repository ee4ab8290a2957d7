"""Keeps research sessions for their principals, encrypted, four hours after their last use."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError
from carrel.web.artifacts.sealed_store import SealedStore
from carrel.web.artifacts.sealing import installation_sealer

from .session import ResearchSession

if TYPE_CHECKING:
    from carrel.config import Config

#: Seconds after its last use that a session is kept.
IDLE_SECONDS: Final = 4 * 3600.0
#: Sessions of one principal; the one that was used longest ago is removed for a new one.
MAX_SESSIONS: Final = 50
#: Bytes of all sessions; those that expire first are removed for new ones.
_STORE_BYTES: Final = 256 * 2**20
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class SessionNotFoundError(CarrelError):
    """There is no such session of this principal, or it has expired."""

    code = "not_found"

    def __init__(self) -> None:
        super().__init__(
            "Session not found or expired. Sessions last 4 hours from last activity.",
        )

    def details(self) -> dict[str, Any]:
        """Adds the kind of the failure."""
        return {"kind": "session_not_found"}


class SessionStore:
    """The sessions of the principals. Thread-safe.

    Args:
        values: keeps them for `IDLE_SECONDS`.
        clock: returns seconds since 1970.
    """

    def __init__(self, values: SealedStore, clock: Callable[[], float] = time.time) -> None:
        self._values = values
        self._clock = clock

    def now(self) -> str:
        """Returns the time in RFC 3339, in whole seconds."""
        timestamp = datetime.fromtimestamp(self._clock(), tz=UTC).isoformat(timespec="seconds")
        return timestamp.replace("+00:00", "Z")

    def create(self, goal: str) -> ResearchSession:
        """Returns a new session, which is kept from now on.

        Raises:
            CarrelError: the store cannot be used.
        """
        self._make_room()
        session = ResearchSession(str(uuid.uuid4()), goal, self.now(), self._clock())
        self._values.put(session.id, _encoded(session))
        return session

    def get(self, id_: str) -> ResearchSession:
        """Returns a session, and renews its life.

        Raises:
            SessionNotFoundError: there is none.
            CarrelError: the store cannot be used.
        """
        return self.change(id_, lambda _session: None)

    def change(self, id_: str, change: Callable[[ResearchSession], None]) -> ResearchSession:
        """Changes a session atomically, and returns it. Raises as `get`.

        Args:
            id_: of the session.
            change: changes the session in place; may be called again with another one.
        """
        if not _ID.fullmatch(id_):
            raise SessionNotFoundError
        changed: list[ResearchSession] = []

        def exchange(raw: bytes | None) -> bytes | None:
            changed.clear()
            if raw is None:
                return None
            session = ResearchSession.from_json(json.loads(raw))
            change(session)
            session.used = self._clock()
            changed.append(session)
            return _encoded(session)

        self._values.change(id_, exchange)
        if not changed:
            raise SessionNotFoundError
        return changed[0]

    def close(self) -> None:
        """Closes the store."""
        self._values.close()

    def _make_room(self) -> None:
        """Removes the sessions that were used longest ago, so that one more fits."""
        ids = self._values.ids()
        if len(ids) < MAX_SESSIONS:
            return
        used = []
        for id_ in ids:
            raw = self._values.get(id_)
            used.append((0.0 if raw is None else float(json.loads(raw)["used"]), id_))
        for _, id_ in sorted(used)[: len(used) - MAX_SESSIONS + 1]:
            self._values.remove(id_)


def open_sessions(config: Config) -> SessionStore:
    """Returns the sessions of a configuration; the store is opened when it is first used."""
    from carrel.state import StoreLimits, open_store

    limits = StoreLimits(max_bytes=_STORE_BYTES, evict=True)
    return SessionStore(
        SealedStore(
            lambda: open_store(config, "research", limits),
            lambda: installation_sealer(config),
            seconds=IDLE_SECONDS,
        )
    )


def _encoded(session: ResearchSession) -> bytes:
    return json.dumps(session.to_json(), ensure_ascii=False).encode("utf-8", "replace")
