"""Says what is known about hosts: a small data set, each row with its basis and its source.

A row describes; it is no verdict about a page. A host that is not listed is unknown, not bad.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from .results import Reputation

FILE: Final = Path(__file__).with_name("reputation.toml")


def reputation_of(host: str) -> Reputation | None:
    """Returns what is known about a host or the nearest name above it; None if nothing is.

    Args:
        host: in punycode.
    """
    reputations = data_set()
    labels = host.split(".")
    for start in range(len(labels)):
        found = reputations.get(".".join(labels[start:]))
        if found is not None:
            return found
    return None


@lru_cache(maxsize=1)
def data_set() -> Mapping[str, Reputation]:
    """Returns all rows by host."""
    rows = tomllib.loads(FILE.read_text("utf-8"))["host"]
    return {
        name: Reputation(row["tier"], row["basis"], row["source"])
        for row in rows
        for name in row["names"]
    }
