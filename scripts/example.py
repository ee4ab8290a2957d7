"""The example call: `try.py` makes it, and `package.py` with a wheel."""

from __future__ import annotations

from environment import ROOT

#: Arguments of `carrel`.
CALL = ("call", "arxiv_query", "search_query=ti:sandbox AND cat:cs.CR", "max_results=3")

#: A recording of that call's exchanges; its README describes them.
RECORDING = ROOT / "examples" / "recordings" / "arxiv-query"
