"""Decodes the bytes of a bibliography: UTF-8, UTF-16 with a byte order mark, or Latin-1."""

from __future__ import annotations

import codecs

from .errors import BibliographyError
from .limits import MAX_BYTES


def decode(data: bytes | str) -> tuple[str, str]:
    """Returns the text, without a byte order mark, and a warning; empty if there is none.

    Bytes that are not UTF-8 are read as Windows-1252, of which Latin-1 is a part: programs that
    write no UTF-8 write that.

    Raises:
        BibliographyError: `TOO_LARGE`, or `NOT_TEXT` for what has NUL characters.
    """
    size = len(data)
    if size > MAX_BYTES:
        raise BibliographyError(
            "TOO_LARGE", f"the bibliography has more than {MAX_BYTES:,} bytes; split it"
        )
    text, warning = (data, "") if isinstance(data, str) else _decoded(data)
    if "\x00" in text:
        raise BibliographyError(
            "NOT_TEXT",
            f"the bibliography is no text: it has a NUL at character {text.find(chr(0))}",
        )
    return text.removeprefix("\ufeff"), warning


def _decoded(data: bytes) -> tuple[str, str]:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16"), ""
        except UnicodeDecodeError as error:
            raise BibliographyError(
                "NOT_TEXT", f"the bibliography is not UTF-16: byte {error.start} is invalid"
            ) from None
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        warning = (
            f"byte {error.start} on line {line} is not UTF-8; the text was read as Windows-1252"
        )
        return data.decode("cp1252", errors="replace"), warning
