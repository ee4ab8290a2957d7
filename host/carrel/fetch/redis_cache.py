"""A cache of responses in Redis, shared by all replicas: the same entries as in a file.

Each partition has its own keys, under a hash of its name, and its own limit of bytes. An entry
expires when its plugin would no longer use it, and a full partition evicts those that expire first.
With its last entry a partition leaves no key behind.
A response is kept under another key until a plugin has read it (`settle`).

Faults of Redis never fail a call: a lookup is a miss, and a response is not kept.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from carrel.errors import StateError
from carrel.exchange import CacheHit, Response, Verdict
from carrel.state.redis_server import RedisServer, Script

from .cache import (
    CLOCK_SLACK,
    NEGATIVE,
    CachedAnswer,
    checksum,
    decode_headers,
)
from .clock import Clock

log = logging.getLogger("carrel.fetch")

T = TypeVar("T")

#: Part of every key: raised when the meaning of the stored data changes.
_VERSION: Final = "1"

#: Bytes of the largest entry: while Redis sends one, nobody else is served.
_LARGEST: Final = 8 * 2**20

#: Bytes of an entry in the server's memory beyond body, headers and URL, roughly: a hash of eleven
#: fields, and its places in the lists of its partition.
_ENTRY_BYTES: Final = 1300

#: Seconds for which a response may wait to be read by its plugin.
_UNSETTLED_SECONDS: Final = 600

#: Seconds for which the answers behind a cached result are not compared again.
_COMPARED_SECONDS: Final = 1.0

_FIELDS: Final = (
    "stored", "absent", "status", "url", "hops", "headers", "checksum", "size", "body",
)  # fmt: skip

# The prelude of the scripts: `expiry` is the sorted set of entries by when they expire.
_PRELUDE: Final = """
local expiry, sizes, used = KEYS[1], KEYS[2], KEYS[3]
local prefix = ARGV[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function forget(name)
  local size = redis.call('HGET', sizes, name)
  if size then
    redis.call('HDEL', sizes, name)
    redis.call('ZREM', expiry, name)
    redis.call('DECRBY', used, size)
  end
end

local function drop(name)
  forget(name)
  redis.call('DEL', prefix .. name)
end

local function note(name, size, ends)
  redis.call('HSET', sizes, name, size)
  redis.call('ZADD', expiry, ends, name)
  redis.call('INCRBY', used, size)
  -- They expire with the last entry: nothing else removes those of a plugin that is gone.
  local last = redis.call('ZRANGE', expiry, -1, -1, 'WITHSCORES')[2]
  for _, key in ipairs(KEYS) do
    redis.call('PEXPIREAT', key, string.format('%.0f', last))
  end
end
"""

# ARGV: prefix, name, size, milliseconds, max_bytes, then fields and values.
_PUT: Final = Script(
    _PRELUDE
    + """
local name, size, lifetime, most = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
-- A server without memory refuses only the first change of a script, so this comes before any.
redis.call('INCRBY', used, 0)
for _, other in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', now, 'LIMIT', 0, 1000)) do
  drop(other)
end
drop(name)
local bytes = tonumber(redis.call('GET', used) or '0')
if bytes + size > most then
  -- Down to nine tenths, so that the next writes do not evict again; when there is room, not more
  -- than 200 entries, because nobody else is served meanwhile.
  local goal, evicted = math.max(most * 0.9 - size, 0), 0
  while bytes > goal and (evicted < 200 or bytes + size > most) do
    local other = redis.call('ZRANGE', expiry, 0, 0)[1]
    if not other then break end
    evicted = evicted + 1
    bytes = bytes - tonumber(redis.call('HGET', sizes, other) or '0')
    drop(other)
  end
end
local ends = string.format('%.0f', now + lifetime)
redis.call('HSET', prefix .. name, unpack(ARGV, 6))
redis.call('PEXPIREAT', prefix .. name, ends)
note(name, size, ends)
return 1
"""
)

# ARGV: prefix, verdict, then pairs of the name before and the name after, with milliseconds.
_SETTLE: Final = Script(
    _PRELUDE
    + """
local verdict = ARGV[2]
for at = 3, #ARGV, 2 do
  local before, after = ARGV[at], ARGV[at + 1]
  local size = redis.call('HGET', sizes, before)
  local found = redis.call('HGET', prefix .. before, 'lifetime')
  if verdict == 'unreadable' or not found or not size then
    drop(before)
  else
    local ends = string.format('%.0f', now + tonumber(found))
    forget(before)
    drop(after)
    redis.call('RENAME', prefix .. before, prefix .. after)
    redis.call('HSET', prefix .. after, 'absent', verdict == 'absent' and '1' or '0')
    redis.call('PEXPIREAT', prefix .. after, ends)
    note(after, size, ends)
  end
end
return 1
"""
)

# ARGV: prefix, then pairs of a name and when it was stored.
_REMOVE: Final = Script(
    _PRELUDE
    + """
for at = 2, #ARGV, 2 do
  if redis.call('HGET', prefix .. ARGV[at], 'stored') == ARGV[at + 1] then
    drop(ARGV[at])
  end
end
return 1
"""
)

# Returns when each entry was stored. ARGV: prefix, then names.
_STORED: Final = Script("""
local found = {}
for at = 2, #ARGV do
  found[at - 1] = redis.call('HGET', ARGV[1] .. ARGV[at], 'stored')
end
return found
""")


class RedisCache:
    """The entries of one partition; see `Cache`. Thread-safe."""

    def __init__(
        self,
        server: RedisServer,
        partition: str,
        max_bytes: int,
        clock: Clock,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = server
        self._max_bytes = max_bytes
        self._clock = clock
        self._monotonic = monotonic
        name = hashlib.sha256(partition.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        base = server.key("cache", _VERSION, name if partition else "builtin")
        self._keys = (f"{base}:expiry", f"{base}:sizes", f"{base}:used")
        self._prefix = f"{base}:entry:"

    def get(
        self, key: bytes, *, fresh_seconds: float, negative_seconds: float
    ) -> CachedAnswer | None:
        """See `Cache`."""
        if self._max_bytes <= 0 or fresh_seconds <= 0:
            return None
        row = self._attempt(
            lambda: self._server.command("HMGET", self._prefix + key.hex(), *_FIELDS)
        )
        if row is None or None in row:
            return None
        try:
            return self._read(row, fresh_seconds, negative_seconds)
        except (TypeError, ValueError):
            # Another program may have written anything there.
            return None

    def still_cached(self, hits: Sequence[CacheHit], version: object) -> object:
        """See `CacheHitChecker`. The entries are compared once a second, not each time."""
        if not all(map(self._is_fresh, hits)):
            return None
        now = self._monotonic()
        if isinstance(version, float) and version <= now < version + _COMPARED_SECONDS:
            return version
        stored = self._attempt(
            lambda: self._server.run(_STORED, (), (self._prefix, *(hit.key.hex() for hit in hits)))
        )
        if stored is None or stored != [_stamp(hit.stored) for hit in hits]:
            return None
        return now

    def put(self, key: bytes, response: Response, hops: Iterable[str], *, seconds: float) -> bool:
        """See `Cache`."""
        body = response.body.encode()
        headers = json.dumps(response.headers, separators=(",", ":"))
        size = len(body) + len(headers) + len(response.url) + _ENTRY_BYTES
        if size > min(self._max_bytes // 8, _LARGEST):
            return False
        status, url, steps = response.status, response.url, "\n".join(hops)
        values: tuple[str | bytes | float, ...] = (
            _stamp(self._clock.wall()), "0", status, url, steps, headers,
            checksum(status, url, steps, headers, body), response.size, body,
        )  # fmt: skip
        fields: list[str | bytes | float] = [
            part for pair in zip(_FIELDS, values, strict=True) for part in pair
        ]
        fields += ["lifetime", max(1, math.ceil(seconds * 1000))]
        return self._change(
            _PUT, "?" + key.hex(), size, _UNSETTLED_SECONDS * 1000, self._max_bytes, *fields
        )

    def settle(self, keys: Iterable[bytes], verdict: Verdict) -> None:
        """See `Cache`."""
        names = [name for key in keys for name in ("?" + key.hex(), key.hex())]
        word = {Verdict.UNREADABLE: "unreadable", Verdict.ABSENT: "absent"}.get(verdict, "read")
        if names:
            self._change(_SETTLE, word, *names)

    def remove(self, hits: Sequence[CacheHit]) -> None:
        """See `Cache`."""
        if hits:
            words = [word for hit in hits for word in (hit.key.hex(), _stamp(hit.stored))]
            self._change(_REMOVE, *words)

    def close(self) -> None:
        """Does nothing: the connections belong to the process."""

    def _change(self, script: Script, *words: str | bytes | float) -> bool:
        done = self._attempt(lambda: self._server.run(script, self._keys, (self._prefix, *words)))
        return done is not None

    def _attempt(self, work: Callable[[], T]) -> T | None:
        """Returns None if Redis cannot be used now; the server logs why."""
        try:
            return work()
        except StateError as fault:
            log.debug("continuing without the cache: %s", fault.message)
            return None

    def _read(
        self, row: Sequence[bytes], fresh_seconds: float, negative_seconds: float
    ) -> CachedAnswer | None:
        stored = float(row[0])
        status = int(row[2])
        url, hops, headers = (part.decode() for part in row[3:6])
        body = row[8]
        if checksum(status, url, hops, headers, body) != int(row[6]):
            raise ValueError("damaged")
        limit = fresh_seconds
        if row[1] == b"1" or status in NEGATIVE:
            limit = min(fresh_seconds, negative_seconds)
        response = Response(
            status=status,
            url=url,
            headers=decode_headers(headers),
            body=body.decode(),
            size=int(row[7]),
            cached=True,
        )
        steps = tuple(hops.split("\n")) if hops else ()
        answer = CachedAnswer(response, steps, stored, stored + limit)
        return answer if self._is_fresh(answer) else None

    def _is_fresh(self, answer: CachedAnswer | CacheHit) -> bool:
        return answer.stored - CLOCK_SLACK <= self._clock.wall() < answer.until


def _stamp(seconds: float) -> bytes:
    """Returns a time as it is stored; equal times have equal stamps."""
    return repr(seconds).encode()
