"""Reads and writes bibliographies; an item is a CSL-JSON item as a plain dict.

`item` has CSL's types and variables, `read` and `write` choose the format. `csl_json` and the
folder of each other format read and write one. `works` makes items of works.
`docs/reference/bibliography-formats.md` says what each format can express.
"""

from __future__ import annotations

from typing import Final

from .bibliography import Bibliography, Entry, Unread
from .errors import BibliographyError
from .item import Item
from .read import read_bibliography
from .works import item_from_work
from .write import write_bibliography

#: The formats; `nbib` is only read, `word` only written.
FORMATS: Final = ("csl-json", "bibtex", "biblatex", "ris", "nbib", "endnote", "word")
#: The formats that are read.
READABLE: Final = tuple(name for name in FORMATS if name != "word")
#: The formats that are written.
WRITABLE: Final = tuple(name for name in FORMATS if name != "nbib")

__all__ = [
    "FORMATS",
    "READABLE",
    "WRITABLE",
    "Bibliography",
    "BibliographyError",
    "Entry",
    "Item",
    "Unread",
    "item_from_work",
    "read_bibliography",
    "write_bibliography",
]
