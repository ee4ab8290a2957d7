"""Writes items in any of the formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from .bibtex.writer import write_biblatex, write_bibtex
from .csl_json import write_csl_json
from .endnote.writer import write_endnote
from .errors import BibliographyError
from .item import TYPES, Item
from .ris.writer import write_ris
from .types import csl_type
from .word import write_word

_WRITERS: Final[Mapping[str, Callable[[Sequence[Item]], str]]] = {
    "csl-json": write_csl_json,
    "bibtex": write_bibtex,
    "biblatex": write_biblatex,
    "ris": write_ris,
    "endnote": write_endnote,
    "word": write_word,
}


def write_bibliography(items: Sequence[Item], format: str) -> str:  # noqa: A002 - the field's word
    """Returns the items as a text in a format; one of `WRITABLE`.

    Raises:
        BibliographyError: `UNKNOWN_FORMAT`.
    """
    if format not in _WRITERS:
        raise BibliographyError(
            "UNKNOWN_FORMAT", f"{format!r} cannot be written; formats: {', '.join(_WRITERS)}"
        )
    return _WRITERS[format](items if format == "csl-json" else [_with_type(item) for item in items])


def _with_type(item: Item) -> Item:
    """Returns an item with CSL's type where it has Crossref's: `journal-article`."""
    kind = item.get("type")
    if not isinstance(kind, str) or kind in TYPES:
        return item
    mapped = csl_type("names", kind.lower().replace("-", " "))
    return {**item, "type": mapped} if mapped else item
