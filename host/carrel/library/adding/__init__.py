"""Adds what people paste: identifiers, URLs, citations, bibliographies, PDFs, in any mix.

In the order of an addition: `detect` says what each text is, `files` reads files of granted
folders, `resolve` asks the sources for works, `run` adds them, and `outcome` is what became of each
input.
"""

from __future__ import annotations
