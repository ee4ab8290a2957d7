"""Token buckets in Redis, shared by all replicas: the same buckets as in a file.

Each operation is one script, which Redis runs atomically and by its own clock, so that neither
clocks of machines nor the order of requests matter. The script that takes a slot also reads the
circuit breaker of the upstream, which saves a round trip for each request.

A bucket that Redis does not know is full, unless Redis lost its data: the key `born` says since
when it has had any. A bucket from before is empty at that time, so that no slot is taken twice.

Nothing falls back to memory: without Redis no slot is taken.
"""

from __future__ import annotations

import hashlib
from typing import Final

from carrel.state.redis_server import RedisServer, Script

from .token_buckets import Slot

#: Characters of the longest bucket name that is a key as it is.
_LONGEST_NAME: Final = 200

_MICROSECONDS: Final = 1_000_000

# Times are whole microseconds. `due` and `slack` are those of buckets in a file.
_SCRIPT: Final = Script("""
local bucket, born_key, circuit = KEYS[1], KEYS[2], KEYS[3]
local operation, interval, burst = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local argument = tonumber(ARGV[4])
local due, slack, longest = 1000, 500000, 7200000000

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

local function whole(number)
  return string.format('%.0f', number)
end

local has_jumped = false

local function recall()
  local state = redis.call('HMGET', bucket, 'full_at', 'touched')
  if state[1] and state[2] then
    local full_at, touched = tonumber(state[1]), tonumber(state[2])
    full_at = math.min(full_at, touched + longest)
    if touched > now + slack then
      full_at = now + math.max(0, full_at - touched)
      has_jumped = true
    end
    return math.max(full_at, now)
  end
  local born = tonumber(redis.call('GET', born_key) or '0')
  if born == 0 or born > now + slack then
    born = now
    redis.call('DEL', born_key)
    redis.call('SET', born_key, whole(born))
  end
  return math.max(born + burst * interval, now)
end

local function write(full_at)
  -- A server without memory refuses only the first change of a script, and not this one: a pace
  -- takes few bytes for a minute, and without it nothing could be fetched.
  redis.call('HDEL', bucket, 'none')
  redis.call('HSET', bucket, 'full_at', whole(full_at), 'touched', whole(now))
  -- A bucket that is full says nothing. A minute more, in case the clock is set back.
  redis.call('PEXPIRE', bucket, whole(math.ceil((full_at - now) / 1000) + 60000))
end

local function take(full_at)
  local wait = full_at - (burst - 1) * interval - now
  if wait > due then
    return whole(wait), '0'
  end
  return '0', whole(full_at + interval), full_at + interval
end

local full_at = recall()
if has_jumped then
  -- Otherwise the rest of the wait would be computed again, and be as long, at each attempt.
  write(full_at)
end

if operation == 'take' then
  local state = redis.call('HMGET', circuit, 'failures', 'open_until', 'probe_until')
  local open_until = math.max(tonumber(state[2] or '0'), tonumber(state[3] or '0'))
  local wait, slot, after = take(full_at)
  if after then
    write(after)
  end
  return {wait, slot, whole(math.max(open_until - now, 0)), state[1] or '0'}
end

if operation == 'keep' then
  if full_at > math.max(argument, now) then
    local wait, slot, after = take(full_at)
    if after then
      write(after)
    end
    return {wait, slot, '0', '0'}
  end
  write(now + interval)
  return {'0', whole(now + interval), '0', '0'}
end

if operation == 'give_back' then
  if full_at == argument then
    write(full_at - interval)
  end
  return {'0', '0', '0', '0'}
end

write(math.max(full_at, now + argument + (burst - 1) * interval))
return {'0', '0', '0', '0'}
""")

# Reports the outcome of a request to the circuit breaker, or asks whether one may be the probe.
_REPORT: Final = Script("""
local circuit = KEYS[1]
local outcome, limit, seconds = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if outcome == 'succeeded' then
  redis.call('DEL', circuit)
  return 0
end
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
if outcome == 'probe' then
  local state = redis.call('HMGET', circuit, 'failures', 'open_until', 'probe_until')
  local open_until = math.max(tonumber(state[2] or '0'), tonumber(state[3] or '0'))
  if open_until > now then
    return open_until - now
  end
  if tonumber(state[1] or '0') >= limit then
    redis.call('HSET', circuit, 'probe_until', string.format('%.0f', now + seconds * 1000000))
  end
  return 0
end
redis.call('HDEL', circuit, 'probe_until')
if outcome == 'failed' then
  if redis.call('HINCRBY', circuit, 'failures', 1) >= limit then
    redis.call('HSET', circuit, 'open_until', string.format('%.0f', now + seconds * 1000000))
  end
  redis.call('EXPIRE', circuit, math.max(600, math.ceil(3 * seconds)))
end
return 0
""")


class RedisTokenBuckets:
    """The buckets of one server; see `TokenBuckets`. Every method may raise `StateError`.

    Args:
        server: keeps them.
        failures: after which an upstream's circuit opens, over all replicas.
    """

    def __init__(self, server: RedisServer, failures: int) -> None:
        self._server = server
        self._failures = failures
        self._born = server.born_key

    def take(self, upstream: str, interval: float, burst: int) -> Slot:
        """See `TokenBuckets`; the slot has the circuit's state too."""
        return self._run(upstream, "take", interval, burst, 0)

    def keep(self, upstream: str, interval: float, burst: int, slot: Slot) -> Slot:
        """See `TokenBuckets`."""
        return self._run(upstream, "keep", interval, burst, _microseconds(slot.full_at))

    def give_back(self, upstream: str, interval: float, slot: Slot) -> None:
        """See `TokenBuckets`."""
        self._run(upstream, "give_back", interval, 1, _microseconds(slot.full_at))

    def penalise(self, upstream: str, interval: float, burst: int, seconds: float) -> None:
        """See `TokenBuckets`."""
        self._run(upstream, "penalise", interval, burst, _microseconds(seconds))

    def report(self, upstream: str, outcome: str, seconds: float = 0.0) -> float:
        """Reports an outcome to an upstream's circuit breaker.

        Args:
            upstream: the bucket's name.
            outcome: `succeeded`, `failed`, `abandoned`; or `probe` before a request in an open
                circuit.
            seconds: of `failed`, for which the circuit opens if this failure is one too many; of
                `probe`, after which another may go if its outcome is never reported.

        Returns:
            For `probe`, the seconds to wait; 0 if the request may be sent.
        """
        keys = (self._server.key("pace", "circuit", _short(upstream)),)
        wait = self._server.run(_REPORT, keys, (outcome, self._failures, seconds))
        return int(wait) / _MICROSECONDS

    def close(self) -> None:
        """Does nothing: the connections belong to the process."""

    def _run(
        self, upstream: str, operation: str, interval: float, burst: int, argument: int
    ) -> Slot:
        name = _short(upstream)
        keys = (
            self._server.key("pace", "bucket", name),
            self._born,
            self._server.key("pace", "circuit", name),
        )
        words = (operation, _microseconds(interval), burst, argument)
        wait, full_at, circuit, failures = self._server.run(_SCRIPT, keys, words)
        return Slot(
            int(wait) / _MICROSECONDS,
            int(full_at) / _MICROSECONDS,
            circuit_seconds=int(circuit) / _MICROSECONDS,
            failures=int(failures),
        )


def _microseconds(seconds: float) -> int:
    return round(seconds * _MICROSECONDS)


def _short(name: str) -> str:
    """Returns the name, or a hash of one that is too long for a key."""
    if len(name) <= _LONGEST_NAME:
        return name
    return "#" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
