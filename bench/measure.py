"""Measures two sides alternately, and computes figures, ratios and bars.

Absolute times say more about a machine than about a program. So every measurement is a pair, ours
and a counterpart's, taken alternately in one run, and its result is their ratio.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import psutil

#: A document: bytes from a file or the network, or decoded text.
T = TypeVar("T", str, bytes)
#: The unit of a figure: seconds, bytes, seconds per million bytes, a score from 0 to 1, or a share.
Unit = Literal["s", "B", "s/MB", "F1", "share"]


@dataclass(frozen=True)
class Figure:
    """All measurements of one side."""

    values: tuple[float, ...]
    unit: Unit = "s"

    @property
    def median(self) -> float:
        """The median: the usual value."""
        return statistics.median(self.values)

    @property
    def best(self) -> float:
        """The smallest value: without disturbance by other work."""
        return min(self.values)

    def shown(self) -> str:
        """Returns the median for people."""
        value = self.median
        if self.unit in {"F1", "share"}:
            return f"{value:.3f}"
        if self.unit == "B":
            return f"{value / 2**20:.1f} MiB"
        suffix = "" if self.unit == "s" else "/MB"
        for factor, unit in ((1, "s"), (1e3, "ms")):
            if value * factor >= 1:
                return f"{value * factor:.3g} {unit}{suffix}"
        return f"{value * 1e6:.3g} µs{suffix}"


@dataclass(frozen=True)
class Bar:
    """The limit of a ratio.

    Attributes:
        limit: the ratio.
        at_least: whether the ratio is the counterpart's figure by ours, and more is better.
            Otherwise it is our figure by the counterpart's, and less is better.
    """

    limit: float
    at_least: bool = False

    def met(self, ratio: float) -> bool:
        """Returns whether a ratio meets the bar."""
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        case: its name.
        what: a description of ours and the counterpart.
        faster: whether the ratio is counterpart by ours, as for a bar with `at_least`.
        bar: None for a row that is only informative.
        floor: the minimum of ours, if figures are scores.
        ceiling: seconds that ours may take, where a promise is in seconds.
        missing: why it could not be measured; in place of figures.
    """

    case: str
    what: str
    ours: Figure | None = None
    counterpart: Figure | None = None
    bar: Bar | None = None
    faster: bool = False
    missing: str = ""
    floor: float | None = None
    ceiling: float | None = None

    @property
    def ratio(self) -> float | None:
        """The ratio of the medians."""
        return self._ratio(lambda figure: figure.median)

    @property
    def best_ratio(self) -> float | None:
        """The ratio of the smallest values; far from `ratio` on a busy machine."""
        return self._ratio(lambda figure: figure.best)

    @property
    def promised(self) -> bool:
        """Whether it has a bar of any kind."""
        return self.bar is not None or self.floor is not None or self.ceiling is not None

    @property
    def verdict(self) -> str:
        """Whether the bar is met, as a word."""
        if self.ratio is None:
            return "not measured"
        if self.floor is not None and self.ours is not None:
            return "met" if self.ours.median >= self.floor else "missed"
        if self.ceiling is not None and self.ours is not None:
            return "met" if self.ours.median <= self.ceiling else "missed"
        if self.bar is None:
            return "no bar"
        return "met" if self.bar.met(self.ratio) else "missed"

    def _ratio(self, of: Callable[[Figure], float]) -> float | None:
        if self.ours is None or self.counterpart is None:
            return None
        ratio = of(self.ours) / of(self.counterpart)
        return 1 / ratio if self.faster or (self.bar is not None and self.bar.at_least) else ratio


def timed(run: Callable[[T], object], document: T) -> float:
    """Returns the seconds that `run` takes with a document, after a collection; see `unused`."""
    fresh = unused(document)
    gc.collect()
    start = time.perf_counter()
    run(fresh)
    return time.perf_counter() - start


def alternate(*sides: Callable[[], float], rounds: int) -> list[Figure]:
    """Runs the sides alternately for so many rounds; each returns the seconds that it measured."""
    values: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for side, own in zip(sides, values, strict=True):
            own.append(side())
    return [Figure(tuple(own)) for own in values]


def unused(document: T) -> T:
    """Returns a new copy.

    Python caches a string's UTF-8 form once C code has requested it, so a second run with the same
    string would have less work.
    """
    if isinstance(document, str):
        return (document + " ")[:-1]
    return bytes(memoryview(document))


def time_in_turn(*sides: Callable[[T], object], document: T, rounds: int) -> list[Figure]:
    """Times the sides with a document, alternately, after one warm-up round."""
    for side in sides:
        side(document)
    with _harness_out_of_sight():
        return alternate(*(partial(timed, side, document) for side in sides), rounds=rounds)


@contextmanager
def _harness_out_of_sight() -> Iterator[None]:
    """Hides existing objects, mostly the harness's, from the garbage collector.

    A collection of the 40,000 objects of everything that is compared here would evict a side's data
    from the CPU caches: 15 % of parsing 1 MB, 4 % of lxml's time.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def resident_bytes(process: psutil.Process) -> int:
    """Returns the memory that a process holds, each page once.

    The engines of a component's workers map the same file of compiled code. The resident set size
    counts its pages once for each engine, so one more thread seems to take 2 MB more than it does.
    On Linux this is the proportional set size, elsewhere the resident set size.
    """
    memory = process.memory_full_info()
    return int(getattr(memory, "pss", memory.rss))


def pooled(figures: Iterable[Iterable[float]]) -> Figure:
    """Combines many short measurements into one figure."""
    return Figure(tuple(value for figure in figures for value in figure))
