"""Names the forms in which a paper's text comes."""

from __future__ import annotations

from typing import Final

#: The best first: marked up by meaning, for pages, as the authors typed it, for paper.
FORMS: Final = ("jats", "html", "tex", "pdf")
