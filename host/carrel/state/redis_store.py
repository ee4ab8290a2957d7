"""Implements the key-value store in Redis.

Each entry is a Redis string that expires by itself. Three keys of a namespace say what it holds: a
sorted set of the keys by when they expire, a hash of their sizes, and their sum. A key like
`OWNER/NAME` is also in a sorted set of its owner, and a hash has the bytes of each owner. Every
change is one script, so that they always agree.
"""

from __future__ import annotations

import math
import random
import time
from typing import Any, Final

from carrel.errors import StateError

from .redis_server import OwnError, RedisServer, Script, release_server
from .store import (
    UPDATE_ATTEMPTS,
    Change,
    StoreLimits,
    decode_key,
    encode_key,
)

_PRELUDE: Final = """
local expiry, sizes, used = KEYS[1], KEYS[2], KEYS[3]
local prefix, name = ARGV[1], ARGV[2]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function whole(number)
  return string.format('%.0f', number)
end

local owners = sizes .. ':owners'

local function owned(owner)
  return expiry .. ':' .. owner
end

-- Adds to the bytes of the owner of a key, if it names one, and returns the owner.
local function charge(key, bytes)
  local owner = string.match(key, '^([^/]+)/')
  if owner and redis.call('HINCRBY', owners, owner, whole(bytes)) <= 0 then
    redis.call('HDEL', owners, owner)
  end
  return owner
end

local function drop(other)
  local size = redis.call('HGET', sizes, other)
  if size then
    redis.call('HDEL', sizes, other)
    redis.call('ZREM', expiry, other)
    redis.call('DECRBY', used, size)
    local owner = charge(other, -size)
    if owner then
      redis.call('ZREM', owned(owner), other)
    end
  end
  return redis.call('DEL', prefix .. other)
end

local function purge()
  local dead = redis.call('ZRANGEBYSCORE', expiry, '-inf', now, 'LIMIT', 0, 1000)
  for _, other in ipairs(dead) do
    drop(other)
  end
end

-- A server without memory refuses only the first change of a script, so this comes before any.
local function require_memory()
  redis.call('INCRBY', used, 0)
end

-- What expires first of the owner with the most bytes, so that one owner cannot have the entries of
-- others evicted.
local function expendable()
  local all, most, from = redis.call('HGETALL', owners), 0, nil
  for at = 1, #all, 2 do
    if tonumber(all[at + 1]) > most then
      most, from = tonumber(all[at + 1]), all[at]
    end
  end
  for _, list in ipairs(from and {owned(from), expiry} or {expiry}) do
    for _, other in ipairs(redis.call('ZRANGE', list, 0, 1)) do
      if other ~= name then return other end
    end
  end
end

local function write(value, ends, max_entries, max_bytes, evict)
  local old = tonumber(redis.call('HGET', sizes, name) or '0')
  local size = #name + #value
  local entries = redis.call('HLEN', sizes)
  if old > 0 or redis.call('HEXISTS', sizes, name) == 1 then
    entries = entries - 1
  end
  local bytes = tonumber(redis.call('GET', used) or '0') - old
  while entries + 1 > max_entries or bytes + size > max_bytes do
    local other = evict and size <= max_bytes and expendable()
    if not other then
      return redis.error_reply('CARREL full ' .. whole(entries) .. ' ' .. whole(bytes))
    end
    bytes = bytes - tonumber(redis.call('HGET', sizes, other) or '0')
    entries = entries - 1
    drop(other)
  end
  local place = ends and whole(ends) or '+inf'
  if ends then
    redis.call('SET', prefix .. name, value, 'PXAT', place)
  else
    redis.call('SET', prefix .. name, value)
  end
  redis.call('ZADD', expiry, place, name)
  local owner = charge(name, size - old)
  if owner then
    redis.call('ZADD', owned(owner), place, name)
  end
  redis.call('HSET', sizes, name, size)
  redis.call('SET', used, whole(bytes + size))
  return 1
end

local function ends_after(lifetime)
  if lifetime == '' then
    return nil
  end
  return now + tonumber(lifetime)
end
"""

_WRITE: Final = Script(
    _PRELUDE
    + """
local value, lifetime = ARGV[3], ARGV[4]
require_memory()
purge()
return write(value, ends_after(lifetime), tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1')
"""
)

_DELETE: Final = Script(
    _PRELUDE
    + """
purge()
return drop(name)
"""
)

# Writes if the present value is the expected one; returns 0 if it is not.
_EXCHANGE: Final = Script(
    _PRELUDE
    + """
local value, lifetime = ARGV[3], ARGV[4]
local present = redis.call('GET', prefix .. name)
if ARGV[8] == '1' then
  if present ~= ARGV[9] then return 0 end
elseif present then
  return 0
end
if ARGV[10] == '0' then
  drop(name)
  return 1
end
require_memory()
purge()
return write(value, ends_after(lifetime), tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1')
"""
)

