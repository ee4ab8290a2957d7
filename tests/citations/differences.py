"""Compares rendered bibliographies entry by entry, and groups the differences by kind."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Entries = Sequence[Mapping[str, Any]]

_TOKEN = re.compile(r"\w+|[^\w\s]|\s+")
_ENTRY = re.compile(r'<div class="csl-entry">(.*)</div>')
_QUOTES = "“”‘’\"'«»„‚’`"


@dataclass(frozen=True)
class Difference:
    """An entry that two engines render differently; a text is None where an entry is missing."""

    style: str
    id: str
    found: str | None
    expected: str | None

    @property
    def kind(self) -> str:
        """Returns what differs, without the words of this entry."""
        if self.found is None or self.expected is None:
            return "entry missing" if self.found is None else "entry not expected"
        return "; ".join(dict.fromkeys(_kinds(self.found, self.expected)))


@dataclass(frozen=True)
class Agreement:
    """How many entries of a style agree, and those that do not."""

    style: str
    total: int
    differences: tuple[Difference, ...]
    same_order: bool

    @property
    def agreeing(self) -> int:
        return self.total - len(self.differences)


def compare(style: str, found: Entries, expected: Entries) -> Agreement:
    """Compares entries by their ids, character for character; runs of white space are alike."""
    ours = {str(entry["id"]): normal(entry["text"]) for entry in found}
    theirs = {str(entry["id"]): normal(entry["text"]) for entry in expected}
    ids = [*theirs, *(name for name in ours if name not in theirs)]
    return Agreement(
        style,
        len(ids),
        tuple(
            Difference(style, name, ours.get(name), theirs.get(name))
            for name in ids
            if ours.get(name) != theirs.get(name)
        ),
        list(ours) == list(theirs),
    )


def normal(text: str) -> str:
    """Returns a text with single blanks, and HTML without the element around an entry."""
    text = " ".join(text.split())
    entry = _ENTRY.fullmatch(text)
    return entry[1].strip() if entry else text


def by_kind(differences: Sequence[Difference]) -> list[tuple[str, list[Difference]]]:
    """Groups differences, the most frequent kind first."""
    groups: dict[str, list[Difference]] = {}
    for difference in differences:
        groups.setdefault(difference.kind, []).append(difference)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def summary(agreements: Sequence[Agreement]) -> str:
    """Returns a table: the agreement of each style and of all."""
    lines = [
        f"{one.style:42}{one.agreeing:5} of {one.total:4}  {one.agreeing / max(one.total, 1):7.1%}"
        f"{'' if one.same_order else '  another order'}"
        for one in agreements
    ]
    total = sum(one.total for one in agreements)
    agreeing = sum(one.agreeing for one in agreements)
    lines.append(f"{'all':42}{agreeing:5} of {total:4}  {agreeing / max(total, 1):7.1%}")
    return "\n".join(lines)


def listing(differences: Sequence[Difference], *, examples: int = 3) -> str:
    """Returns the kinds of differences in order of frequency, with the first of each."""
    parts = []
    for kind, group in by_kind(differences):
        styles = Counter(one.style for one in group).most_common()
        where = ", ".join(f"{style} {count}" for style, count in styles)
        parts.append(f"## {len(group)} × {kind}\n\nin {where}\n")
        parts += [
            f"- {one.style} {one.id}\n  - ours:   {one.found}\n  - oracle: {one.expected}"
            for one in _varied(group, examples)
        ]
        parts.append("")
    return "\n".join(parts)


def _varied(group: Sequence[Difference], count: int) -> list[Difference]:
    """Returns examples from as many styles as there are."""
    first = {one.style: one for one in reversed(group)}
    chosen = list(first.values())[::-1]
    return [*chosen, *(one for one in group if one not in chosen)][:count]


def _kinds(found: str, expected: str) -> Iterator[str]:
    """Yields what is between the two texts: words stand for themselves only where they are few."""
    ours, theirs = _TOKEN.findall(found), _TOKEN.findall(expected)
    if found.casefold() == expected.casefold():
        yield "case"
        return
    for tag, a, b, c, d in difflib.SequenceMatcher(
        None, ours, theirs, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            continue
        one, other = "".join(ours[a:b]), "".join(theirs[c:d])
        if one.casefold() == other.casefold():
            yield "case"
        elif one.strip(_QUOTES) == other.strip(_QUOTES):
            yield f"quotes {one!r} for {other!r}"
        elif sorted(re.findall(r"\w+", found)) == sorted(re.findall(r"\w+", expected)) and (
            re.search(r"\w", one + other)
        ):
            yield "order of words"
        else:
            yield f"{_shape(one)!r} for {_shape(other)!r}"


def _shape(text: str) -> str:
    """Returns a text in which numbers and long runs of words are replaced by what they are."""
    text = re.sub(r"\d+", "9", text)
    words = re.findall(r"\w+", text)
    return text if len(words) <= 2 else f"({len(words)} words)"
