"""Ranks works that several sources found, by reciprocal rank fusion.

A work's score is the sum of 1 / (60 + rank) over the sources that found it, with rank 1 for a
source's first work. So sources need no common scale, a work that several sources find comes before
one that a single source finds at the same rank, and the first works of every source come early.
Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods" (SIGIR 2009), chose the constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.records import MergedWork

_CONSTANT: Final = 60


def score(ranks: Mapping[str, int]) -> float:
    """Returns the score of a work.

    Args:
        ranks: source → place of the work in its answer, from 1.
    """
    # Summed in one order, because sums of floats depend on it.
    return sum(1 / (_CONSTANT + ranks[source]) for source in sorted(ranks))


def rank_key(work: MergedWork, ranks: Mapping[str, int]) -> tuple[float, int, str, str]:
    """Returns a key that sorts the best work first.

    Works of equal score are ordered by the number of citations, then by title and identifiers, so
    that the order does not depend on which source answered first.
    """
    cited = work.work.cited_by_count or 0
    ids = "+".join(str(identifier) for identifier in work.work.ids.known())
    return -score(ranks), -cited, (work.work.title or "").casefold(), ids
