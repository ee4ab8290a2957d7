"""Looks up works by identifier in every source that resolves them, and merges the records.

In the order of a lookup: `run` parses the identifiers, `sources` finds the plugins, `ask` queries
them, `answer` validates their answers, `run` queries again with new identifiers and merges,
`absence` decides what is not found, `result` is the outcome. `tool` offers it as the tool
`work_lookup`, `command` as `carrel lookup`.

In Python: `Carrel.lookup`. Usage: `docs/how-to/look-up-works.md`; arguments, fields and outcomes:
`docs/reference/tools.md`; merging of records: decision 0013.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel._lazy import lazy_names

if TYPE_CHECKING:
    from .result import LookupItem, LookupResult, Step
    from .run import Lookup

__all__ = ["Lookup", "LookupItem", "LookupResult", "Step"]

__getattr__ = lazy_names(
    __name__, {"Lookup": "run", "LookupItem": "result", "LookupResult": "result", "Step": "result"}
)
