"""Keeps papers on the disk, in doiget's store format, and searches them.

`safekey` names files, `entry` is one metadata file, `toml_text` writes it, `filling` combines it
with a new record, `incoming` receives a PDF, `paper_store` reads and writes entries, `index`
searches them (`words` folds texts, `quick_reading` reads many files).

Format: `docs/reference/papers.md`; reasons: decision 0043.
"""

from __future__ import annotations

from .entry import PaperEntry
from .incoming import MAX_FILE_BYTES, IncomingFile
from .index import PaperSummary
from .paper_store import PaperStore, StoredPaper
from .safekey import safekey
from .works import entry_of, reference_of, work_of

__all__ = [
    "MAX_FILE_BYTES",
    "IncomingFile",
    "PaperEntry",
    "PaperStore",
    "PaperSummary",
    "StoredPaper",
    "entry_of",
    "reference_of",
    "safekey",
    "work_of",
]
