"""Logs where every byte of the paper store came from, in a file whose rows are chained by hashes.

`row` is one row and its hash, `log` appends rows, `rotation` packs a full log away, `head` says how
far the log went, `verify` finds rows that were changed, removed, moved or added.

Format: `docs/reference/papers.md`; reasons: decision 0043.
"""

from __future__ import annotations

from .log import ProvenanceLog
from .row import LogRow, canonical_digest, new_ulid
from .verify import LogFault, LogReport

__all__ = ["LogFault", "LogReport", "LogRow", "ProvenanceLog", "canonical_digest", "new_ulid"]
