"""Renders citations and bibliographies in any CSL style, in the sandboxed plugin `csl`.

    >>> engine = CitationEngine(plugins)
    >>> engine.bibliography(items, find_style("apa")).entries[0].text

`styles` finds styles, `locales` the texts of languages, `engine` asks the plugin, `documents` finds
the keys that a Markdown, LaTeX or Typst file cites, and `command` is `carrel cite`.
"""

from __future__ import annotations

from .engine import CitationEngine
from .rendering import BibliographyEntry, Rendering
from .request import Citation, CitationItem, RenderRequest
from .styles import Style, find_style, list_styles

__all__ = [
    "BibliographyEntry",
    "Citation",
    "CitationEngine",
    "CitationItem",
    "RenderRequest",
    "Rendering",
    "Style",
    "find_style",
    "list_styles",
]
