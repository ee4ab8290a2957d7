"""Identifiers → works: which plugins can answer, what each said, and one work of it all.

In the order of a lookup: `question` reads what was asked, `sources` finds who can be asked, `ask`
asks them, `answer` checks what came back, `run` goes over it twice and merges, `result` is what
the caller gets. `tool` offers it as the tool `work_lookup`, `command` as `carrel lookup`.

From Python it is `Carrel.lookup`. How it is used: `docs/how-to/look-up-works.md`; arguments, fields
and outcomes: `docs/reference/tools.md`; how records become one work: decision 0013.
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
