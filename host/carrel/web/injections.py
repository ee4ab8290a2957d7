"""Marks passages of a text that address a model in place of a person.

What a page hides is removed before (`plugins/page`), as are invisible characters
(`carrel.documents.invisible`). What a person can see stays, because an article about injections
quotes them; this module says where such passages are, so that the text is read with care. It
detects known phrases only: an attacker can choose others.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any, Final, NamedTuple

from carrel.text.printable import printable

#: Marks of one answer, and characters of the passage that each shows.
MOST: Final = 20
_SHOWN: Final = 160
#: Characters of a text that are looked at in one answer.
_LONGEST: Final = 2_000_000

KINDS: Final = ("override", "addressee", "role", "tool_request", "delimiter")


class _Pattern(NamedTuple):
    kind: str
    words: tuple[str, ...]
    regex: re.Pattern[str]

    def may_match(self, text: str) -> bool:
        """Whether a text has one of the words without which nothing matches."""
        return any(word in text for word in self.words)


@lru_cache(maxsize=1)
def _patterns() -> tuple[_Pattern, ...]:
    data = tomllib.loads(files(__package__).joinpath("injections.toml").read_text("utf-8"))
    return tuple(
        _Pattern(entry["kind"], tuple(entry["words"]), re.compile(entry["regex"]))
        for entry in data["pattern"]
    )


#: Letters that look like Latin ones → those.
_ALIKE: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝгпкмвнтαιορντυκɑɡıø\u2019\u2018\u02bc",
    "aeopcyxijshdqwrnkmbhtaiopvtukagio'''",
)


def find_injections(text: str, *, start: int = 0) -> list[dict[str, Any]]:
    """Returns the passages that address a model: kind, position and an excerpt.

    Args:
        text: a part of a page.
        start: its position in the whole text.
    """
    text = text[:_LONGEST]
    found = _matches(text)
    marks: list[dict[str, Any]] = []
    end = -1
    for at in sorted(found):
        if at < end:
            continue
        end, kind = found[at]
        excerpt = printable(" ".join(text[at : max(end, at + 80)].split()), _SHOWN)
        marks.append({"kind": kind, "from": start + at, "text": excerpt})
        if len(marks) == MOST:
            break
    return marks


def _matches(text: str) -> dict[int, tuple[int, str]]:
    """Returns the start of each match with its end and its kind; of several the longest."""
    forms = [_folded(text)]
    alike = forms[0].translate(_ALIKE)
    if alike != forms[0]:
        forms.append(alike)
    found: dict[int, tuple[int, str]] = {}
    for form in forms:
        for pattern in _patterns():
            if not pattern.may_match(form):
                continue
            for match in islice(pattern.regex.finditer(form), 10 * MOST):
                at = match.start() + (len(match[0]) - len(match[0].lstrip()))
                if match.end() > found.get(at, (0, ""))[0]:
                    found[at] = (match.end(), pattern.kind)
    return found


def addresses_model(text: str) -> bool:
    """Whether a short text, such as a description, addresses a model."""
    folded = _folded(text[:5000])
    return any(
        pattern.may_match(form) and pattern.regex.search(form)
        for form in {folded, folded.translate(_ALIKE)}
        for pattern in _patterns()
    )


def _folded(text: str) -> str:
    """Returns a text of the same length in lower case, its spaces and letters in plain forms."""
    if text.isascii():
        return text.lower()
    return "".join(map(_plain, text))


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    for form in (unicodedata.normalize("NFKC", character).lower(), character.lower()):
        if len(form) == 1:
            return " " if form.isspace() and form != "\n" else form
    return character
