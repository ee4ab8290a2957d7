"""Tests how SQLite files are opened and how their faults are distinguished."""

from __future__ import annotations

import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.files.sqlite_file import BUSY, DAMAGED, SqliteFile, result_code, transaction


def create_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS t (x INTEGER)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "test.sqlite3"


@pytest.fixture
def file(path: Path) -> Iterator[SqliteFile]:
    file = SqliteFile(path, create_table, busy_seconds=0.05)
    yield file
    file.close()


def numbers(file: SqliteFile) -> list[int]:
    return [x for (x,) in file.connect().execute("SELECT x FROM t ORDER BY x")]


def test_only_the_user_can_read_the_file_and_its_folder(file: SqliteFile, path: Path) -> None:
    file.connect()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def insert_and_raise(connection: sqlite3.Connection, number: int) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        raise ZeroDivisionError


def insert(connection: sqlite3.Connection, number: int) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO t VALUES (?)", (number,))


def test_a_transaction_that_raises_is_rolled_back(file: SqliteFile) -> None:
    connection = file.connect()
    insert(connection, 1)
    with pytest.raises(ZeroDivisionError):
        insert_and_raise(connection, 2)
    assert not connection.in_transaction
    assert numbers(file) == [1]


def test_an_inner_transaction_is_part_of_the_outer_one(file: SqliteFile) -> None:
    def outer(connection: sqlite3.Connection) -> None:
        with transaction(connection):
            insert(connection, 1)
            insert_and_raise(connection, 2)

    with pytest.raises(ZeroDivisionError):
        outer(file.connect())
    assert numbers(file) == []


def test_a_deleted_and_a_replaced_file_are_noticed(file: SqliteFile, path: Path) -> None:
    assert not file.was_replaced(), "it is not open"
    file.connect()
    assert not file.was_replaced()
    path.rename(path.with_name("other"))
    assert file.was_replaced()
    path.write_bytes(b"")
    assert file.was_replaced()
    file.close()
    file.connect()
    assert not file.was_replaced()


def test_a_damaged_file_can_be_removed_or_renamed(file: SqliteFile, path: Path) -> None:
    path.parent.mkdir()
    for end in (file.remove, lambda: file.rename(path.with_name("damaged"))):
        path.write_bytes(b"no database" * 100)
        path.with_name(f"{path.name}-wal").write_bytes(b"")
        with pytest.raises(sqlite3.DatabaseError) as caught:
            file.connect()
        assert result_code(caught.value) in DAMAGED
        assert end()
        assert not path.exists()
        assert not path.with_name(f"{path.name}-wal").exists()
    assert path.with_name("damaged").exists()
    assert numbers(file) == []


def test_opening_waits_for_a_process_that_locks_the_file(file: SqliteFile, path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    timer = threading.Timer(0.2, other.execute, ("COMMIT",))
    timer.start()
    assert numbers(file) == []
    timer.join()
    other.close()


def test_opening_a_locked_file_ends_with_busy(file: SqliteFile, path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    with pytest.raises(sqlite3.OperationalError) as caught:
        file.connect()
    assert result_code(caught.value) in BUSY
    assert 0.4 < time.monotonic() - started < 5
    other.close()


def test_a_database_in_memory_has_no_file(tmp_path: Path) -> None:
    file = SqliteFile(None, create_table, busy_seconds=0.05)
    file.connect().execute("INSERT INTO t VALUES (1)")
    assert numbers(file) == [1]
    assert not file.was_replaced()
    assert file.remove()
    assert not file.rename(tmp_path / "other")
    file.close()
    assert numbers(file) == []
    file.close()
