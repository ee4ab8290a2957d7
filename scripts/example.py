"""The call that shows what Carrel does: `try.py` makes it, and `package.py` with a wheel."""

from __future__ import annotations

from environment import ROOT

#: What `carrel` is given.
CALL = ("call", "arxiv_query", "search_query=ti:sandbox AND cat:cs.CR", "max_results=3")

#: The answers to that call, in the recorder's format; its README says what they hold.
RECORDING = ROOT / "examples" / "recordings" / "arxiv-query"
