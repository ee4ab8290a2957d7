"""Watching: changes of other programs are reported once, own writes are not."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrel.library.answers import LibraryChanges
from carrel.library.file.watching import LibraryWatcher, OwnWrites
from carrel.library.library import Library

from .conftest import SMITH, Open

Seen = queue.Queue[LibraryChanges]
LONG = 20.0


@pytest.fixture
def seen(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    """Subscribes with a short debounce, and collects what is reported."""
    library.add([SMITH])
    found: Seen = queue.Queue()

    def quick(*args: object, **_: object) -> LibraryWatcher:
        return LibraryWatcher(*args, burst=50, quiet=200)  # type: ignore[arg-type]

    monkeypatch.setattr("carrel.library.library.LibraryWatcher", quick)
    stop = library.subscribe(found.put)
    yield found
    stop()


def save(path: Path, change: Callable[[list[dict[str, object]]], object]) -> None:
    """Saves as an editor does: to another file, which is renamed."""
    entries = json.loads(path.read_text("utf-8"))
    change(entries)
    new = path.with_name("new")
    new.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", "utf-8")
    new.replace(path)


@pytest.mark.requirement("reference-manager:watching:editor")
def test_changes_of_an_editor_are_reported_by_key(library: Library, seen: Seen) -> None:
    save(library.path, lambda entries: entries.append({"id": "new", "title": "N"}))
    assert seen.get(timeout=LONG) == LibraryChanges(added=("new",))
    save(library.path, lambda entries: entries[0].update(title="Changed"))
    assert seen.get(timeout=LONG) == LibraryChanges(changed=("smith-2023",))
    save(library.path, lambda entries: entries.pop(0))
    assert seen.get(timeout=LONG) == LibraryChanges(removed=("smith-2023",))
    assert library.list().total == 1


@pytest.mark.requirement("reference-manager:own-writes")
def test_own_writes_are_not_reported(library: Library, seen: Seen) -> None:
    library.add([{"title": "Mine", "type": "book"}])
    library.update("smith-2023", {"note": "n"})
    library.remove("anon-nd-mine")
    save(library.path, lambda entries: entries.append({"id": "theirs"}))
    assert seen.get(timeout=LONG) == LibraryChanges(added=("theirs",))
    assert seen.empty()


@pytest.mark.requirement("reference-manager:watching:library")
def test_another_librarys_writes_are_reported(
    library: Library, seen: Seen, open_library: Open
) -> None:
    open_library().add([{"title": "Theirs", "type": "book"}])
    assert seen.get(timeout=LONG) == LibraryChanges(added=("anon-nd-theirs",))


@pytest.mark.requirement("reference-manager:watch-again")
def test_a_file_that_is_being_written_is_read_again(library: Library, seen: Seen) -> None:
    whole = library.path.read_bytes()
    library.path.write_bytes(whole[:30])
    entries = [*json.loads(whole), {"id": "late"}]
    library.path.write_text(json.dumps(entries), "utf-8")
    changes = seen.get(timeout=LONG)
    assert changes.added == ("late",)


def test_a_file_that_appears_and_goes_is_reported(tmp_path: Path, open_library: Open) -> None:
    library = open_library(tmp_path / "later" / "library.json")
    found: Seen = queue.Queue()
    watcher = LibraryWatcher(
        library._file, library._parsed, OwnWrites(library._lock), found.put, burst=50, quiet=200
    )
    watcher.start()
    try:
        library.path.parent.mkdir()
        library.path.write_text(json.dumps([{"id": "a"}]), "utf-8")
        assert found.get(timeout=LONG) == LibraryChanges(added=("a",))
        library.path.unlink()
        assert found.get(timeout=LONG) == LibraryChanges(removed=("a",))
    finally:
        watcher.stop()


@pytest.mark.requirement("reference-manager:watch-again:polled")
def test_without_file_events_the_file_is_polled(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_events(*_: object, **__: object) -> None:
        raise RuntimeError("no inotify")

    monkeypatch.setattr("watchfiles.watch", no_events)
    found: Seen = queue.Queue()
    watcher = LibraryWatcher(
        library._file, library._parsed, OwnWrites(library._lock), found.put, burst=50, quiet=50
    )
    watcher.start()
    try:
        library.add([SMITH])
        assert found.get(timeout=LONG).added == ("smith-2023",)
    finally:
        watcher.stop()


def test_a_subscriber_that_fails_does_not_keep_others_from_the_change(
    library: Library, seen: Seen
) -> None:
    def fail(_: LibraryChanges) -> None:
        raise ValueError

    stop = library.subscribe(fail)
    second: Seen = queue.Queue()
    library.subscribe(second.put)
    save(library.path, lambda entries: entries.append({"id": "new"}))
    assert second.get(timeout=LONG) == seen.get(timeout=LONG) == LibraryChanges(added=("new",))
    stop()
