"""Tests the cache in Redis; the same promises as those of the cache in a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from carrel.exchange import CacheHit, Response, Verdict
from carrel.fetch.cache import cache_key
from carrel.fetch.clock import Clock, SystemClock
from carrel.fetch.redis_cache import _ENTRY_BYTES as ENTRY_BYTES
from carrel.fetch.redis_cache import RedisCache
from carrel.state.redis_server import RedisServer
from carrel.state.redis_settings import RedisSettings
from support.fetch_harness import until
from support.redis_process import RedisProcess
from support.upstream import SkippingClock

pytestmark = pytest.mark.long("replicas")

URL = "https://export.arxiv.org/api"
ANSWER = Response(200, URL, (("content-type", "text/xml"),), "caf\u00e9 \0 <feed/>", 16)


def key(text: str = "") -> bytes:
    return cache_key("GET", URL + text, (), "", ())


def make(
    server: RedisServer, partition: str = "", max_bytes: int = 2**20, clock: Clock | None = None
) -> RedisCache:
    return RedisCache(server, partition, max_bytes, clock or SystemClock())


def keep(
    cache: RedisCache, at: bytes, response: Response = ANSWER, *, hops: Iterable[str] = (),
    verdict: Verdict = Verdict.READ, seconds: float = 60.0,
) -> None:  # fmt: skip
    cache.put(at, response, hops, seconds=seconds)
    cache.settle([at], verdict)


def get(cache: RedisCache, at: bytes, fresh: float = 60.0) -> Response | None:
    found = cache.get(at, fresh_seconds=fresh, negative_seconds=30.0)
    return found.response if found else None


def hit(cache: RedisCache, at: bytes) -> CacheHit:
    found = cache.get(at, fresh_seconds=60.0, negative_seconds=30.0)
    assert found is not None
    return CacheHit(at, found.stored, found.until)


def test_a_cached_response_is_unchanged_and_marked_as_cached(redis_server: RedisServer) -> None:
    cache = make(redis_server)
    assert get(cache, key()) is None
    keep(cache, key(), hops=[f"{URL}/a", f"{URL}/b"])
    found = make(redis_server).get(key(), fresh_seconds=60, negative_seconds=60)
    assert found is not None
    assert found.response == Response(
        ANSWER.status, ANSWER.url, ANSWER.headers, ANSWER.body, ANSWER.size, cached=True
    )
    assert found.hops == (f"{URL}/a", f"{URL}/b")


def test_only_settled_answers_are_hits(redis_server: RedisServer) -> None:
    cache = make(redis_server)
    assert cache.put(key(), ANSWER, (), seconds=60)
    assert get(cache, key()) is None, "no plugin has read it yet"
    cache.settle([key()], Verdict.UNREADABLE)
    assert get(cache, key()) is None
    cache.settle([key()], Verdict.READ)
    assert get(cache, key()) is None, "it was removed"
    keep(cache, key())
    assert get(cache, key()) is not None


def test_an_unreadable_answer_leaves_the_settled_one(redis_server: RedisServer) -> None:
    cache = make(redis_server)
    keep(cache, key())
    keep(cache, key(), Response(200, URL, (), "broken", 6), verdict=Verdict.UNREADABLE)
    found = get(cache, key())
    assert found is not None
    assert found.body == ANSWER.body


def test_absence_is_fresh_for_a_shorter_time(redis_server: RedisServer) -> None:
    clock = SkippingClock()
    cache = make(redis_server, clock=clock)
    keep(cache, key("/a"))
    keep(cache, key("/b"), verdict=Verdict.ABSENT)
    keep(cache, key("/c"), Response(404, URL, (), ""))
    clock.skipped = 45
    assert get(cache, key("/a"))
    assert get(cache, key("/b")) is None
    assert get(cache, key("/c")) is None
    assert get(cache, key("/a"), fresh=40) is None


def test_an_entry_expires_when_its_plugin_would_not_use_it(
    redis_server: RedisServer, redis_process: RedisProcess
) -> None:
    cache = make(redis_server)
    keep(cache, key(), seconds=1000)
    [name] = redis_process.command("KEYS", f"{redis_server.settings.prefix}:*:entry:*")
    assert 999_000 < redis_process.command("PTTL", name.decode()) <= 1_000_000


@pytest.mark.requirement("sandbox:apart:redis-keys")
def test_no_key_of_a_partition_outlives_its_last_entry(
    redis_server: RedisServer, redis_process: RedisProcess
) -> None:
    """The partition of each version of a plugin is another one."""
    cache = make(redis_server, "p@1")

    def lives() -> list[float]:
        names = redis_process.command("KEYS", f"{redis_server.settings.prefix}:*")
        return sorted(int(redis_process.command("PTTL", name)) / 1000 for name in names)

    cache.put(key("/unsettled"), ANSWER, (), seconds=60.0)
    assert all(500 < one <= 600 for one in lives())
    for path, seconds in (("/a", 60.0), ("/b", 5000.0), ("/c", 70.0)):
        keep(cache, key(path), seconds=seconds)
    assert sum(4900 < one <= 5000 for one in lives()) == 4, "an entry, and three that list them"
    assert -0.001 not in lives(), "none stays"
    other = make(redis_server, "p@2")
    keep(other, key(), seconds=0.1)
    until(lambda: redis_process.command("EXISTS", *other._keys) == 0)


@pytest.mark.requirement("sandbox:apart:redis-keys")
def test_partitions_do_not_see_each_other(redis_server: RedisServer) -> None:
    names = ["", "builtin", "p@1", "p@2", "p@1:entry:", "*"]
    caches = [make(redis_server, name) for name in names]
    for number, cache in enumerate(caches):
        keep(cache, key(), Response(200, URL, (), f"{number}", 1))
    bodies = [found.body for cache in caches if (found := get(cache, key()))]
    assert bodies == [f"{number}" for number in range(len(names))]


@pytest.mark.requirement("sandbox:apart:redis-cache-room")
def test_a_full_partition_evicts_what_expires_first_and_no_other_s(
    redis_server: RedisServer,
) -> None:
    cache, other = make(redis_server, "p@1", 100_000), make(redis_server, "p@2", 100_000)
    keep(other, key())
    for number in range(40):
        keep(cache, key(f"{number}"), Response(200, URL, (), "x" * 5000, 5000), seconds=60 + number)
    kept = [number for number in range(40) if get(cache, key(f"{number}"))]
    assert kept == list(range(min(kept), 40))
    assert 10 < len(kept) < 20
    assert get(other, key())
    used = redis_server.command("GET", cache._keys[2])
    assert int(used) <= 100_000


def test_a_write_evicts_few_entries_at_a_time(redis_server: RedisServer) -> None:
    """Nobody else is served while a script runs."""
    size = ENTRY_BYTES + len(URL) + len('[["content-type","text/xml"]]') + len(ANSWER.body.encode())
    cache = make(redis_server, max_bytes=3000 * size)
    for number in range(3000):
        cache.put(key(f"{number}"), ANSWER, (), seconds=60.0)

    def count() -> int:
        return int(redis_server.command("HLEN", cache._keys[1]))

    assert count() == 3000
    cache.put(key("one"), ANSWER, (), seconds=60.0)
    assert count() == 3000 - 200 + 1
    large = Response(200, URL, (), "x" * (370 * size), 370 * size)
    for number in range(3):
        assert cache.put(key(f"large {number}"), large, (), seconds=60.0)
    assert int(redis_server.command("GET", cache._keys[2])) <= 3000 * size


@pytest.mark.parametrize("size", [300, 2000, 40_000])
def test_a_full_partition_takes_no_more_memory_than_it_may(tmp_path: Path, size: int) -> None:
    with RedisProcess(tmp_path, options={"appendfsync": "no"}) as process:

        def used() -> int:
            return int(process.command("INFO", "memory")["used_memory"])

        server = RedisServer(process.settings())
        allowed = 4 * 2**20
        cache = make(server, max_bytes=allowed)
        keep(cache, key())
        before = used()
        for number in range(2 * allowed // (size + 1000)):
            keep(cache, key(f"{number}"), Response(200, URL, (), "x" * size, size))
        assert used() - before < 1.3 * allowed
        server.close()


def test_a_huge_answer_is_not_kept(redis_server: RedisServer) -> None:
    small = make(redis_server, max_bytes=80_000)
    assert not small.put(key(), Response(200, URL, (), "x" * 20_000, 20_000), (), seconds=60)
    large = make(redis_server, max_bytes=2**40)
    size = 9 * 2**20
    assert not large.put(key(), Response(200, URL, (), "x" * size, size), (), seconds=60)
    assert not make(redis_server, max_bytes=0).put(key(), ANSWER, (), seconds=60)


def test_a_changed_byte_is_a_miss(redis_server: RedisServer) -> None:
    cache = make(redis_server)
    name = cache._prefix + key().hex()
    for field, value in (("body", "other"), ("stored", "x"), ("status", "201"), ("checksum", "")):
        keep(cache, key())
        assert get(cache, key())
        redis_server.command("HSET", name, field, value)
        assert get(cache, key()) is None, field
    redis_server.command("DEL", name)
    redis_server.command("LPUSH", name, "x")
    assert get(cache, key()) is None


def test_a_removed_answer_ends_results_that_were_built_from_it(redis_server: RedisServer) -> None:
    now = [100.0]
    cache = RedisCache(redis_server, "", 2**20, SystemClock(), monotonic=lambda: now[0])
    keep(cache, key("/a"))
    keep(cache, key("/b"))
    hits = [hit(cache, key("/a")), hit(cache, key("/b"))]
    version = cache.still_cached(hits, None)
    assert version is not None
    other = make(redis_server)
    other.remove([CacheHit(key("/b"), hits[1].stored + 1, hits[1].until)])
    assert get(cache, key("/b")), "a newer entry is not removed"
    other.remove(hits[1:])
    assert cache.still_cached(hits, version) == version, "not compared again within a second"
    now[0] += 1.5
    assert cache.still_cached(hits, version) is None


def test_an_answer_fetched_again_ends_results_of_the_former(redis_server: RedisServer) -> None:
    clock = SkippingClock()
    cache = make(redis_server, clock=clock)
    keep(cache, key())
    hits = [hit(cache, key())]
    assert cache.still_cached(hits, None) is not None
    clock.skipped += 1
    keep(cache, key())
    assert cache.still_cached(hits, None) is None


def test_without_the_server_everything_is_a_miss() -> None:
    server = RedisServer(RedisSettings("127.0.0.1", 1))
    cache = make(server)
    assert not cache.put(key(), ANSWER, (), seconds=60)
    cache.settle([key()], Verdict.READ)
    cache.remove([CacheHit(key(), 0.0, 1e12)])
    assert get(cache, key()) is None
    assert cache.still_cached([CacheHit(key(), 0.0, 1e12)], None) is None
    server.close()


def test_a_full_server_keeps_no_more_answers(tmp_path: Path) -> None:
    with RedisProcess(tmp_path, options={"maxmemory": "4mb"}) as process:
        server = RedisServer(process.settings())
        cache = make(server, max_bytes=2**30)
        kept = [
            cache.put(
                key(f"{number}"), Response(200, URL, (), "x" * 50_000, 50_000), (), seconds=60
            )
            for number in range(100)
        ]
        assert kept[0]
        assert not kept[-1]
        used = int(server.command("INFO", "memory")["used_memory"])
        assert used < 4 * 2**20 + 200_000
        server.close()


@pytest.mark.parametrize("text", ["\u2028\n", "a:b", "*"])
def test_any_url_and_header_is_kept(redis_server: RedisServer, text: str) -> None:
    cache = make(redis_server)
    answer = Response(200, URL + text, (("x-note", text),), text, len(text))
    keep(cache, key(text), answer)
    found = get(cache, key(text))
    assert found is not None
    assert (found.url, found.headers, found.body) == (answer.url, answer.headers, text)
