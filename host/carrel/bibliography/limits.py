"""Limits what a bibliography may cost."""

from __future__ import annotations

from typing import Final

#: Bytes of the largest bibliography.
MAX_BYTES: Final = 16 * 2**20
#: Entries of the longest bibliography.
MAX_ENTRIES: Final = 200_000
#: Nesting of braces in a BibTeX value, of elements in XML, of lists and objects in JSON.
MAX_DEPTH: Final = 200
