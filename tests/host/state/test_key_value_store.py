"""Tests what every kind of store promises."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from carrel.errors import StateError
from carrel.state import KeyValueStore

from .conftest import MakeStore


def test_a_value_is_returned_as_it_was_stored(store: KeyValueStore) -> None:
    value = bytes(range(256)) * 10
    store.put("a", value)
    store.put("empty", b"")
    assert (store.get("a"), store.get("empty"), store.get("b")) == (value, b"", None)


def test_a_second_process_sees_the_value_at_once(make_store: MakeStore) -> None:
    one, other = make_store(), make_store()
    one.put("a", b"1")
    assert other.get("a") == b"1"
    assert other.delete("a")
    assert one.get("a") is None


def test_deleting_returns_whether_there_was_an_entry(store: KeyValueStore) -> None:
    store.put("a", b"1")
    assert [store.delete("a"), store.delete("a")] == [True, False]


def test_an_entry_expires(store: KeyValueStore) -> None:
    store.put("short", b"1", seconds=0.05)
    store.put("long", b"1", seconds=60)
    time.sleep(0.06)
    assert (store.get("short"), store.get("long")) == (None, b"1")
    assert store.keys("") == ["long"]
    assert store.delete("short") is False


def test_storing_again_sets_another_expiry(store: KeyValueStore) -> None:
    store.put("a", b"1", seconds=0.05)
    store.put("a", b"2")
    time.sleep(0.06)
    assert store.get("a") == b"2"


@pytest.mark.parametrize("key", ["", "a:b", "*", "[x]", "a\nb", "é", "\ud800", "a\0b", "k" * 1024])
def test_any_text_is_a_key(store: KeyValueStore, key: str) -> None:
    store.put(key, b"1")
    store.put("other", b"2")
    assert store.get(key) == b"1"
    assert sorted(store.keys("")) == sorted([key, "other"])


def test_a_key_that_is_too_long_is_refused(store: KeyValueStore) -> None:
    with pytest.raises(ValueError, match="a key of 1,025 bytes; at most 1,024 are allowed"):
        store.put("é" * 512 + "x", b"1")


def test_keys_are_those_with_the_prefix_in_order(store: KeyValueStore) -> None:
    for key in ("b/2", "b/1", "bb", "a/1", "b*", "é/1", "é"):
        store.put(key, b"1")
    assert store.keys("b/") == ["b/1", "b/2"]
    assert store.keys("b*") == ["b*"]
    assert store.keys("é") == ["é", "é/1"]
    assert store.keys("c") == []


def test_update_replaces_and_deletes(store: KeyValueStore) -> None:
    assert store.update("a", lambda before: (before or b"") + b"x") == b"x"
    assert store.update("a", lambda before: (before or b"") + b"y") == b"xy"
    assert store.get("a") == b"xy"
    assert store.update("a", lambda _: None) is None
    assert store.update("a", lambda _: None) is None
    assert store.keys("") == []


def test_update_sees_no_expired_value(store: KeyValueStore) -> None:
    store.put("a", b"1", seconds=0.05)
    time.sleep(0.06)
    assert store.update("a", lambda before: b"2" if before is None else b"3", seconds=60) == b"2"
    assert store.get("a") == b"2"


def test_an_update_that_raises_changes_nothing(store: KeyValueStore) -> None:
    def fail(_: bytes | None) -> bytes:
        raise RuntimeError("no")

    store.put("a", b"1")
    with pytest.raises(RuntimeError):
        store.update("a", fail)
    assert store.get("a") == b"1"


def test_no_concurrent_update_is_lost(make_store: MakeStore) -> None:
    stores = [make_store() for _ in range(4)]

    def add(store: KeyValueStore) -> None:
        for _ in range(25):
            store.update("n", lambda before: b"%d" % (int(before or b"0") + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, stores * 2))
    assert stores[0].get("n") == b"200"


def test_change_is_called_again_when_another_process_was_faster(make_store: MakeStore) -> None:
    one, other = make_store(), make_store()
    one.put("a", b"1")
    seen: list[bytes | None] = []

    def change(before: bytes | None) -> bytes:
        if not seen:
            other.put("a", b"2")
        seen.append(before)
        return (before or b"") + b"!"

    assert one.update("a", change) == b"2!"
    assert seen == [b"1", b"2"]


def test_a_counter_stops_at_its_limit(store: KeyValueStore) -> None:
    counts = [store.increment("n", 2, limit=5, seconds=60) for _ in range(3)]
    assert counts == [2, 4, None]
    assert store.increment("n", 1, limit=5, seconds=60) == 5
    assert store.get("n") == b"5"
    assert store.increment("other", 6, limit=5, seconds=60) is None
    assert store.get("other") is None


def test_a_counter_gives_back_but_not_below_zero(store: KeyValueStore) -> None:
    store.increment("n", 3, limit=5, seconds=60)
    assert store.increment("n", -1, limit=5, seconds=60) == 2
    assert store.increment("n", -9, limit=5, seconds=60) == 0


def test_a_lower_limit_still_allows_giving_back(store: KeyValueStore) -> None:
    store.increment("n", 5, limit=5, seconds=60)
    assert store.increment("n", -1, limit=2, seconds=60) == 4
    assert store.increment("n", 1, limit=2, seconds=60) is None


def test_a_counter_expires_after_its_first_increment(store: KeyValueStore) -> None:
    store.increment("n", 1, limit=9, seconds=0.2)
    time.sleep(0.12)
    assert store.increment("n", 1, limit=9, seconds=0.2) == 2
    time.sleep(0.12)
    assert store.increment("n", 1, limit=9, seconds=0.2) == 1


def test_a_value_that_is_no_count_is_not_counted(store: KeyValueStore) -> None:
    store.put("a", b"x")
    with pytest.raises(StateError, match="the entry is no counter"):
        store.increment("a", 1, limit=9, seconds=60)
    assert store.get("a") == b"x"


def test_concurrent_increments_together_keep_the_limit(make_store: MakeStore) -> None:
    stores = [make_store() for _ in range(4)]

    def spend(store: KeyValueStore) -> int:
        granted = [store.increment("n", 1, limit=100, seconds=60) for _ in range(40)]
        return sum(count is not None for count in granted)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(spend, stores)) == 100
    assert stores[0].get("n") == b"100"


@pytest.mark.parametrize("limits", [{"max_entries": 3}, {"max_bytes": 33}])
def test_a_full_store_refuses_and_loses_nothing(
    make_store: MakeStore, limits: dict[str, int]
) -> None:
    store = make_store(**limits)
    for key in "abc":
        store.put(key, b"0123456789")
    with pytest.raises(StateError, match="full: 3 of") as caught:
        store.put("d", b"0123456789")
    assert caught.value.retryable
    assert [store.get(key) for key in "abcd"] == [b"0123456789"] * 3 + [None]
    store.put("a", b"9876543210")  # takes the place of its former value
    with pytest.raises(StateError, match="full"):
        store.update("e", lambda _: b"0123456789")
    assert store.delete("b")
    store.put("d", b"0123456789")
    assert store.keys("") == ["a", "c", "d"]


def test_a_refused_value_leaves_the_former_one(make_store: MakeStore) -> None:
    store = make_store(max_bytes=30)
    store.put("a", b"x" * 20)
    with pytest.raises(StateError, match="full"):
        store.put("a", b"y" * 40)
    assert store.get("a") == b"x" * 20


def test_expired_entries_make_room(make_store: MakeStore) -> None:
    store = make_store(max_entries=2)
    store.put("a", b"1", seconds=0.05)
    store.put("b", b"1", seconds=0.05)
    with pytest.raises(StateError):
        store.put("c", b"1")
    time.sleep(0.06)
    store.put("c", b"1")
    store.put("d", b"1")
    assert store.keys("") == ["c", "d"]


def test_an_evicting_store_drops_what_expires_first(make_store: MakeStore) -> None:
    store = make_store(max_entries=3, evict=True)
    store.put("forever", b"1")
    store.put("late", b"1", seconds=600)
    store.put("soon", b"1", seconds=60)
    store.put("new", b"1", seconds=300)
    assert store.keys("") == ["forever", "late", "new"]
    assert store.get("soon") is None


def test_an_evicting_store_frees_enough_bytes(make_store: MakeStore) -> None:
    store = make_store(max_bytes=100, evict=True)
    for number in range(9):
        store.put(f"{number}", b"x" * 9, seconds=60 + number)
    store.put("big", b"x" * 47, seconds=600)
    assert store.keys("") == ["4", "5", "6", "7", "8", "big"]
    with pytest.raises(StateError, match="full"):
        store.put("huge", b"x" * 200)


def test_a_value_that_is_too_large_is_refused(make_store: MakeStore) -> None:
    store = make_store(max_value_bytes=10)
    with pytest.raises(StateError, match="a value of 11 bytes; at most 10 are allowed"):
        store.put("a", b"x" * 11)
    with pytest.raises(StateError, match="a value of 11 bytes"):
        store.update("a", lambda _: b"x" * 11)
    assert store.get("a") is None


def test_a_closed_store_raises(store: KeyValueStore) -> None:
    store.put("a", b"1")
    store.close()
    store.close()
    with pytest.raises(StateError, match="closed"):
        store.get("a")


def test_a_slow_change_blocks_no_other_use(make_store: MakeStore) -> None:
    store = make_store()
    entered, leave = threading.Event(), threading.Event()

    def slowly(_: bytes | None) -> bytes:
        entered.set()
        assert leave.wait(10)
        return b"slow"

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(store.update, "a", slowly)
        assert entered.wait(10)
        store.put("b", b"1")
        assert store.get("b") == b"1"
        leave.set()
        assert slow.result() == b"slow"
