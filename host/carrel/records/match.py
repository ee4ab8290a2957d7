"""Groups records that describe the same work.

1. `_join_answers`: records with one DOI, and the answers to one identifier. An answer whose DOI is
   not that of the others' best source is part of the work, as a contradiction to show; its
   identifiers join nothing.
2. `_join_by_identifier`: records with a common arXiv id (ignoring its version), PMID, PMCID or
   identifier of an index, transitively. Registries, PubMed, Europe PMC, arXiv and DOAJ are
   believed. What other sources say joins nothing where it would make one work of two with different
   DOIs or PMIDs.
3. `_join_by_title`: by title, first author and year, for records that no identifier joins, and only
   if unambiguous: if two records that agree in these three have different identifiers of one kind
   (two DOIs: a series, a reprint, two editorials), none of them is joined.

So no index and no stranger's plugin, wrong or hostile, makes one work of two that registries tell
apart. Each step uses the whole set, so the order of records does not matter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import combinations
from typing import Final

from .ids import KINDS, Kind
from .merge import MergedWork, flat, merge
from .order import PRIMARY, json_text, record_rank
from .work import Work

#: Minimum number of letters and digits in a title that identifies a work, more than in "Table of
#: contents". Scripts with one or two characters per word need fewer.
_TITLE_LENGTH: Final = 20
_TITLE_LENGTH_IDEOGRAPHIC: Final = 8

#: Kinds of which a work has one. Two e-prints or two manuscripts can be of one work.
_DISTINCT: Final[tuple[Kind, ...]] = ("doi", "pmid")

#: The identifiers of a record that join it with others.
_Names = Sequence[tuple[Kind, str]]


def same_work(first: Work, second: Work) -> bool:
    """Returns whether two records, on their own, describe one work."""
    return len(group([first, second])) == 1


def group(
    records: Iterable[Work | MergedWork], *, same: Iterable[Sequence[Work]] = ()
) -> list[MergedWork]:
    """Returns the works that these records are of, each merged, in an order of their own.

    A merged work is split into its records first, so earlier merges do not change the result.

    Args:
        records: any number, in any order.
        same: records that are known to be of one work, such as several sources' answers to one
            identifier; each is among `records`. A record that answers several identifiers, without
            a DOI, is of the work that they have in common, if they have one.
    """
    distinct = {json_text(record): record for record in flat(records)}
    ordered = [distinct[text] for text in sorted(distinct)]
    positions = {json_text(record): at for at, record in enumerate(ordered)}
    answers = [sorted({positions[json_text(record)] for record in together}) for together in same]
    joined = _Sets(len(ordered))
    names: list[_Names] = [
        [identifier.work for identifier in record.ids.known()] for record in ordered
    ]
    doubted, shared = _join_answers(ordered, names, answers, joined)
    for at in doubted:
        names[at] = []
    _join_by_identifier(ordered, names, joined, shared)
    _join_by_title(ordered, names, joined)
    return [merge(ordered[at] for at in members) for members in joined.all()]


def _join_answers(
    records: Sequence[Work],
    names: Sequence[_Names],
    answers: Sequence[Sequence[int]],
    joined: _Sets,
) -> tuple[set[int], list[tuple[int, int]]]:
    """Joins records with one DOI, and the answers to one identifier.

    Returns:
        Records whose identifiers join nothing; and pairs of a record that answers several
        identifiers and a record that answers one of them.
    """
    dois = [
        next((name for kind, name in identifiers if kind == "doi"), None) for identifiers in names
    ]
    agreeing: dict[int, list[int]] = {}
    differing: dict[int, list[int]] = {}
    for number, members in enumerate(answers):
        chosen = _believed_doi(records, dois, members)
        for at in members:
            agrees = dois[at] in (None, chosen)
            (agreeing if agrees else differing).setdefault(at, []).append(number)
    doubted = differing.keys() - agreeing.keys()
    first: dict[str, int] = {}
    for at, doi in enumerate(dois):
        if doi is not None and at not in doubted:
            joined.join(at, first.setdefault(doi, at))
    anchors: dict[int, int] = {}
    shared: list[tuple[int, int]] = []
    for at in sorted({*agreeing, *doubted}, key=lambda at: (at in doubted, dois[at] is None, at)):
        numbers = differing[at] if at in doubted else agreeing[at]
        if len(numbers) > 1 and (at in doubted or dois[at] is None):
            shared += [(at, number) for number in numbers if at not in doubted]
            continue
        for number in numbers:
            joined.join(at, anchors.setdefault(number, at))
    return set(doubted), [(at, anchors[number]) for at, number in shared if number in anchors]


def _believed_doi(
    records: Sequence[Work], dois: Sequence[str | None], members: Sequence[int]
) -> str | None:
    """Returns the DOI of the answers to one identifier: that of the best source that names one.

    A DOI that no primary source names is believed only where no primary source has the work.
    """
    primary = [at for at in members if records[at].source in PRIMARY]
    named = [at for at in primary or members if dois[at] is not None]
    best = min(named, key=lambda at: (*record_rank(records[at], "ids.doi"), at), default=None)
    return None if best is None else dois[best]


def _join_by_identifier(
    records: Sequence[Work],
    names: Sequence[_Names],
    joined: _Sets,
    shared: Iterable[tuple[int, int]],
) -> None:
    """Joins records with a common identifier: those of primary sources always, others unless that
    joins sets that contradict each other.
    """
    named: dict[Hashable, int] = {}
    for at, record in enumerate(records):
        if record.source in PRIMARY:
            for name in names[at]:
                joined.join(at, named.setdefault(name, at))
    sets = joined.all()
    home = {at: number for number, members in enumerate(sets) for at in members}
    first: dict[Hashable, int] = {}
    linked = _Sets(len(sets))
    for at, own in enumerate(names):
        for name in own:
            linked.join(home[at], first.setdefault(name, home[at]))
    for at, anchor in shared:
        linked.join(home[at], home[anchor])
    _join_unless_contradicting(sets, linked, names, joined, _DISTINCT)


def fingerprint(work: Work) -> tuple[str, str, str, str] | None:
    """Title, first author, year and the sort of work, each reduced to what sources agree on.

    None if one of them is unknown, or the title is too short to identify a work.
    """
    if work.title is None or work.issued is None or not work.authors:
        return None
    title = _letters(f"{work.title} {work.subtitle or ''}")
    ideographic = sum(character >= "\u2e80" for character in title)
    if len(title) < _TITLE_LENGTH and ideographic < _TITLE_LENGTH_IDEOGRAPHIC:
        return None
    author = work.authors[0]
    # A name in one piece usually ends with the family name; otherwise nothing is joined.
    name = author.family or (author.literal or "").partition(",")[0]
    words = [_letters(word) for word in name.split()]
    if not words or not words[-1]:
        return None
    sort = "article" if work.type.startswith(("article", "paper-")) else work.type
    return title, words[-1], work.issued[:4], sort


def _join_by_title(records: Sequence[Work], names: Sequence[_Names], joined: _Sets) -> None:
    """Joins sets with a common fingerprint, unless two of them contradict each other."""
    sets = joined.all()
    first: dict[Hashable, int] = {}
    linked = _Sets(len(sets))
    for number, members in enumerate(sets):
        for at in members:
            mark = fingerprint(records[at])
            if mark is not None:
                linked.join(number, first.setdefault(mark, number))
    _join_unless_contradicting(sets, linked, names, joined, KINDS)


def _join_unless_contradicting(
    sets: Sequence[Sequence[int]],
    linked: _Sets,
    names: Sequence[_Names],
    joined: _Sets,
    kinds: Collection[Kind],
) -> None:
    """Joins the sets that are linked, unless two have identifiers of one kind, and none in common.

    Args:
        sets: of records.
        linked: which of the sets may be one work.
        names: the identifiers of each record.
        joined: the sets, to be joined.
        kinds: of identifiers that are compared.
    """
    for alike in linked.all():
        if len(alike) == 1:
            continue
        own = [{name for at in sets[number] for name in names[at]} for number in alike]
        if not any(_contradict(own, kind) for kind in kinds):
            for number in alike[1:]:
                joined.join(sets[alike[0]][0], sets[number][0])


def _contradict(several: Iterable[Collection[tuple[Kind, str]]], kind: Kind) -> bool:
    """Whether two of these have identifiers of the kind, and none in common."""
    found = [{name for of, name in identifiers if of == kind} for identifiers in several]
    named = [values for values in found if values]
    if not named or set.intersection(*named):
        return False
    return any(not (left & right) for left, right in combinations(named, 2))


def _letters(text: str) -> str:
    """Returns letters and digits without case, accents and typography."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if character.isalnum())


class _Sets:
    """Disjoint sets of the numbers below `count`."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def join(self, left: int, right: int) -> None:
        """Makes one set of the sets that hold these two."""
        first, second = sorted((self._top(left), self._top(right)))
        self._above[second] = first

    def all(self) -> list[list[int]]:
        """Returns the sets, each sorted, by their smallest number."""
        found: dict[int, list[int]] = {}
        for number in range(len(self._above)):
            found.setdefault(self._top(number), []).append(number)
        return list(found.values())

    def _top(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number
