"""Reads a BibTeX or BibLaTeX file as a library, and edits it so that all other bytes are kept.

`carrel.bibliography.bibtex.in_place` edits the text; here are the bytes around it. The members of
`custom` are in the field `carrel` of an entry.
"""

from __future__ import annotations

import codecs
import copy
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from carrel.bibliography.bibtex.in_place import BibtexText
from carrel.bibliography.item import Item
from carrel.library.errors import LibraryError

#: With these, an entry means something else if another part of the file changes.
_REFERS: Final = re.compile(r"@\s*string|crossref|xdata|xref", re.IGNORECASE)
#: What a cut-off write leaves: an entry that begins and does not end, or its first word.
_OPEN_ENTRY: Final = re.compile(r"@\s*\w+\s*\{")
_OTHER_BLOCK: Final = re.compile(r"(?<=\n)@\s*(?:string|preamble|comment)\s*\{", re.IGNORECASE)
_FIRST_WORD: Final = re.compile(r"(?<![^\n])@\s*\w*\s*\Z")

#: A file without entries: one that is empty would be taken for one that was cut off.
_NO_ENTRIES: Final = "% Encoding: UTF-8\n"
#: How files of other kinds begin, and what they are.
_OTHER_KINDS: Final = {"<": "HTML or XML", "{": "JSON", "[": "JSON", "%PDF-": "PDF"}


class BibtexLibraryText:
    """The text of a BibTeX file. What is no entry is kept, and is no item.

    Raises:
        LibraryError: `READ_ERROR`, with the line; an entry has no end.
    """

    def __init__(self, data: bytes) -> None:
        self._bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise LibraryError("READ_ERROR", "it is in UTF-16", advice="save it in UTF-8")
        try:
            text, self._encoding = data[len(self._bom) :].decode(), "utf-8"
        except UnicodeDecodeError:
            # Any bytes are text in Latin-1, and are the same bytes again when they are written.
            text, self._encoding = data.decode("latin-1"), "latin-1"
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise LibraryError(
                "READ_ERROR", f"line {line}: a NUL is no text", position={"line": line, "column": 1}
            )
        start = text.lstrip()
        for kind in (name for begin, name in _OTHER_KINDS.items() if start.startswith(begin)):
            if "@" not in text or not BibtexText(text).entries:
                raise LibraryError(
                    "READ_ERROR",
                    f"line 1: this is {kind}, not BibTeX",
                    advice="give a library in CSL-JSON a name that ends in .json",
                    position={"line": 1, "column": 1},
                )
        self._text = BibtexText(text)
        self._check_end()

    @cached_property
    def sources(self) -> Sequence[bytes]:
        """The bytes of each entry."""
        text = self._text.text
        return [
            text[start:end].encode(self._encoding, "surrogatepass")
            for _, _, (start, end) in self._entries
        ]

    @cached_property
    def context(self) -> bytes:
        """The hash of the file, if entries refer to others or to strings."""
        text = self._text.text
        if not _REFERS.search(text):
            return b""
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest()

    def item(self, position: int) -> Item | None:
        """Returns a new item of the entry at `position`."""
        return copy.deepcopy(self._entries[position][1])

    def edited(self, changed: Mapping[int, Item | None], added: Sequence[Item]) -> bytes:
        """Returns the file with entries changed, removed (None) and appended.

        Raises:
            LibraryError: `INVALID`; the file's encoding has no such character.
        """
        text = self._text.edited(changed, added)
        if not text.strip():
            text = _NO_ENTRIES
        try:
            return self._bom + text.encode(self._encoding)
        except UnicodeEncodeError as error:
            raise LibraryError(
                "INVALID",
                f"the library is not in UTF-8 and cannot have {text[error.start]!r}",
                advice="save the library in UTF-8",
            ) from None

    @cached_property
    def _entries(self) -> Sequence[tuple[str, Item, tuple[int, int]]]:
        return self._text.entries

    def _check_end(self) -> None:
        """Refuses a text of which the last entry, string or comment was cut off.

        What is appended would become a part of it.
        """
        text = self._text.text
        starts = [_start_of_line(text, unread.line) for unread in self._text.unread if unread.line]
        after = 0
        if self._entries:
            start, after = self._entries[-1][2]
            starts.append(start)
        starts += [match.start() for match in _OTHER_BLOCK.finditer(text, after)]
        start = max(starts, default=-1)
        word = _FIRST_WORD.search(text)
        if word or (start >= 0 and _OPEN_ENTRY.match(text, start) and not _closes(text, start)):
            start = word.start() if word else start
            line = text.count("\n", 0, start) + 1
            raise LibraryError(
                "READ_ERROR",
                f"line {line}, column 1: the entry has no end",
                position={"line": line, "column": 1},
            )


def _start_of_line(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at


def _closes(text: str, start: int) -> bool:
    """Returns whether an entry is closed before the text ends; some end with a parenthesis."""
    if text.rstrip().endswith(")"):
        return True
    depth = 0
    for match in re.finditer(r"\\.|[{}]", text[start:], re.DOTALL):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[0] == "}" and depth <= 0:
            return True
    return False
