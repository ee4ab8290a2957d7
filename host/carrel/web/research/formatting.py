"""Writes a bibliography of sources: in a citation style, or as BibTeX, RIS or CSL-JSON.

Titles and authors of pages are other people's texts: control characters and the separators of lines
that Unicode has are removed before anything is written, so that no field begins a record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.bibliography import write_bibliography
from carrel.bibliography.keys import with_keys
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.text.printable import printable
from carrel.web.answers import TRUST

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.citations import CitationEngine
    from carrel.exchange import Call
    from carrel.web.research.sessions import ResearchSession

STYLES: Final = ("apa", "mla", "bibtex", "ris", "csl-json")
#: Style → the CSL style that renders it.
_CSL: Final[Mapping[str, str]] = {"apa": "apa", "mla": "modern-language-association"}
#: The longest text of a field, and the most authors.
_LONGEST: Final = 1000
_AUTHORS: Final = 100
_DATE: Final = re.compile(r"\s*([0-9]{4})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?)?")
_YEAR: Final = re.compile(r"(?<![0-9])([12][0-9]{3})(?![0-9])")
_BETWEEN: Final = re.compile(r"\s*;\s*|\s+and\s+")


def format_bibliography(
    sources: Iterable[Mapping[str, Any]], style: str, engine: CitationEngine, call: Call
) -> dict[str, Any]:
    """Returns the bibliography of sources, each address once.

    The order is that of the style, of the keys in BibTeX, and of the sources in RIS and CSL-JSON.

    Args:
        sources: each with `url`, and `title`, `author`, `site`, `date`, `doi` as far as they are
            known; one without an address is left out.
        style: one of `STYLES`.
        engine: renders citation styles.
        call: its deadline and its cancellation.

    Raises:
        CarrelError: the style cannot be rendered.
    """
    items = _keyed(items_of(sources))
    if style in _CSL:
        text = ""
        if items:
            rendered = engine.bibliography(items, _CSL[style], call=call)
            text = "\n\n".join(entry.text.strip() for entry in rendered.entries)
    elif style == "csl-json":
        text = write_bibliography(items, style).strip() if items else "[]"
    else:
        if style == "bibtex":
            items.sort(key=lambda item: str(item["id"]))
        text = write_bibliography(items, style).strip()
    return {"style": style, "entry_count": len(items), "bibliography": text, "trust": TRUST}


def items_of(sources: Iterable[Mapping[str, Any]]) -> list[Item]:
    """Returns the CSL-JSON items of sources: an article with a DOI, else a page."""
    items: dict[str, Item] = {}
    for source in sources:
        url = _line(source.get("url"))
        if url and url not in items:
            items[url] = _item(source, url)
    return list(items.values())


def session_sources(session: ResearchSession) -> list[dict[str, str]]:
    """Returns the sources of a session."""
    return [{"url": source.url, "title": source.title} for source in session.sources]


def _item(source: Mapping[str, Any], url: str) -> Item:
    doi = _doi(_line(source.get("doi")) or url)
    item: Item = {"type": "article-journal" if doi else "webpage", "URL": url}
    if doi:
        item["DOI"] = doi
    for name, variable in (("title", "title"), ("site", "container-title")):
        value = _line(source.get(name))
        if value:
            item[variable] = value
    authors = [_name(name) for name in _BETWEEN.split(_line(source.get("author"))) if name]
    if authors:
        item["author"] = authors[:_AUTHORS]
    parts = _parts(_line(source.get("date")))
    if parts:
        item["issued"] = {"date-parts": [parts]}
    return item


def _keyed(items: Sequence[Item]) -> list[Item]:
    """Returns items with keys of surname, year and the first word of the title."""
    return [{"id": key, **item} for item, key in with_keys(items)]


def _line(value: object) -> str:
    """Returns a field in one line, without characters that are not seen."""
    return " ".join(printable(str(value or ""), _LONGEST).split())


def _doi(text: str) -> str | None:
    try:
        identifier = parse_reference(text)
    except PaperError:
        return None
    return identifier.id if identifier.type == "doi" else None


def _name(name: str) -> dict[str, str]:
    """Returns a name in its parts: `Family, Given`, or two to four words in reading order."""
    family, comma, given = name.partition(",")
    if comma and family.strip() and given.strip():
        return {"family": family.strip(), "given": given.strip()}
    words = name.split()
    if 2 <= len(words) <= 4 and all(word[:1].isupper() for word in words):
        return {"family": words[-1], "given": " ".join(words[:-1])}
    return {"literal": name}


def _parts(text: str) -> list[int]:
    found = _DATE.match(text)
    if found is None:
        year = _YEAR.search(text)
        return [int(year[1])] if year is not None else []
    parts = [int(part) for part in found.groups() if part]
    valid = [1 <= part <= most for part, most in zip(parts[1:], (12, 31), strict=False)]
    return parts if all(valid) else parts[:1]
