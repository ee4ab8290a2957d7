"""Reads files that are to be added: bibliographies, and PDFs for their identifier.

A bibliography of a person's own is read by `carrel.bibliography`, with its caps. A PDF comes from
outside, so the plugin `pdf` reads it in the sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from carrel.documents import DocumentReader
from carrel.errors import ArgumentError, SourceError
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference

from .detect import PDF_SUFFIX

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.records import Id

#: Returns the content of a file, by the path that the caller gave.
ReadFile = Callable[[str], bytes]

#: Pages of a PDF that are searched for its identifier, and characters of their text.
_PAGES: Final = "1-2"
_SEARCHED: Final = 20_000
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\"'<>|]+")
_ARXIV = re.compile(
    r"arXiv:\s?((?:[a-z-]+(?:\.[A-Z]{2})?/)?[0-9.]{7,10}(?:v[0-9]+)?)", re.IGNORECASE
)


def is_pdf(path: str, data: bytes) -> bool:
    """Returns whether a file is a PDF, by its first bytes, else by its name."""
    return data[:1024].lstrip().startswith(b"%PDF-") or path.lower().endswith(PDF_SUFFIX)


def identifier_of_pdf(data: bytes, reader: DocumentReader, call: Call) -> Id:
    """Returns the identifier that a PDF states of itself.

    The document's own metadata counts first, then the first DOI or arXiv id on its first pages: a
    title page names its own before it cites others.

    Raises:
        SourceError: `not_found`; it states none. Or the PDF cannot be read.
    """
    try:
        read = reader.read(data, call, pages=_PAGES, plain=True)
    except (ArgumentError, SourceError) as error:
        if error.error_code not in {"invalid_arguments", "not_found"}:
            raise
        read = reader.read(data, call, plain=True)  # it has a single page
    stated = read.identifiers
    for kind in ("doi", "arxiv", "pmid", "pmcid"):
        value = stated.get(kind)
        for raw in value if isinstance(value, list) else [value]:
            found = _identifier(f"{kind}:{raw}" if kind != "pmcid" else str(raw)) if raw else None
            if found is not None:
                return found
    text = read.text[:_SEARCHED]
    matches = [*_ARXIV.finditer(text), *_DOI.finditer(text)]
    for match in sorted(matches, key=lambda match: match.start()):
        is_arxiv = match.re is _ARXIV
        found = _identifier(f"arxiv:{match[1]}" if is_arxiv else f"doi:{_bare(match[0])}")
        if found is not None:
            return found
    raise SourceError(
        "not_found",
        "the PDF states no DOI or arXiv id on its first pages; give the identifier, and attach the "
        "PDF to the reference",
        plugin=read.plugin,
        tool="library_add",
    )


def _identifier(text: str) -> Id | None:
    try:
        return parse_reference(text)
    except PaperError:
        return None


def _bare(doi: str) -> str:
    return doi.rstrip(".,;:)]}")
