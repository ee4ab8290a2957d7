"""Writes a citation graph as one HTML page for people.

`layout` places the papers, `render` writes them as HTML and SVG, `page.html`, `page.css` and
`page.js` are the parts of the page that no graph changes.
"""

from __future__ import annotations

from .render import to_page

__all__ = ["to_page"]
