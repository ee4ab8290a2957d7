"""Divides names that a source gives in one text, given names first, for citing.

A citation needs the family name. arXiv, OpenAlex, Semantic Scholar and DOAJ have names in one text;
other sources divide names of persons, and what they do not divide is an organisation. So only names
of the former are divided, where they read as a person's: two to five words without a word of
organisations. Particles belong to the family name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from carrel.bibliography import Item

#: Sources that have names in one text.
_WHOLE: Final = frozenset({"arxiv", "openalex", "semanticscholar", "doaj"})
_PARTICLES: Final = frozenset((
    "af", "al", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos", "du",
    "el", "la", "le", "ten", "ter", "van", "von", "zu",
))  # fmt: skip
_SUFFIXES: Final = frozenset(["jr", "sr", "ii", "iii", "iv"])
_OF_ORGANISATIONS: Final = frozenset((
    "academy", "agency", "and", "archives", "association", "authority", "bank", "board", "bureau",
    "center", "centre", "church", "club", "college", "collaboration", "commission", "committee",
    "company", "conference", "congress", "consortium", "corporation", "corp", "council",
    "department", "editors", "federation", "for", "force", "foundation", "gmbh", "government",
    "group", "inc", "initiative", "institute", "institution", "international", "investigators",
    "laboratory", "library", "llc", "ltd", "ministry", "museum", "nations", "national", "network",
    "of", "office", "organisation", "organization", "press", "project", "school", "service",
    "society", "staff", "study", "task", "team", "the", "union", "university",
))  # fmt: skip


def with_divided_names(item: Item, sources: Iterable[str]) -> Item:
    """Returns an item whose literal names are divided.

    Args:
        item: of a work.
        sources: that the names come from.
    """
    if not _WHOLE.intersection(sources):
        return item
    changed = dict(item)
    for variable in ("author", "editor"):
        people = item.get(variable)
        if isinstance(people, list):
            changed[variable] = [_divided(person) for person in people]
    return changed


def divide(name: str) -> tuple[str, str, str] | None:
    """Returns family name, given names and suffix; None for a name that is not a person's."""
    plain = " ".join(name.split())
    suffix = ""
    words = plain.replace(",", " ").split() if plain.endswith(("Jr", "Jr.", "Sr", "Sr.")) else []
    words = words or plain.split()
    if len(words) > 2 and words[-1].strip(".").lower() in _SUFFIXES:
        suffix = words.pop()
    if not 2 <= len(words) <= 5 or not all(_is_word(word) for word in words):
        return None
    if any(word.strip(".").lower() in _OF_ORGANISATIONS for word in words):
        return None
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    if not (_has_capital(words[0]) and _has_capital(words[-1])):
        return None
    return " ".join(words[start:]), " ".join(words[:start]), suffix


def _divided(person: Any) -> Any:
    if not isinstance(person, dict) or person.get("family") or not person.get("literal"):
        return person
    parts = divide(str(person["literal"]))
    if parts is None:
        return person
    family, given, suffix = parts
    rest = {name: value for name, value in person.items() if name != "literal"}
    return {"family": family, "given": given, **({"suffix": suffix} if suffix else {}), **rest}


def _is_word(word: str) -> bool:
    return all(char.isalpha() or char in "-.'’" for char in word)  # noqa: RUF001 - an apostrophe


def _has_capital(word: str) -> bool:
    return any(char.isupper() for char in word)
