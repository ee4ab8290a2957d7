"""A cache of responses on disk, read on the calling thread in tens of microseconds.

The built-in plugins share one file; each other plugin has its own, so no plugin can read or evict
another's entries. A key is computed from the guest's request, never from what the host attached, so
it contains no secret. An entry whose response came over redirects has their URLs: it is a hit only
for a plugin whose policy allows each of them.

Bodies are stored uncompressed: for the 30 KB of a typical feed, decompressing would cost more than
the rest of the lookup, and the size is capped anyway.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from carrel.exchange import CacheHit, Headers, Response, Verdict

from .clock import Clock
from .database import Database

if TYPE_CHECKING:
    import sqlite3

#: Part of every key: raised when the meaning of the stored data changes.
_VERSION = b"1"

_SCHEMA = """
DROP TABLE IF EXISTS answer_v1;
CREATE TABLE IF NOT EXISTS answer_v2 (
    key BLOB PRIMARY KEY,
    stored REAL NOT NULL,
    absent INTEGER NOT NULL,
    size INTEGER NOT NULL,
    status INTEGER NOT NULL,
    url TEXT NOT NULL,
    hops TEXT NOT NULL,
    headers TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    decoded_size INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS answer_v2_age ON answer_v2 (stored, size);
"""

_SELECT = (
    "SELECT stored, absent, status, url, hops, headers, checksum, decoded_size, body "
    "FROM answer_v2 WHERE key = ?"
)

# Prefix of the keys of responses that no plugin has read yet.
_UNSETTLED = b"?"

#: Statuses that are cached, and those among them that say an item does not exist.
CACHEABLE = frozenset({200, 203, 404, 410})
NEGATIVE = frozenset({404, 410})

#: Each plugin that is not built in may fill `fetch.cache_max_bytes` divided by this.
PLUGIN_SHARE = 8

# Files of plugins that were not written for so long are removed: the plugin was changed or removed.
_STALE_SECONDS = 30 * 86400.0

#: An entry from further in the future was stored under a wrong clock.
CLOCK_SLACK = 300.0

#: Bytes of a row beyond body, headers and URLs, roughly.
ROW_BYTES = 200


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A fresh entry.

    Attributes:
        response: for the guest.
        hops: the URLs of the redirects to it, in order; policy must allow each.
        stored: when it was stored, in seconds since 1970.
        until: when it stops being fresh, in seconds since 1970.
    """

    response: Response
    hops: tuple[str, ...]
    stored: float
    until: float


def cache_key(
    method: str, url: str, headers: Headers, body: str, secret_names: Iterable[str]
) -> bytes:
    """Computes the key that equal requests share.

    The names of attached secrets are part of it, because the response to an authorised request is
    not the response to an anonymous one; their values are not.
    """
    parts = [method, url, body]
    parts += [f"{name.lower()}:{value}" for name, value in sorted(headers)]
    parts += [f"+{name}" for name in sorted(secret_names)]
    digest = hashlib.blake2b(_VERSION, digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.digest()


def partition_path(path: Path, partition: str) -> Path:
    """Returns the file of a partition, beside that of the built-in plugins; removes stale ones."""
    import re
    import time

    name = re.sub(r"[^A-Za-z0-9_-]", "_", partition.partition("@")[0])[:40]
    digest = hashlib.sha256(partition.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    own = path.with_name(f"{path.stem}-{name}-{digest}{path.suffix}")
    try:
        for sibling in path.parent.glob(f"{path.stem}-*{path.suffix}"):
            newest = max(_modified(sibling), _modified(sibling.with_name(sibling.name + "-wal")))
            if sibling != own and newest < time.time() - _STALE_SECONDS:
                for suffix in ("", "-wal", "-shm"):
                    sibling.with_name(sibling.name + suffix).unlink(missing_ok=True)
    except OSError:
        pass  # the next process tries again
    return own


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class ResponseCache(Protocol):
    """The interface of the caches `Cache` and `RedisCache`."""

    def get(
        self, key: bytes, *, fresh_seconds: float, negative_seconds: float
    ) -> CachedAnswer | None:
        """See `Cache`."""
        ...

    def still_cached(self, hits: Sequence[CacheHit], version: object) -> object:
        """See `carrel.exchange.CacheHitChecker`."""
        ...

    def put(self, key: bytes, response: Response, hops: Iterable[str], *, seconds: float) -> bool:
        """See `Cache`."""
        ...

    def settle(self, keys: Iterable[bytes], verdict: Verdict) -> None:
        """See `Cache`."""
        ...

    def remove(self, hits: Sequence[CacheHit]) -> None:
        """See `Cache`."""
        ...

    def close(self) -> None:
        """See `Cache`."""
        ...


class Cache:
    """The entries of one file. Thread-safe; several processes may share the file."""

    def __init__(self, path: Path | None, max_bytes: int, clock: Clock) -> None:
        self._clock = clock
        self._max_bytes = max_bytes
        self._unchecked = 0
        # Two connections: a reader never waits for a writer that waits for another process.
        self._reader: Database | None = None
        self._writer: Database | None = None
        if path is not None and max_bytes > 0:
            self._reader = Database(path, _SCHEMA, purpose="the cache", busy_seconds=0.05)
            self._writer = Database(path, _SCHEMA, purpose="new cache entries", busy_seconds=2.0)

    def get(
        self, key: bytes, *, fresh_seconds: float, negative_seconds: float
    ) -> CachedAnswer | None:
        """Returns the entry if there is one that is younger than `fresh_seconds`."""
        if self._reader is None or fresh_seconds <= 0:
            return None
        row: tuple[Any, ...] | None = self._reader.run(
            lambda connection: connection.execute(_SELECT, (key,)).fetchone()
        )
        if row is None:
            return None
        stored, absent, status = row[:3]
        limit = fresh_seconds
        if absent or status in NEGATIVE:
            limit = min(fresh_seconds, negative_seconds)
        try:
            answer = self._read(row, stored + limit)
        except (TypeError, ValueError):
            # A damaged page can hold anything, in any type.
            return None
        return answer if self._is_fresh(answer) else None

    def still_cached(self, hits: Sequence[CacheHit], version: object) -> object:
        """See `carrel.exchange.CacheHitChecker`."""
        if self._reader is None or not all(map(self._is_fresh, hits)):
            return None
        return self._reader.run(lambda connection: self._compare(connection, hits, version))

    def _compare(
        self, connection: sqlite3.Connection, hits: Sequence[CacheHit], version: object
    ) -> object:
        # SQLite counts the changes by other connections; the count begins anew for each connection.
        (changes,) = connection.execute("PRAGMA data_version").fetchone()
        now = (connection, changes)
        if now == version:
            return now
        marks = ",".join("?" * len(hits))
        found = connection.execute(
            f"SELECT key, stored FROM answer_v2 WHERE key IN ({marks})",  # noqa: S608 - only marks
            [hit.key for hit in hits],
        )
        cached = dict(found.fetchall())
        return now if all(cached.get(hit.key) == hit.stored for hit in hits) else None

    def _is_fresh(self, answer: CachedAnswer | CacheHit) -> bool:
        return answer.stored - CLOCK_SLACK <= self._clock.wall() < answer.until

    def put(
        self,
        key: bytes,
        response: Response,
        hops: Iterable[str],
        *,
        seconds: float = math.inf,  # noqa: ARG002 - of `ResponseCache`
    ) -> bool:
        """Stores a response for `settle`, and evicts the oldest entries when the file is full.

        Args:
            key: of the request, see `cache_key`.
            response: without secrets.
            hops: the URLs of the redirects to it.
            seconds: for which it is fresh; entries in a file stay until they are evicted.

        Returns:
            Whether it was stored; `get` finds it once `settle` has made it an entry.
        """
        if self._writer is None:
            return False
        body = response.body.encode()
        headers = json.dumps(response.headers, separators=(",", ":"))
        size = len(body) + len(headers) + len(response.url) + ROW_BYTES
        if size > self._max_bytes // 8:
            return False
        status, url, steps = response.status, response.url, "\n".join(hops)
        row = (
            _UNSETTLED + key, self._clock.wall(), 0, size, status, url, steps, headers,
            checksum(status, url, steps, headers, body), response.size, body,
        )  # fmt: skip
        # Counting every row at every write would cost more than the write.
        self._unchecked += size
        check = self._unchecked > self._max_bytes // 64

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO answer_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row
            )
            if check:
                _evict(connection, self._max_bytes)

        self._writer.transact(write)
        if check:
            self._unchecked = 0
            self._writer.run(_shrink)
        return True

    def settle(self, keys: Iterable[bytes], verdict: Verdict) -> None:
        """Makes entries of responses that a plugin could read, and removes the others."""
        if self._writer is None:
            return
        rows = [(key, verdict is Verdict.ABSENT, _UNSETTLED + key) for key in keys]

        def write(connection: sqlite3.Connection) -> None:
            if verdict is Verdict.UNREADABLE:
                connection.executemany(
                    "DELETE FROM answer_v2 WHERE key = ?", [row[2:] for row in rows]
                )
            else:
                connection.executemany(
                    "UPDATE OR REPLACE answer_v2 SET key = ?, absent = ? WHERE key = ?", rows
                )

        self._writer.transact(write)

    def remove(self, hits: Sequence[CacheHit]) -> None:
        """Removes entries, unless newer ones have replaced them."""
        if self._writer is None:
            return
        rows = [(hit.key, hit.stored) for hit in hits]
        self._writer.transact(
            lambda connection: connection.executemany(
                "DELETE FROM answer_v2 WHERE key = ? AND stored = ?", rows
            )
        )

    def _read(self, row: tuple[Any, ...], until: float) -> CachedAnswer:
        stored, _, status, url, hops, headers, expected, size, body = row
        if checksum(status, url, hops, headers, body) != expected:
            raise ValueError("damaged")
        response = Response(
            status=status,
            url=url,
            headers=decode_headers(headers),
            body=body.decode(),
            size=size,
            cached=True,
        )
        return CachedAnswer(response, tuple(hops.split("\n")) if hops else (), stored, until)

    def close(self) -> None:
        """Closes the file."""
        for database in (self._reader, self._writer):
            if database is not None:
                database.close()


@lru_cache(256)
def decode_headers(text: str) -> Headers:
    """Decodes the headers of a row; a source sends the same few again and again."""
    return tuple((name, value) for name, value in json.loads(text))


def checksum(status: int, url: str, hops: str, headers: str, body: bytes) -> int:
    """Returns the checksum of an entry, by which a damaged one is found."""
    return zlib.crc32(f"{status} {url} {hops} {headers}".encode(), zlib.crc32(body))


def _evict(connection: sqlite3.Connection, max_bytes: int) -> None:
    (total,) = connection.execute("SELECT TOTAL(size) FROM answer_v2").fetchone()
    if total <= max_bytes:
        return
    # Down to nine tenths, so that the next writes do not evict again.
    surplus = total - max_bytes * 0.9
    newest_to_go = None
    for stored, size in connection.execute("SELECT stored, size FROM answer_v2 ORDER BY stored"):
        newest_to_go = stored
        surplus -= size
        if surplus <= 0:
            break
    connection.execute("DELETE FROM answer_v2 WHERE stored <= ?", (newest_to_go,))


def _shrink(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA incremental_vacuum").fetchall()
