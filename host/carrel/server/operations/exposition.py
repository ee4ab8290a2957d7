"""Families of metrics, and their text in Prometheus' exposition format 0.0.4.

A family keeps at most `MOST` sets of label values: further ones are counted under `other`, so that
no client and no plugin can fill the memory.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal

#: Media type of the text.
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
#: Sets of label values of one family.
MOST: Final = 1000
OTHER: Final = "other"

Labels = tuple[str, ...]
Kind = Literal["counter", "gauge", "histogram"]
#: A suffix of the family's name, label values, further labels, value.
Sample = tuple[str, Labels, tuple[tuple[str, str], ...], float]


class MetricFamily:
    """Values of one name by their labels. Thread-safe.

    Args:
        name: with its unit; that of a counter ends in `_total`.
        help_text: one sentence.
        kind: how its values change.
        labels: names.
    """

    def __init__(
        self, name: str, help_text: str, kind: Kind = "counter", labels: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.help_text = help_text
        self.kind = kind
        self.labels = tuple(labels)
        self._lock = threading.Lock()
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, amount: float = 1.0) -> None:
        """Adds to the value of these labels."""
        with self._lock:
            value = self._values.get(labels)
            if value is None:
                labels = self._bounded(labels)
                value = self._values.get(labels, 0.0)
            self._values[labels] = value + amount

    def set(self, value: float, *labels: str) -> None:
        """Sets the value of these labels."""
        with self._lock:
            self._values[self._bounded(labels)] = value

    def replace(self, values: Iterable[tuple[Labels, float]]) -> None:
        """Replaces all values; those of labels that are named twice are added up."""
        found: dict[Labels, float] = {}
        for labels, value in values:
            fits = labels in found or len(found) < MOST
            key = labels if fits else self._other_labels
            found[key] = found.get(key, 0.0) + value
        with self._lock:
            self._values = found

    def samples(self) -> Iterator[Sample]:
        """Yields the current values."""
        with self._lock:
            found = list(self._values.items())
        for labels, value in found:
            yield "", labels, (), value

    @property
    def _other_labels(self) -> Labels:
        return (OTHER,) * len(self.labels)

    def _bounded(self, labels: Labels) -> Labels:
        assert len(labels) == len(self.labels), self.name
        fits = labels in self._values or len(self._values) < MOST
        return labels if fits else self._other_labels


class HistogramFamily(MetricFamily):
    """A distribution by its labels.

    Args:
        name: with its unit.
        help_text: one sentence.
        labels: names.
        bounds: upper bounds of the buckets, ascending; the last bucket has none.
    """

    def __init__(
        self, name: str, help_text: str, labels: Sequence[str] = (), *, bounds: Sequence[float]
    ) -> None:
        super().__init__(name, help_text, "histogram", labels)
        self._bounds = tuple(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._values = {}

    def observe(self, value: float, *labels: str) -> None:
        """Counts a value."""
        with self._lock:
            counts = self._counts.get(labels)
            if counts is None:
                labels = self._bounded(labels)
                counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
            counts[bisect_left(self._bounds, value)] += 1
            self._values[labels] = self._values.get(labels, 0.0) + value

    def samples(self) -> Iterator[Sample]:
        """Yields the buckets, each with those below it, the sum and the count."""
        with self._lock:
            found = [
                (labels, list(counts), self._values[labels])
                for labels, counts in self._counts.items()
            ]
        for labels, counts, total in found:
            below = 0
            for bound, count in zip((*self._bounds, math.inf), counts, strict=True):
                below += count
                yield "_bucket", labels, (("le", _number(bound)),), below
            yield "_sum", labels, (), total
            yield "_count", labels, (), below


class Exposition:
    """The metrics of one server.

    Args:
        families: in the order of the text.
        collect: called before the text is written, to set gauges.
    """

    def __init__(
        self, families: Iterable[MetricFamily], collect: Callable[[], None] = lambda: None
    ) -> None:
        self.families = tuple(families)
        self._collect = collect

    def text(self) -> bytes:
        """Returns the current values; may read from disk."""
        self._collect()
        lines: list[str] = []
        for family in self.families:
            lines += (
                f"# HELP {family.name} {_escaped_help(family.help_text)}",
                f"# TYPE {family.name} {family.kind}",
            )
            for suffix, values, further, value in family.samples():
                pairs = [*zip(family.labels, values, strict=True), *further]
                shown = ",".join(f'{name}="{_escaped(text)}"' for name, text in pairs)
                labels = f"{{{shown}}}" if shown else ""
                lines.append(f"{family.name}{suffix}{labels} {_number(value)}")
        return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _escaped_help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))
