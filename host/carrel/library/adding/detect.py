"""Says what a pasted text is: a bibliography, identifiers, file names or citations.

The order: JSON by its first bracket, BibTeX by `@`, RIS by `TY`, nbib by `PMID-`, EndNote by its
XML; then line by line DOI, arXiv, ISBN, PMID, PMCID, as such or in a URL; then names of files; a
text of several words that is none of these is a citation. Nothing is asked of any source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.records import Id, IdFault, parse_isbn
from carrel.text.printable import printable

InputKind = Literal["identifier", "bibliography", "file", "citation", "unknown"]

#: Suffixes of files that are read: of PDFs, and of bibliographies.
PDF_SUFFIX: Final = ".pdf"
BIBLIOGRAPHY_SUFFIXES: Final = (
    ".bib", ".bibtex", ".ris", ".nbib", ".json", ".csljson", ".xml", ".enw", ".medline"
)  # fmt: skip
#: Words of the shortest text that is taken for a citation.
_CITATION_WORDS: Final = 4
#: Characters of an input that an outcome shows.
_SHOWN: Final = 120

_BIBTEX = re.compile(r"\s*(?:%[^\n]*\n\s*)*@\s*[a-z]+\s*[{(]", re.IGNORECASE)
_RIS = re.compile(r"\s*TY {0,2}-", re.IGNORECASE)
_NBIB = re.compile(r"\s*PMID ?-", re.IGNORECASE)
_XML = re.compile(r"\s*<(?:\?xml|xml\b|records\b)", re.IGNORECASE)
_DOI_INSIDE = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\"'<>]+")
#: What publishers' pages append to a DOI in their URLs.
_PAGE = re.compile(
    r"(?:/(?:full(?:text)?|abstract|pdf|epdf|epub|html|meta|references|summary|download)"
    r"|\.pdf|\.full(?:\.pdf)?|\.abstract)$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![0-9])(?:1[5-9]|20)[0-9]{2}(?![0-9])")
_BULLET = re.compile(r"^\s*(?:[-*•]|\[?[0-9]{1,3}[\].)])\s+")
_URL = re.compile(r"(?:https?:)?//\S+", re.IGNORECASE)
#: A word that labels the one after it: `PMID: 123`.
_LABELS: Final = frozenset({"doi", "arxiv", "pmid", "pmcid", "isbn", "isbn-10", "isbn-13"})


@dataclass(frozen=True, slots=True)
class Input:
    """One input.

    Attributes:
        source: the text, shortened, for the outcome.
        kind: what it is.
        text: the text; of a bibliography all of it.
        id: the identifier in it.
    """

    source: str
    kind: InputKind
    text: str
    id: Id | None = None


def detect(texts: Sequence[str]) -> list[Input]:
    """Returns the inputs in some texts, in their order."""
    return [detected for text in texts for detected in _of_text(text)]


def identifier_in(text: str) -> Id | None:
    """Returns the identifier that a text is, or that a URL names; None for other texts."""
    try:
        return parse_isbn(text)
    except IdFault:
        pass
    try:
        return parse_reference(text)
    except PaperError:
        pass
    if not _URL.fullmatch(text.strip()):
        return None
    found = _DOI_INSIDE.search(unquote(text.strip()).split("?")[0].split("#")[0])
    return _doi(_PAGE.sub("", found[0])) if found else None


def is_bibliography(text: str) -> bool:
    """Returns whether a text begins as a bibliography does."""
    start = text.lstrip("\ufeff \t\r\n")
    if start[:1] in {"[", "{"} and not re.match(r"\[[0-9]{1,3}\]", start):
        return True
    return any(pattern.match(start) for pattern in (_BIBTEX, _RIS, _NBIB, _XML))


def _of_text(text: str) -> Iterator[Input]:
    if is_bibliography(text):
        yield Input(_shown(text), "bibliography", text)
        return
    found = identifier_in(text)
    if found is not None:
        yield Input(_shown(text), "identifier", text, found)
        return
    for block in re.split(r"\n[ \t\r]*\n", text):
        yield from _of_block([line.strip() for line in block.splitlines() if line.strip()])


def _of_block(lines: Sequence[str]) -> Iterator[Input]:
    """Yields the inputs in lines without blank ones between them.

    Lines that are neither identifiers nor files are one citation each if each has a year, or a
    number or bullet in front; otherwise they are one citation that was broken into lines.
    """
    rest: list[str] = []
    for line in lines:
        inputs = list(_of_line(line))
        if inputs:
            yield from _citations(rest)
            rest = []
            yield from inputs
        else:
            rest.append(line)
    yield from _citations(rest)


def _of_line(line: str) -> Iterator[Input]:
    """Yields the identifiers or the file that a line names; nothing for another line."""
    plain = _BULLET.sub("", line).strip(" \t,;")
    found = identifier_in(plain)
    if found is not None:
        yield Input(_shown(plain), "identifier", plain, found)
        return
    if plain.lower().endswith((PDF_SUFFIX, *BIBLIOGRAPHY_SUFFIXES)) and not _URL.match(plain):
        yield Input(_shown(plain), "file", plain)
        return
    words = list(_words(plain))
    ids = [identifier_in(word) for word in words]
    if len(words) > 1 and all(identifier is not None for identifier in ids):
        for word, identifier in zip(words, ids, strict=True):
            yield Input(_shown(word), "identifier", word, identifier)


def _words(line: str) -> Iterator[str]:
    """Yields the words of a line; a label and what it labels are one."""
    label = ""
    for word in re.split(r"[\s,;]+", line):
        if word.rstrip(":").lower() in _LABELS:
            label = word
        elif word:
            yield f"{label} {word}".strip()
            label = ""
    if label:
        yield label


def _citations(lines: Sequence[str]) -> Iterator[Input]:
    if not lines:
        return
    is_list = len(lines) > 1 and (
        all(_YEAR.search(line) for line in lines) or all(_BULLET.match(line) for line in lines)
    )
    for text in lines if is_list else [" ".join(lines)]:
        yield _of_citation(_BULLET.sub("", text))


def _of_citation(text: str) -> Input:
    """Returns a citation; if it names exactly one DOI, that identifies the work."""
    dois = {found.folded: found for found in map(_doi, _DOI_INSIDE.findall(text)) if found}
    if len(dois) == 1:
        return Input(_shown(text), "identifier", text, next(iter(dois.values())))
    is_citation = len(text.split()) >= _CITATION_WORDS
    return Input(_shown(text), "citation" if is_citation else "unknown", text)


def _doi(text: str) -> Id | None:
    """Returns the DOI in a text that punctuation may follow."""
    text = text.rstrip(".,;:!?")
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1].rstrip(".,;:")
    try:
        return parse_reference(f"doi:{text}")
    except PaperError:
        return None


def _shown(text: str) -> str:
    return printable(" ".join(text.split()), _SHOWN)
