from __future__ import annotations

import logging
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from carrel.exchange import Response, Verdict
from carrel.fetch.cache import Cache, cache_key
from carrel.fetch.clock import SystemClock
from support.upstream import SkippingClock

URL = "https://export.arxiv.org/api"
ANSWER = Response(200, URL, (("content-type", "text/xml"),), "caf\u00e9 \0 <feed/>", 16)


def keep(cache: Cache, key: bytes, response: Response, hops: Iterable[str]) -> None:
    """Caches a response that a plugin has read."""
    cache.put(key, response, hops)
    cache.settle([key], Verdict.READ)


def key(text: str = "") -> bytes:
    return cache_key("GET", URL + text, (), "", ())


def get(cache: Cache, at: bytes, fresh: float = 60.0) -> Response | None:
    found = cache.get(at, fresh_seconds=fresh, negative_seconds=30.0)
    return found.response if found else None


def test_a_cached_response_is_unchanged_and_marked_as_cached(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "a" / "cache.sqlite3", 2**20, SystemClock())
    assert get(cache, key()) is None
    keep(cache, key(), ANSWER, ["https://export.arxiv.org/a", "https://export.arxiv.org/b"])
    found = cache.get(key(), fresh_seconds=60, negative_seconds=60)
    assert found is not None
    assert found.response == Response(
        ANSWER.status, ANSWER.url, ANSWER.headers, ANSWER.body, ANSWER.size, cached=True
    )
    assert found.hops == ("https://export.arxiv.org/a", "https://export.arxiv.org/b")
    cache.close()


def test_a_response_is_fresh_as_long_as_the_manifest_says(tmp_path: Path) -> None:
    clock = SkippingClock()
    cache = Cache(tmp_path / "cache.sqlite3", 2**20, clock)
    keep(cache, key(), ANSWER, ())
    keep(cache, key("/gone"), Response(404, URL, (), ""), ())
    clock.skipped = 45
    assert get(cache, key())
    assert get(cache, key("/gone")) is None, "what is not there may come sooner"
    assert get(cache, key(), fresh=40) is None
    assert get(cache, key(), fresh=0) is None
    clock.skipped = -4000
    assert get(cache, key()) is None, "stored under a clock that was wrong"
    cache.close()


def test_everything_that_makes_a_request_different_makes_the_key_different() -> None:
    keys = {
        cache_key("GET", "u", (), "", ()),
        cache_key("HEAD", "u", (), "", ()),
        cache_key("GET", "v", (), "", ()),
        cache_key("POST", "u", (), "b", ()),
        cache_key("GET", "u", (("accept", "a"),), "", ()),
        cache_key("GET", "u", (("accept", "b"),), "", ()),
        cache_key("GET", "u", (), "", ["key"]),
        cache_key("GET", "u", (), "", ["key", "contact"]),
        cache_key("GET", "ub", (), "", ()),
        cache_key("GETu", "", (), "", ()),
    }
    assert len(keys) == 10
    one = cache_key("GET", "u", (("a", "1"), ("b", "2")), "", ["x", "y"])
    assert one == cache_key("GET", "u", (("B", "2"), ("A", "1")), "", ["y", "x"])


def test_the_oldest_answers_go_when_the_cache_is_full(tmp_path: Path) -> None:
    clock = SkippingClock()
    path = tmp_path / "cache.sqlite3"
    cache = Cache(path, 200_000, clock)
    noise = random.Random(1)
    for number in range(100):
        clock.skipped += 1
        body = noise.randbytes(5000).hex()
        keep(cache, key(str(number)), Response(200, URL, (), body, len(body)), ())
    keep(cache, key("huge"), Response(200, URL, (), "x" * 100_000, 100_000), ())
    kept = [number for number in range(100) if get(cache, key(str(number)), fresh=1000)]
    assert kept
    assert kept == list(range(min(kept), 100))
    assert get(cache, key("huge")) is None, "one answer must not push out all others"
    cache.close()
    assert path.stat().st_size < 400_000, "space that was freed goes back to the disk"


