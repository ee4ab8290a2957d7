"""Identifiers → works: which plugins can answer, what each said, and one work of it all.

In the order of a lookup: `question` reads what was asked, `sources` finds who can be asked, `ask`
asks them, `answer` checks what came back, `run` goes over it twice and merges, `result` is what
the caller gets. `tool` offers it as the tool `work_lookup`.
"""

from __future__ import annotations

from .result import LookupItem, LookupResult, Step
from .run import Lookup

__all__ = ["Lookup", "LookupItem", "LookupResult", "Step"]
