"""Describes a work for an assistant: what it is, and where it can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.papers.search.request import is_open, year_of
from carrel.text.printable import printable

from .providers import provider_of

if TYPE_CHECKING:
    from carrel.papers.search import FoundWork
    from carrel.records import MergedWork, Work
    from carrel.records.work import Agent, OpenCopy
    from carrel.web.research.searching import FoundPage

#: The longest abstract and title, in characters, and the most authors.
LONGEST_ABSTRACT: Final = 500
_TITLE: Final = 500
_AUTHORS: Final = 50


def paper_of(found: FoundWork) -> dict[str, Any]:
    """Returns a work as JSON; members that no source knows are left out."""
    merged = found.merged
    best = min(found.ranks, key=lambda name: (found.ranks[name], name))
    return described(merged, provider_of(best), merged.work.open_copies)


def described(merged: MergedWork, source: str, copies: Sequence[OpenCopy]) -> dict[str, Any]:
    """Returns a merged work as JSON.

    Args:
        merged: the records of its sources.
        source: the provider that is named for it.
        copies: that are free to read, the best first.
    """
    work = merged.work
    paper: dict[str, Any] = {
        "title": printable(work.title or "untitled", _TITLE),
        "url": url_of(work),
        "source": source,
        "doi": work.ids.doi,
        "authors": [name for author in work.authors[:_AUTHORS] if (name := name_of(author))],
        "journal": printable(work.container_title, 300) if work.container_title else None,
        "year": year_of(work),
        "abstract": shortened(work.abstract) if work.abstract else None,
        "citation_count": work.cited_by_count,
        "open_access": True if any(map(is_open, merged.records)) else work.is_oa,
        "is_in_doaj": True if "doaj" in merged.sources else None,
    }
    paper = {name: value for name, value in paper.items() if value is not None and value != []}
    return with_copies(paper, copies)


def with_copies(paper: dict[str, Any], copies: Sequence[OpenCopy]) -> dict[str, Any]:
    """Returns a paper with the address of its PDF; one that a source gave is kept."""
    pdf = next((copy.url for copy in copies if copy.kind == "pdf"), None)
    enriched = dict(paper)
    if pdf is not None:
        enriched.setdefault("pdf_url", pdf)
    if copies:
        enriched |= {"open_access": True, "has_pdf": "pdf_url" in enriched}
        enriched["has_text"] = any(copy.kind in {"html", "xml"} for copy in copies)
    return enriched


def found_page(page: FoundPage) -> dict[str, Any]:
    """Returns a page of a web search as a paper: title, address and the snippet are known."""
    paper: dict[str, Any] = {"title": printable(page.title, _TITLE), "url": page.url}
    paper["source"] = "web_search"
    if page.snippet:
        paper["abstract"] = shortened(page.snippet)
    return paper


def url_of(work: Work) -> str:
    """Returns the page of a work: that of its DOI, else of another identifier."""
    identifier = next(iter(work.ids.known()), None)
    doi = f"https://doi.org/{work.ids.doi}" if work.ids.doi else None
    return (
        doi
        or (identifier.url if identifier is not None and identifier.url else None)
        or work.url
        or ""
    )


def name_of(author: Agent) -> str:
    """Returns an author's name in reading order."""
    if author.family:
        return printable(" ".join(filter(None, (author.given, author.family))), 200)
    return printable(author.literal or "", 200)


def shortened(text: str) -> str:
    """Returns the beginning of an abstract, at most `LONGEST_ABSTRACT` characters."""
    words = printable(" ".join(text.split()), LONGEST_ABSTRACT + 1)
    if len(words) <= LONGEST_ABSTRACT:
        return words
    head = words[: LONGEST_ABSTRACT - 1]
    return head[: head.rfind(" ")] + "…" if " " in head else head + "…"