def test_a_changed_byte_is_a_miss_and_never_a_wrong_answer(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    cache = Cache(path, 2**20, SystemClock())
    keep(cache, key(), ANSWER, ())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE answer_v2 SET body = replace(body, 'feed', 'fead')")
    connection.close()
    assert get(cache, key()) is None
    cache.close()


@pytest.mark.parametrize("damage", ["whole", "header", "pages"])
def test_a_damaged_file_is_replaced(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache.sqlite3"
    cache = Cache(path, 2**20, SystemClock())
    for number in range(50):
        keep(cache, key(str(number)), ANSWER, ())
    cache.close()
    data = bytearray(path.read_bytes())
    noise = random.Random(2)
    start, end = {"whole": (0, len(data)), "header": (0, 60), "pages": (4096, len(data))}[damage]
    data[start:end] = noise.randbytes(end - start)
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "carrel.fetch"):
        cache = Cache(path, 2**20, SystemClock())
        for number in range(50):
            assert get(cache, key(str(number))) in {None, ANSWER}
        keep(cache, key(), ANSWER, ())
        cache.close()
        cache = Cache(path, 2**20, SystemClock())
        assert get(cache, key()) is not None
        cache.close()
    assert "replaced" in caplog.text


def test_an_unusable_folder_means_no_cache_and_one_warning_each_way(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING, "carrel.fetch"):
        cache = Cache(tmp_path / "file" / "cache.sqlite3", 2**20, SystemClock())
        for _ in range(3):
            keep(cache, key(), ANSWER, ())
            assert get(cache, key()) is None
        cache.close()
    assert len(caplog.records) == 2


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root and Windows write where they like"
)
def test_a_read_only_folder_means_no_cache(tmp_path: Path) -> None:
    folder = tmp_path / "sealed"
    folder.mkdir(mode=0o500)
    cache = Cache(folder / "cache.sqlite3", 2**20, SystemClock())
    keep(cache, key(), ANSWER, ())
    assert get(cache, key()) is None
    cache.close()


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_only_the_user_can_read_the_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "a" / "cache.sqlite3", 2**20, SystemClock())
    keep(cache, key(), ANSWER, ())
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0
    for file in (tmp_path / "a").iterdir():
        assert file.stat().st_mode & 0o077 == 0, file.name
    cache.close()


_WRITE_ON_A_FULL_DISK = """
import logging, resource, sys
from pathlib import Path
from carrel.exchange import Response, Verdict
from carrel.fetch.cache import Cache, cache_key
from carrel.fetch.clock import SystemClock

logging.basicConfig(level=logging.WARNING, stream=sys.stdout)
cache = Cache(Path(sys.argv[1]), 2**26, SystemClock())
small = Response(200, "u", (), "x" * 1000, 1000)
cache.put(b"before", small, ())
cache.settle([b"before"], Verdict.READ)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for number in range(50):
    cache.put(b"%d" % number, Response(200, "u", (), "x" * 20_000, 20_000), ())
found = cache.get(b"before", fresh_seconds=60, negative_seconds=60)
print("kept" if found and found.response.body == small.body else "lost")
cache.close()
"""


def test_a_full_disk_loses_new_answers_but_neither_old_ones_nor_the_call(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="file size limits stand in for a full disk")
    path = tmp_path / "cache.sqlite3"
    done = subprocess.run(
        [sys.executable, "-c", _WRITE_ON_A_FULL_DISK, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "kept"
    assert done.stdout.count("WARNING") == 1
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


_WRITE_FOR_EVER = """
import itertools, sys
from pathlib import Path
from carrel.exchange import Response, Verdict
from carrel.fetch.cache import Cache
from carrel.fetch.clock import SystemClock

cache = Cache(Path(sys.argv[1]), 2**21, SystemClock())
for number in itertools.count():
    body = f"{number % 50}:" * 5000
    cache.put(b"%d" % (number % 50), Response(200, "u", (), body, len(body)), ())
    cache.settle([b"%d" % (number % 50)], Verdict.READ)
    if number == 20:
        print("going", flush=True)
"""


def test_a_process_killed_while_writing_leaves_no_partial_response(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    for _ in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", _WRITE_FOR_EVER, str(path)], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"going\n"
        child.kill()
        child.wait()
        child.stdout.close()
        cache = Cache(path, 2**21, SystemClock())
        found = 0
        for number in range(50):
            response = get(cache, b"%d" % number)
            if response is not None:
                found += 1
                assert response.body == f"{number}:" * 5000
        assert found >= 20
        keep(cache, b"after", ANSWER, ())
        assert get(cache, b"after") is not None
        cache.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def look_now(cache: Cache) -> None:
    """Makes the cache run its once-a-second check now."""
    for database in (cache._reader, cache._writer):
        assert database is not None
        database._look_again = 0.0


def test_a_deleted_or_replaced_database_is_recreated(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cache.sqlite3"
    running = Cache(path, 2**20, SystemClock())
    keep(running, key(), ANSWER, ())
    assert get(running, key())
    for file in tmp_path.iterdir():
        file.unlink()
    other = Cache(path, 2**20, SystemClock())
    keep(other, key("/other"), ANSWER, ())
    look_now(running)
    assert get(running, key("/other"))
    keep(running, key("/new"), ANSWER, ())
    assert get(running, key("/new"))
    assert get(other, key("/new"))
    running.close()
    other.close()


def test_damage_while_both_connections_are_open_is_mended_once(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    cache = Cache(path, 2**20, SystemClock())
    for number in range(50):
        keep(cache, key(str(number)), ANSWER, ())
    assert get(cache, key("1"))
    for suffix in ("", "-wal"):
        file = path.with_name(path.name + suffix)
        file.write_bytes(random.Random(3).randbytes(file.stat().st_size))
    for turn in range(20):
        keep(cache, key(f"new {turn}"), ANSWER, ())
        get(cache, key(f"new {turn}"))
    look_now(cache)
    assert get(cache, key("new 19"))
    cache.close()
