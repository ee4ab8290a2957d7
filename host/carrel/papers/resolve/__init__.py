"""Resolves references to works: identifiers by lookup, pasted citations by search.

`run` resolves a reference, `citation` matches a citation with works, `attempts` says what each
source was asked and answered, `open_copies` finds copies that are free to read, `full_texts` asks
where the text is, `tools` offers `paper_resolve` and `paper_metadata`.
"""

from __future__ import annotations

from .run import PaperResolver, Resolution

__all__ = ["PaperResolver", "Resolution"]
