"""The paper store at several sizes: searching it, and opening it."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.measure import Bar, Row, alternate
from bench.prose import FAMILY, GIVEN, pick, title
from bench.workbench import Workbench
from carrel.papers.store import PaperEntry, PaperStore

SIZES = (1_000, 10_000, 100_000)
#: Two words of every thousandth paper.
_QUERY = "muller wurmloch"


def local_search(bench: Workbench) -> Sequence[Row]:
    """Searches and opens stores of papers that were made up; nothing is fetched."""
    rows: list[Row] = []
    for size in SIZES[: 1 if bench.quick else None]:
        folder = bench.folder / f"papers-{size}"
        make_store(folder, size)
        rows += _rows(bench, folder, size)
        shutil.rmtree(folder)
    return rows


def _rows(bench: Workbench, folder: Path, size: int) -> list[Row]:
    metadata = folder / ".metadata"
    cache = folder / "cache"

    def build() -> float:
        shutil.rmtree(cache, ignore_errors=True)
        return _time(lambda: _opened(folder, cache))

    def read_all() -> float:
        return _time(lambda: [tomllib.loads(path.read_text()) for path in metadata.iterdir()])

    built = alternate(build, read_all, rounds=1 if size > 1_000 else bench.rounds(3, 1))
    store = PaperStore.open(folder, cache)
    found = [paper.key for paper in store.search(_QUERY, 200)]
    assert len(found) == min(200, size // 1_000), found

    def grep() -> None:
        subprocess.run(
            ["grep", "-rliE", "m(u|ü)ller", str(metadata)], check=False, stdout=subprocess.DEVNULL
        )

    searched = alternate(
        lambda: _time(lambda: store.search(_QUERY, 50)),
        lambda: _time(grep),
        rounds=bench.rounds(9, 2),
    )
    opened = alternate(
        lambda: _time(lambda: _opened(folder, cache)),
        lambda: _time(lambda: [path.stat() for path in metadata.iterdir()]),
        rounds=bench.rounds(5, 2),
    )
    store.close()
    text = f"of {size:,} papers"
    return [
        Row(
            f"papers-search-{size}",
            f"a search {text} : grep -ri over the files",
            searched[0],
            searched[1],
            Bar(1.0 if size < SIZES[-1] else 0.1),
        ),
        Row(
            f"papers-open-{size}",
            f"opening a store {text}, listing the latest : stat of all files",
            opened[0],
            opened[1],
            Bar(1.0),
        ),
        Row(
            f"papers-index-{size}",
            f"building the index {text} : tomllib over the files",
            built[0],
            built[1],
        ),
    ]


def make_store(folder: Path, size: int) -> None:
    """Writes the metadata files of so many papers, the same ones on every machine."""
    chance = random.Random(size)
    metadata = folder / ".metadata"
    metadata.mkdir(parents=True)
    for number in range(size):
        special = number % 1_000 == 7
        authors = [f"{pick(chance, GIVEN)} {pick(chance, FAMILY)}" for _ in range(3)]
        entry = PaperEntry(
            title=title(chance) + (" am Wurmloch" if special else ""),
            authors=(*authors, "Jürgen Müller") if special else tuple(authors),
            year=1960 + number % 60,
            doi=f"10.5555/desk.{number}",
            venue=f"Annals of Desks {number % 40}",
            publisher="Quiet Press",
            type="journal-article",
            fetched={
                "fetched_at": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T08:30:12Z",
                "license": "CC-BY-4.0",
                "size_bytes": 1_234_567,
                "source": "unpaywall",
            },
        )
        (metadata / f"doi_10.5555_desk.{number}.toml").write_text(entry.to_toml(), "utf-8")


def _opened(folder: Path, cache: Path) -> None:
    store = PaperStore.open(folder, cache)
    assert store.recent(50)
    store.close()


def _time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
