"""Works on a library until it is killed or has done its steps, and says what is done.

Arguments: `server` or `editor`, the library, a folder for cache and backups, a name, and the number
of steps (0 for endlessly). A server adds, changes and removes entries of its own. An editor changes
the file without Carrel: it reads it, and saves it by a rename if it is still what it read.

The library is CSL-JSON or BibTeX, by its suffix. All change the entry `shared`: in CSL-JSON each
has a member of its own; in BibTeX servers add tags, and the editor changes the note.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from carrel.files.exchange import exchange
from carrel.library.errors import LibraryError
from carrel.library.library import Library


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def present(change: Callable[[], object]) -> None:
    """Changes an entry that was added.

    It is missing, or in an earlier state, for the moment in which the editor's file is in place,
    before the editor finds that it replaced a newer one and undoes that.
    """
    for _ in range(100):
        try:
            change()
        except LibraryError as error:
            if error.library_code not in ("NOT_FOUND", "CONFLICT"):
                raise
            time.sleep(0.001)
        else:
            return
    raise AssertionError("the entry is lost")


def server(path: Path, folder: Path, name: str) -> Any:
    """Adds an entry at each step, changes every third, and removes every fourth."""
    library = Library.open(path, cache_folder=folder / "cache", backup_folder=folder / "backups")
    library.subscribe(lambda _: None)
    say("ready")
    for number in count(1):
        key = f"{name}-{number}"
        [added] = library.add([{"id": key, "type": "book", "title": f"Desk {key}", "note": "new"}])
        assert added.status == "added", added
        say(f"done add {key}")
        if number % 3 == 0:
            present(lambda key=key: library.update(key, {"note": "changed"}))  # type: ignore[misc]
            say(f"done change {key}")
        if number % 4 == 0:
            say(f"done removing {key}")
            present(lambda key=key: library.remove(key))  # type: ignore[misc]
            say(f"done remove {key}")
        while True:
            try:
                library.update("shared", _own_share(library, name, number))
                break
            except LibraryError as error:
                assert error.library_code == "CONFLICT", error
        say(f"done share {number}")
        yield


def _own_share(library: Library, name: str, number: int) -> dict[str, Any]:
    if library.path.suffix == ".json":
        return {f"by-{name}": str(number)}
    tags = library.get("shared").get("custom", {}).get("tags", [])
    return {"custom": {"tags": [*tags, f"{name}-{number}"]}}


def edited_json(before: bytes, name: str, number: int) -> bytes:
    """Returns the file in another style of indentation, with a further entry."""
    entries = json.loads(before)
    entries.append({"id": f"{name}-{number}", "title": "By the editor"})
    for entry in entries:
        if entry["id"] == "shared":
            entry[f"by-{name}"] = str(number)
    return json.dumps(entries, indent=1 + number % 4).encode()


def edited_bibtex(before: bytes, name: str, number: int) -> bytes:
    """Returns the file with a further entry before the others."""
    text = re.sub(r"note = \{\d*\}", f"note = {{{number}}}", before.decode())
    return f"@misc{{{name}-{number}, title = {{By the editor}}}}\n\n{text}".encode()


def editor(path: Path, folder: Path, name: str) -> Any:
    """Adds an entry at each step, and changes the shared one."""
    edited = edited_json if path.suffix == ".json" else edited_bibtex
    say("ready")
    new = folder / f"{name}.saving"
    for number in count(1):
        time.sleep(0.02)
        while True:
            before = path.read_bytes()
            new.write_bytes(edited(before, name, number))
            if path.read_bytes() != before:
                continue  # changed on disk: the editor loads it again
            assert exchange(new, path)
            if new.read_bytes() == before:
                break
            exchange(new, path)
        say(f"done add {name}-{number}")
        say(f"done share {number}")
        yield


def main() -> None:
    kind, path, folder, name, steps = sys.argv[1:]
    work = {"server": server, "editor": editor}[kind](Path(path), Path(folder), name)
    for number, _ in enumerate(work, start=1):
        if number == int(steps):
            break
    say("end")


if __name__ == "__main__":
    main()
