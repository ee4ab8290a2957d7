"""Names the forms in which a paper's text comes, and the source of the stored one."""

from __future__ import annotations

from typing import Final

#: The best first: marked up by meaning, for pages, as the authors typed it, for paper.
FORMS: Final = ("jats", "html", "tex", "pdf")
#: The source of the stored PDF.
STORE: Final = "store"
