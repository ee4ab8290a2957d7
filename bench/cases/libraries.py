"""The reference library at 50,000 entries: searching it, opening it, adding to it."""

from __future__ import annotations

import json
import random
import re
import shutil
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from bench.measure import Bar, Row, alternate
from bench.prose import FAMILY, GIVEN, pick, title
from bench.workbench import Workbench
from carrel.library.library import Library

SIZE = 50_000
#: Parts of words that some hundred entries have.
_QUERY = "mull wurmloch"
#: One query of each kind: most match every entry, and the first is a part of every venue.
_KINDS = (
    ("annals", "relevance"),
    ("annals", "title"),
    ('"annals of desks"', "published"),
    ("annals desks", "updated"),
    ("title:a", "relevance"),
    ("author:a", "author"),
    ("type:article-journal", "created"),
    ("year:1999", "relevance"),
    ("doi:10.5555/desk.77", "relevance"),
    ("of", "relevance"),
    ("-", "title"),
)


def reference_library(bench: Workbench) -> Sequence[Row]:
    """Measures a library of invented entries; its index is fresh, as after the first search."""
    size = SIZE // 50 if bench.quick else SIZE
    folder = bench.folder / "library"
    path = make_library(folder, size)
    library = _opened(folder)
    found = library.search(_QUERY, limit=0)
    assert found.total == sum(number % 100 == 7 for number in range(size)), found.total
    pattern = re.compile(r"m[uü]ll", re.IGNORECASE)

    def scan() -> int:
        text = path.read_text("utf-8")
        return sum(1 for _ in pattern.finditer(text))

    searched = alternate(
        lambda: _time(lambda: library.search(_QUERY)),
        lambda: _time(scan),
        rounds=bench.rounds(9, 2),
    )

    def slowest() -> float:
        return max(
            _time(lambda: library.search(query, sort=sort))  # type: ignore[arg-type]  # noqa: B023
            for query, sort in _KINDS
        )

    slowest()
    kinds = alternate(slowest, lambda: _time(scan), rounds=bench.rounds(9, 2))

    def open_and_search() -> None:
        again = _opened(folder)
        assert again.search(_QUERY).total == found.total
        again.close()

    opened = alternate(
        lambda: _time(open_and_search),
        lambda: _time(lambda: json.loads(path.read_bytes())),
        rounds=bench.rounds(5, 2),
    )
    numbers = count()

    def add() -> None:
        [added] = library.add([{"type": "book", "title": f"A new desk {next(numbers)}"}])
        assert added.status == "added"

    def parse_and_write() -> None:
        entries = json.loads(path.read_bytes())
        entries.append({"type": "book", "title": f"A new desk {next(numbers)}"})
        text = json.dumps(entries, indent=2, ensure_ascii=False)
        (folder / "other.json").write_text(text, "utf-8")

    written = alternate(
        lambda: _time(add), lambda: _time(parse_and_write), rounds=bench.rounds(5, 2)
    )
    library.close()
    shutil.rmtree(folder)
    text = f"of {size:,} entries"
    return [
        Row(
            "library-search",
            f"a search with two terms in a library {text} : a regular expression over the file",
            searched[0],
            searched[1],
            Bar(1.0),
        ),
        Row(
            "library-search-kinds",
            f"the slowest of {len(_KINDS)} kinds of searches in a library {text} : a regular "
            "expression over the file",
            kinds[0],
            kinds[1],
            Bar(1.0),
        ),
        Row(
            "library-open",
            f"opening a library {text} with its index, and a search : json.loads of the file",
            opened[0],
            opened[1],
            Bar(0.5),
        ),
        Row(
            "library-add",
            f"adding to a library {text}, flushed : json.loads and json.dumps of the file",
            written[0],
            written[1],
            Bar(1.0),
        ),
    ]


def make_library(folder: Path, size: int) -> Path:
    """Writes a library of so many entries, the same one on every machine."""
    chance = random.Random(size)
    folder.mkdir(parents=True)
    path = folder / "library.json"
    entries = [_entry(chance, number) for number in range(size)]
    path.write_text(json.dumps(entries, indent=2, ensure_ascii=False), "utf-8")
    return path


def _entry(chance: random.Random, number: int) -> dict[str, Any]:
    special = number % 100 == 7
    people = [{"family": pick(chance, FAMILY), "given": pick(chance, GIVEN)} for _ in range(3)]
    moment = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T08:30:12.000Z"
    return {
        "id": f"desk-{number}",
        "type": "article-journal",
        "title": title(chance) + (" am Wurmloch" if special else ""),
        "author": [*people, {"family": "Müller", "given": "Jürgen"}] if special else people,
        "issued": {"date-parts": [[1960 + number % 60, number % 12 + 1]]},
        "container-title": f"Annals of Desks {number % 40}",
        "volume": str(number % 90),
        "DOI": f"10.5555/desk.{number}",
        "custom": {
            "uuid": f"550e8400-e29b-41d4-a716-{number:012d}",
            "created_at": moment,
            "timestamp": moment,
        },
    }


def _time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _opened(folder: Path) -> Library:
    return Library.open(
        folder / "library.json", cache_folder=folder / "cache", backup_folder=folder / "backups"
    )
