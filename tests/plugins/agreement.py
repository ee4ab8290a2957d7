"""Compares records of a component with an oracle's, down to single texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.crossref_oracle import comparable


def differences(place: str, expected: Any, found: Any) -> Iterator[str]:
    """Yields every place where two records differ, down to single texts."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted({*expected, *found}):
            if key not in expected or key not in found:
                yield f"{place}/{key}: only {'found' if key in found else 'expected'}"
            else:
                yield from differences(f"{place}/{key}", expected[key], found[key])
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: {len(expected)} expected, {len(found)} found"
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from differences(f"{place}[{number}]", one, other)
    elif isinstance(expected, str) and isinstance(found, str):
        one, other = comparable(expected, found)
        if one != other:
            yield f"{place}: {expected!r} expected, {found!r} found"
    elif expected != found:
        yield f"{place}: {expected!r} expected, {found!r} found"
