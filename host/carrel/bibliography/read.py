"""Reads a bibliography in any of the formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from .bibliography import Bibliography, Unread
from .bibtex.reader import read_biblatex, read_bibtex
from .csl_json import read_csl_json
from .decoding import decode
from .endnote.reader import read_endnote
from .errors import BibliographyError
from .ris.nbib import read_nbib
from .ris.reader import read_ris
from .sniff import detect_format, format_of_name, is_without_entries

#: Format → what reads a text of it.
_READERS: Final[Mapping[str, Callable[[str], Bibliography]]] = {
    "csl-json": read_csl_json,
    "bibtex": read_bibtex,
    "biblatex": read_biblatex,
    "ris": read_ris,
    "nbib": read_nbib,
    "endnote": read_endnote,
}


def read_bibliography(
    data: bytes | str,
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    name: str = "",
) -> Bibliography:
    """Returns the entries of a bibliography, in its order, and what could not be read.

    Args:
        data: at most 16 MiB; bytes are UTF-8, UTF-16 with a byte order mark, or Windows-1252.
        format: one of `READABLE`; None to detect it by the content.
        name: of the file; its ending is the format of a text without content, which has no entries.

    Raises:
        BibliographyError: it is too large, no text, or no bibliography.
    """
    text, warning = decode(data)
    if "\n" not in text:
        text = text.replace("\r", "\n")  # the line ends of old programs
    by_name = format or format_of_name(name)
    if by_name in _READERS and is_without_entries(text, by_name):
        return Bibliography(by_name, ())
    format_name = format or detect_format(text)
    if format_name not in _READERS:
        raise BibliographyError(
            "UNKNOWN_FORMAT", f"{format_name!r} cannot be read; formats: {', '.join(_READERS)}"
        )
    found = _READERS[format_name](text)
    if not warning:
        return found
    return replace(found, unread=(Unread("encoding", None, warning), *found.unread))
