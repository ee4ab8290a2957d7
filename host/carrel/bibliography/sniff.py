"""Detects the format of a bibliography by its content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Final

from .errors import BibliographyError

_BIBTEX = re.compile(r"^[ \t]*@[ \t]*[a-z]+\s*[{(]", re.IGNORECASE | re.MULTILINE)
#: Fields and types that BibLaTeX has and BibTeX has not.
_BIBLATEX = re.compile(
    r"^[ \t]*@[ \t]*"
    r"(?:online|collection|thesis|report|dataset|software|mvbook|mvcollection|inreference"
    r"|bookinbook|suppbook|periodical|xdata|suppperiodical|patent|image|audio|video|movie)\s*[{(]"
    r"|^[ \t]*(?:date|journaltitle|location|eprinttype|langid|urldate|maintitle|shortjournal"
    r"|eventtitle|origdate|labeltitle)\s*=",
    re.IGNORECASE | re.MULTILINE,
)
_RIS = re.compile(r"^[ \t]*TY {0,2}- ?", re.MULTILINE)
_NBIB = re.compile(r"^(?:PMID|PMC |OWN |OID |STAT|DCOM)\s?- ", re.MULTILINE)
_WEB_OF_SCIENCE = re.compile(r"^FN .*\n(?:VR .*\n)?|^PT [JBSP]\s*$", re.MULTILINE)
_ENDNOTE = re.compile(r"<\s*(?:xml|records?|ref-type)\b", re.IGNORECASE)
_BLANKS = re.compile(r"\s*+")
_COMMENTS = re.compile(r"\s*+(?:%[^\n]*+\s*+)*+")
#: Ending of a file's name → its format, of files without content.
_ENDINGS: Final[Mapping[str, str]] = {
    ".json": "csl-json",
    ".csljson": "csl-json",
    ".bib": "bibtex",
    ".bibtex": "bibtex",
    ".biblatex": "biblatex",
    ".ris": "ris",
    ".nbib": "nbib",
    ".xml": "endnote",
}
#: Characters that are looked at first.
_BEGINNING = 2**20


def detect_format(text: str) -> str:
    """Returns the format of a text.

    Raises:
        BibliographyError: `UNKNOWN_FORMAT`.
    """
    start = text.lstrip()[:64]
    if start[:1] == "[" or re.match(r"\{\s*[\"}]", start):
        return "csl-json"
    if start[:1] == "<" and _ENDNOTE.search(text[:_BEGINNING]):
        return "endnote"
    if _NBIB.search(text) and not _RIS.search(text[:_BEGINNING]):
        return "nbib"
    if _RIS.search(text):
        return "ris"
    if _WEB_OF_SCIENCE.match(text):
        return "ris"
    if _BIBTEX.search(text):
        return "biblatex" if is_biblatex(text) else "bibtex"
    raise BibliographyError(
        "UNKNOWN_FORMAT",
        "the text is no bibliography that Carrel knows: no CSL-JSON, BibTeX, RIS, nbib or EndNote "
        "XML was found in it; if it is one, name the format",
    )


def format_of_name(name: str) -> str:
    """Returns the format that a file's name ends in; an empty text for another name."""
    return _ENDINGS.get(PurePath(name).suffix.lower(), "")


def is_without_entries(text: str, format: str) -> bool:  # noqa: A002 - the field's word
    """Returns whether a text has nothing but blanks, and in BibTeX lines of comments."""
    nothing = _COMMENTS if format in {"bibtex", "biblatex"} else _BLANKS
    return nothing.fullmatch(text) is not None


def is_biblatex(text: str) -> bool:
    """Returns whether a BibTeX text has entries or fields that only BibLaTeX knows."""
    return _BIBLATEX.search(text) is not None
