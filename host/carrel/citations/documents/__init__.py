"""Finds the works that a manuscript cites: Markdown, LaTeX and Typst files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Final, Literal

from .cited import CitedKey, CitedWork, DocumentCitation, DocumentCitations
from .latex import latex_citations
from .markdown import markdown_citations
from .typst import typst_citations

DocumentKind = Literal["markdown", "latex", "typst"]

_SUFFIXES: Final[Mapping[str, DocumentKind]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".mkd": "markdown",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".tex": "latex",
    ".latex": "latex",
    ".ltx": "latex",
    ".typ": "typst",
}
_READERS: Final[Mapping[DocumentKind, Callable[[str], DocumentCitations]]] = {
    "markdown": markdown_citations,
    "latex": latex_citations,
    "typst": typst_citations,
}


def document_kind(name: str) -> DocumentKind | None:
    """Returns the kind of a file by the end of its name; None if it is no manuscript."""
    return _SUFFIXES.get(PurePath(name).suffix.lower())


def find_citations(text: str, kind: DocumentKind) -> DocumentCitations:
    """Returns what a manuscript cites, in the order of the text."""
    return _READERS[kind](text)


__all__ = [
    "CitedKey",
    "CitedWork",
    "DocumentCitation",
    "DocumentCitations",
    "DocumentKind",
    "document_kind",
    "find_citations",
]
