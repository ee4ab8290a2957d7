"""Extracts the displayed parts of a bibliographic item of any source.

Items come from results of tools: records, arXiv's entries, PubMed's articles and summaries,
Crossref's candidates. A missing part is an empty text or tuple.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .standing import mark, notices

#: The members that hold a date, a URL, an abstract.
_DATES = ("published", "issued", "pub_date", "epub_date", "date")
_URLS = ("abstract_url", "url", "link_url")
_ABSTRACTS = ("abstract", "abstract_text", "summary")
_IDENTIFIERS = ("doi", "arxiv", "pmid", "pmcid")
_SUFFIX = re.compile(r"(?P<given>.*),\s*(?P<suffix>Jr\.?|Sr\.?|[IVX]+|[0-9]+(?:st|nd|rd|th))")


@dataclass(frozen=True, slots=True)
class ShownWork:
    """The displayed parts of an item.

    Attributes:
        mark: such as `[Retracted]`.
        authors: their names, in order.
        place: date and venue, with volume, issue and pages if known.
        identifiers: such as `doi:10.5555/x` and `pmid:1`.
        abstract: its paragraphs.
        notices: corrections and retractions, one line each.
        score: relevance, if the source gives one.
    """

    mark: str
    title: str
    authors: tuple[str, ...]
    place: tuple[str, ...]
    identifiers: tuple[str, ...]
    url: str
    abstract: tuple[str, ...]
    notices: tuple[str, ...]
    score: str


def is_work(item: object) -> bool:
    """Returns whether `item` has a title or an identifier, as a list of works needs."""
    if not isinstance(item, dict):
        return False
    return "title" in item or any(key in item for key in ("id", "ids", *_IDENTIFIERS))


def read_work(item: Mapping[str, Any]) -> ShownWork:
    """Returns the displayed parts of an item."""
    subtitle = item.get("subtitle")
    title = str(item.get("title") or "")
    return ShownWork(
        mark=mark(item),
        title=f"{title}: {subtitle}" if title and isinstance(subtitle, str) else title,
        authors=tuple(_authors(item)),
        place=tuple(part for part in (_date(item), _venue(item)) if part),
        identifiers=tuple(_identifiers(item)),
        url=next((str(item[key]) for key in _URLS if item.get(key)), ""),
        abstract=tuple(_abstract(item)),
        notices=tuple(notices(item)),
        score=_score(item),
    )


def _authors(item: Mapping[str, Any]) -> Iterator[str]:
    authors = item.get("authors") or item.get("author") or ()
    if isinstance(authors, str):
        yield authors
    elif isinstance(authors, list):
        yield from map(_person, authors)


def _person(author: object) -> str:
    if not isinstance(author, dict):
        return str(author)
    whole = author.get("name") or author.get("literal") or author.get("collective_name")
    if whole:
        return str(whole)
    given = str(author.get("given") or author.get("first_name") or author.get("initials") or "")
    suffix = str(author.get("suffix") or "")
    if (found := _SUFFIX.fullmatch(given)) is not None:
        given, suffix = found["given"], found["suffix"]
    family = str(author.get("family") or author.get("last_name") or "")
    return " ".join(part for part in (given, family, suffix) if part) or "?"


def _date(item: Mapping[str, Any]) -> str:
    date = next((str(item[key]) for key in _DATES if item.get(key)), "")
    return date.partition("T")[0]


def _venue(item: Mapping[str, Any]) -> str:
    """Returns the journal or book, with volume, issue and pages: `Annals of Desks 12(3):737-48`."""
    journal = item.get("journal_info")
    container = journal if isinstance(journal, dict) else item
    book = item.get("book_info")
    name = container.get("title") if container is journal else container.get("container_title")
    if not name and isinstance(book, dict):
        name = book.get("title")
    if not name and not isinstance(item.get("ids"), dict):  # a record's `source` is its plugin
        name = item.get("source")
    name = name or item.get("journal_ref") or item.get("primary_category") or ""
    volume, issue = container.get("volume") or "", container.get("issue")
    where = f"{volume}({issue})" if issue else str(volume)
    pages = container.get("pages") or container.get("article_number")
    where = f"{where}:{pages}" if where and pages else where or str(pages or "")
    return " ".join(part for part in (str(name), where) if part)


def _identifiers(item: Mapping[str, Any]) -> Iterator[str]:
    if item.get("id"):
        yield str(item["id"])
    ids = item.get("ids") if isinstance(item.get("ids"), dict) else item
    for key, value in ids.items() if ids else ():  # a source names its own identifier first
        if key in _IDENTIFIERS and value:
            yield str(value) if key == "pmcid" else f"{key}:{value}"
    dois = item.get("dois")
    for entry in dois if isinstance(dois, list) else ():
        if isinstance(entry, dict) and entry.get("doi"):
            yield f"doi:{entry['doi']}"


def _abstract(item: Mapping[str, Any]) -> Iterator[str]:
    sections = item.get("abstract_sections")
    if isinstance(sections, list) and sections:
        for section in sections:
            if isinstance(section, dict) and section.get("text"):
                yield (
                    f"{section['label']}: {section['text']}"
                    if section.get("label")
                    else str(section["text"])
                )
        return
    text = next((item[key] for key in _ABSTRACTS if isinstance(item.get(key), str)), "")
    if text:
        yield text


def _score(item: Mapping[str, Any]) -> str:
    score, agreed = item.get("score"), item.get("agreed")
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        return ""
    parts = f" ({', '.join(map(str, agreed))})" if isinstance(agreed, list) and agreed else ""
    return f"score {score:,}{parts}"
