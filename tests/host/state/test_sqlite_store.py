"""Tests the store in a file: processes, kills, full disks, damage, permissions."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.errors import StateError
from carrel.state import StoreLimits
from carrel.state.sqlite_store import SqliteStore
from support.killing import kill_rounds, rounds

WORKER = """
import sys
from pathlib import Path
from carrel.state import StoreLimits
from carrel.state.sqlite_store import SqliteStore

# A quick machine writes more than the usual number of entries before it is killed.
store = SqliteStore(Path(sys.argv[1]), StoreLimits(max_entries=10**6, max_bytes=2**30))
print("ready", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "tests.sqlite"


def open_at(path: Path, **limits: int) -> SqliteStore:
    return SqliteStore(path, StoreLimits(**limits))  # type: ignore[arg-type]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_files_are_the_user_s_own(path: Path) -> None:
    store = open_at(path)
    store.put("a", b"1")
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    store.close()


def test_processes_share_a_counter(path: Path) -> None:
    code = WORKER + "for _ in range(50): store.increment('n', 1, limit=120, seconds=60)"
    children = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    store = open_at(path)
    assert store.get("n") == b"120"
    store.close()


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_process_loses_no_acknowledged_entry(path: Path, tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(
        WORKER
        + "for number in range(int(sys.argv[2]), 10**9):\n"
        + "    store.put(str(number), b'x' * 1000)\n"
        + "    print('done', number, flush=True)\n",
        "utf-8",
    )
    acknowledged: set[str] = set()
    starts = iter(range(0, 10**9, 10**6))
    for keys in kill_rounds(
        worker, lambda _: (str(path), str(next(starts))), count=rounds(4), longest=0.2
    ):
        acknowledged |= set(keys)
        store = open_at(path)
        assert acknowledged <= set(store.keys(""))
        store.close()
    assert acknowledged


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of a file's size")
def test_on_a_full_disk_the_store_raises_and_keeps_what_it_had(path: Path) -> None:
    """The system refuses writes beyond a size, as a full disk does."""
    store = open_at(path)
    store.put("before", b"x" * 1000)
    store.close()
    code = WORKER + (
        "import resource\n"
        "from carrel.errors import StateError\n"
        "store.get('before')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "kept = []\n"
        "for number in range(100):\n"
        "    try:\n"
        "        store.put(f'{number}', b'y' * 10_000)\n"
        "    except StateError as fault:\n"
        "        print(type(fault).__name__, fault.error_code, fault.action)\n"
        "        break\n"
        "    kept.append(f'{number}')\n"
        "assert kept and store.get('before') == b'x' * 1000\n"
        "assert all(store.get(key) == b'y' * 10_000 for key in kept)\n"
        "print(len(kept))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    _ready, fault, kept = done.stdout.splitlines()
    assert fault == "StateError storage free_or_fix_storage"
    store = open_at(path)
    assert len(store.keys("")) == int(kept) + 1
    store.put("after", b"1")
    store.close()


def test_sqlite_s_own_limit_reads_as_a_full_disk(path: Path) -> None:
    store = open_at(path)
    store.put("a", b"x" * 1000)
    assert store._file.connection is not None
    store._file.connection.execute("PRAGMA max_page_count = 20")
    with pytest.raises(StateError, match="the disk is full; free space on it") as caught:
        store.put("b", b"x" * 200_000)
    assert (caught.value.retryable, caught.value.advice) == (False, "")
    assert (store.get("a"), store.get("b")) == (b"x" * 1000, None)
    store._file.connection.execute("PRAGMA max_page_count = 20000")
    store.put("b", b"x" * 200_000)
    store.close()


@pytest.mark.parametrize("damage", [b"not a database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_set_aside(
    path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    store = open_at(path)
    store.put("a", b"1")
    assert store.get("a") == b"1"
    [kept] = path.parent.glob("*.damaged-*")
    assert kept.read_bytes() == damage
    assert "was damaged and starts anew" in caplog.text
    store.close()


def test_a_deleted_file_is_created_again(path: Path) -> None:
    store = open_at(path)
    store.put("a", b"1")
    for one in path.parent.iterdir():
        one.unlink()
    assert store.get("a") is None
    store.put("a", b"2")
    other = open_at(path)
    assert other.get("a") == b"2"
    store.close()
    other.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = open_at(tmp_path / "file" / "tests.sqlite")
    with pytest.raises(StateError, match=r"tests\.sqlite: .*; check the disk and its folder"):
        store.get("a")
    store.close()


def test_a_file_that_another_process_holds_is_busy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.state.sqlite_store._BUSY_SECONDS", 0.05)
    store = open_at(path)
    store.put("a", b"1")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.get("a") == b"1"
    with pytest.raises(StateError, match="another process has used the file") as caught:
        store.put("a", b"2")
    assert caught.value.retryable
    other.execute("ROLLBACK")
    store.put("a", b"2")
    other.close()
    store.close()


def test_the_file_shrinks_when_entries_expire(path: Path) -> None:
    now = [1_000_000.0]
    store = SqliteStore(path, StoreLimits(), wall=lambda: now[0])
    for number in range(20):
        store.put(f"{number}", b"x" * 100_000, seconds=60)
    now[0] += 61
    store.put("a", b"1")
    store.close()
    assert path.stat().st_size < 200_000
