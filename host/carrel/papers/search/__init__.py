"""Searches works in every plugin with the role `search` at once, merges and ranks what they find.

`request` is what is asked, `run` asks and merges, `rank` orders, `result` is what comes of it.
"""

from __future__ import annotations

from .request import SearchRequest
from .result import FoundWork, SearchResult, SourceOutcome
from .run import PaperSearch

__all__ = ["FoundWork", "PaperSearch", "SearchRequest", "SearchResult", "SourceOutcome"]
