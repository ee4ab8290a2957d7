"""Finds citations in Typst: `@key`, `@key[p. 3]`, `#cite(<key>, form: "prose")`.

Comments and raw text are left alone, and so are references to labels of the same text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from .cited import (
    Brackets,
    CitedKey,
    CitedWork,
    DocumentCitation,
    DocumentCitations,
    Places,
    blanked,
)
from .locators import read_locator

_RAW: Final = re.compile(r"(?P<fence>`{3,}).*?(?:(?P=fence)|\Z)|`[^`]*`", re.DOTALL)
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|(?<!:)//[^\n]*", re.DOTALL)
_ADDRESS: Final = re.compile(r"\bhttps?://[^\s\])]+")
_NAME: Final = r"[\w](?:[\w:.\-]*[\w\-])?"
_LABEL: Final = re.compile(rf"(?<![(,:\w])(?<![(,:] )<(?P<name>{_NAME})>")
_REFERENCE: Final = re.compile(rf"(?<![\w\\])@(?P<name>{_NAME})")
_CITE: Final = re.compile(
    r"(?<![\w-])cite\(\s*(?:<(?P<name>" + _NAME + r')>|label\(\s*"(?P<label>[^"]+)"\s*\))'
)
_FORM: Final = re.compile(r'\bform\s*:\s*(?:"(?P<name>[a-z]+)"|(?P<none>none)\b)')
_SUPPLEMENT: Final = re.compile(r'\bsupplement\s*:\s*(?:(?P<open>\[)|"(?P<text>[^"]*)")')
_FULL: Final = re.compile(r"\bbibliography\([^()]*\bfull\s*:\s*true", re.DOTALL)


def typst_citations(text: str) -> DocumentCitations:
    """Returns what a Typst text cites."""
    places = Places(text)
    for pattern in (_RAW, _ADDRESS, _COMMENT):
        text = blanked(text, pattern)
    round_brackets, square_brackets = Brackets(text, "()"), Brackets(text, "[]")
    labels = {match["name"] for match in _LABEL.finditer(text)}
    found = [
        _reference(text, match, places, square_brackets)
        for match in _REFERENCE.finditer(text)
        if match["name"] not in labels
    ]
    uncited: list[CitedKey] = []
    for match in _CITE.finditer(text):
        at = places.key(match["name"] or match["label"], match.start(1 if match["name"] else 2))
        end = round_brackets.closing(match.start() + len("cite")) or match.end()
        options = text[match.end() : end]
        form = _FORM.search(options)
        if form and form["none"]:
            uncited.append(at)
        else:
            found.append((match.start(), end + 1, _cite(at, options, form["name"] if form else "")))
    return DocumentCitations(
        _merged(text, sorted(found, key=lambda entry: entry[0])),
        tuple(uncited),
        bool(_FULL.search(text)),
    )


def _reference(
    text: str, match: re.Match[str], places: Places, brackets: Brackets
) -> tuple[int, int, DocumentCitation]:
    work, end = CitedWork(places.key(match["name"], match.start())), match.end()
    if text[end : end + 1] == "[":
        close = brackets.closing(end)
        if close is not None:
            work, end = _supplemented(work, text[end + 1 : close]), close + 1
    return match.start(), end, DocumentCitation((work,))


def _cite(at: CitedKey, options: str, form: str) -> DocumentCitation:
    work = CitedWork(at, author_only=form == "author", suppress_author=form == "year")
    supplement = _SUPPLEMENT.search(options)
    if supplement and supplement["open"]:
        close = Brackets(options, "[]").closing(supplement.start("open"))
        work = _supplemented(work, options[supplement.end("open") : close])
    elif supplement:
        work = _supplemented(work, supplement["text"])
    return DocumentCitation((work,), form == "prose")


def _supplemented(work: CitedWork, text: str) -> CitedWork:
    text = " ".join(text.replace("~", " ").replace("--", "\u2013").split())
    locator, label, rest = read_locator(text)
    if locator is None and rest:
        rest = f", {rest}"
    return replace(work, locator=locator, label=label, suffix=rest)


def _merged(
    text: str, found: list[tuple[int, int, DocumentCitation]]
) -> tuple[DocumentCitation, ...]:
    """Joins neighbours, between which there are only blanks, as Typst does."""
    merged: list[DocumentCitation] = []
    last = -1
    for start, end, citation in found:
        joined = merged and last >= 0 and text[last:start].strip(" \t#") == "" and start >= last
        if joined and not (citation.author_in_text or merged[-1].author_in_text):
            merged[-1] = DocumentCitation((*merged[-1].works, *citation.works))
        else:
            merged.append(citation)
        last = end
    return tuple(merged)