_INCREMENT: Final = Script(
    _PRELUDE
    + """
local amount, lifetime, limit = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[8])
local present = redis.call('GET', prefix .. name)
local count, ends = 0, ends_after(lifetime)
if present then
  if not string.match(present, '^%d+$') or #present > 19 then
    return redis.error_reply('CARREL no counter')
  end
  count = tonumber(present)
  ends = tonumber(redis.call('ZSCORE', expiry, name))
  if ends == math.huge then ends = nil end
end
count = math.max(count + amount, 0)
if amount > 0 and count > limit then
  return false
end
if amount > 0 then
  require_memory()
else
  -- Giving back must not fail: any change before it lifts the refusal.
  redis.call('DEL', used .. ':none')
end
purge()
local done = write(whole(count), ends, tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1')
if done ~= 1 then
  return done
end
return whole(count)
"""
)

_KEYS: Final = Script(
    _PRELUDE
    + """
local found = {}
for _, other in ipairs(redis.call('ZRANGEBYSCORE', expiry, '(' .. whole(now), '+inf')) do
  if string.sub(other, 1, #name) == name then
    found[#found + 1] = other
  end
end
return found
"""
)


class RedisStore:
    """The entries of one namespace; see `KeyValueStore`."""

    def __init__(self, server: RedisServer, namespace: str, limits: StoreLimits) -> None:
        self._server = server
        self._namespace = namespace
        self._limits = limits
        base = server.key("state", namespace)
        self._keys = (f"{base}:expiry", f"{base}:sizes", f"{base}:used")
        self._prefix = f"{base}:entry:".encode()
        self._closed = False

    def get(self, key: str) -> bytes | None:
        """See `KeyValueStore`."""
        name = encode_key(key)
        self._check_open()
        value: bytes | None = self._server.command("GET", self._prefix + name)
        return value

    def put(self, key: str, value: bytes, *, seconds: float | None = None) -> None:
        """See `KeyValueStore`."""
        self._check_value(value)
        self._run(_WRITE, encode_key(key), value, _lifetime(seconds), *self._bounds())

    def delete(self, key: str) -> bool:
        """See `KeyValueStore`."""
        return bool(self._run(_DELETE, encode_key(key)))

    def update(self, key: str, change: Change, *, seconds: float | None = None) -> bytes | None:
        """See `KeyValueStore`."""
        name = encode_key(key)
        for attempt in range(UPDATE_ATTEMPTS):
            before = self.get(key)
            after = change(before)
            if after is not None:
                self._check_value(after)
            words = (after or b"", _lifetime(seconds), *self._bounds())
            expected = ("0", b"") if before is None else ("1", before)
            if self._run(_EXCHANGE, name, *words, *expected, "0" if after is None else "1"):
                return after
            time.sleep(random.random() * min(0.0005 * (attempt + 1), 0.02))  # noqa: S311
        raise self._fault("other processes change the entry all the time", retryable=True)

    def increment(self, key: str, amount: int, *, limit: int, seconds: float) -> int | None:
        """See `KeyValueStore`."""
        count = self._run(
            _INCREMENT, encode_key(key), amount, _lifetime(seconds), *self._bounds(), limit
        )
        return None if count is None else int(count)

    def clock(self) -> float | None:
        """See `KeyValueStore`: the clock of the Redis server."""
        self._check_open()
        seconds, _microseconds = self._server.command("TIME")
        return float(seconds)

    def keys(self, prefix: str) -> list[str]:
        """See `KeyValueStore`."""
        return [decode_key(name) for name in sorted(self._run(_KEYS, encode_key(prefix)))]

    def close(self) -> None:
        """See `KeyValueStore`."""
        if not self._closed:
            self._closed = True
            release_server(self._server)

    def _bounds(self) -> tuple[int, int, str]:
        limits = self._limits
        return limits.max_entries, limits.max_bytes, "1" if limits.evict else "0"

    def _run(self, script: Script, name: bytes, *words: bytes | str | int) -> Any:
        self._check_open()
        try:
            return self._server.run(script, self._keys, (self._prefix, name, *words))
        except OwnError as error:
            raise self._worded(str(error)) from error

    def _worded(self, error: str) -> StateError:
        if error.startswith("CARREL full"):
            entries, used = (int(word) for word in error.split()[2:4])
            return self._fault(
                f"full: {entries:,} of {self._limits.max_entries:,} entries and {used:,} of "
                f"{self._limits.max_bytes:,} bytes are in use",
                remedy="try again when entries have expired",
                retryable=True,
            )
        return self._fault("the entry is no counter")

    def _check_value(self, value: bytes) -> None:
        allowed = self._limits.max_value_bytes
        if len(value) > allowed:
            raise self._fault(f"a value of {len(value):,} bytes; at most {allowed:,} are allowed")

    def _check_open(self) -> None:
        if self._closed:
            raise self._fault("the store is closed")

    def _fault(self, reason: str, *, remedy: str = "", retryable: bool = False) -> StateError:
        where = f"{self._server.settings.address} ({self._namespace})"
        return StateError(where, reason, remedy=remedy, retryable=retryable)


def _lifetime(seconds: float | None) -> str:
    """Returns whole milliseconds; empty for an entry that does not expire."""
    return "" if seconds is None else str(max(1, math.ceil(seconds * 1000)))
