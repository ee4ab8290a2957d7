"""The counterpart with lxml: the fastest way found to read the same fields.

It makes one pass over each entry's children, compares tags as interned strings, lets libxml2 drop
blank text and comments, and processes only texts that need it. It follows the plugin's rules in
their cheapest form: it collapses white space, ignores markup inside a text, drops malformed URLs
and pairs DOIs with their links.

XPath per field, one XPath for all texts, `iterparse`, a parser target (SAX) and one pass by
`iterdescendants` were slower. An XSLT stylesheet that writes delimited text for Python to split
takes at least as long, and cannot distinguish an absent element from an empty one.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"

_AUTHOR, _NAME = f"{_ATOM}author", f"{_ATOM}name"
_CATEGORY, _PRIMARY = f"{_ATOM}category", f"{_ARXIV}primary_category"
_LINK, _ID, _DOI = f"{_ATOM}link", f"{_ATOM}id", f"{_ARXIV}doi"
_ENTRY = f"{_ATOM}entry"
_TEXTS = {
    f"{_ATOM}title": "title",
    f"{_ATOM}summary": "summary",
    f"{_ATOM}published": "published",
    f"{_ATOM}updated": "updated",
    f"{_ARXIV}comment": "comment",
    f"{_ARXIV}journal_ref": "journal_ref",
}
_NUMBERS = {
    f"{_SEARCH}totalResults": "total_results",
    f"{_SEARCH}startIndex": "start_index",
    f"{_SEARCH}itemsPerPage": "items_per_page",
}
_well_formed = re.compile(r"https?://[^\s\"<>\\^`{|}]+").fullmatch


def parse(document: bytes) -> dict[str, Any]:
    """Returns a feed's page of results, as the arXiv plugin returns it."""
    parser = etree.XMLParser(
        remove_blank_text=True, remove_comments=True, remove_pis=True,
        resolve_entities=False, collect_ids=False,
    )  # fmt: skip
    entries: list[dict[str, Any]] = []
    page: dict[str, Any] = {}
    for element in etree.fromstring(document, parser):
        tag = element.tag
        if tag == _ENTRY:
            entries.append(_entry(element))
        elif tag in _NUMBERS:
            page[_NUMBERS[tag]] = int(element.text or "0")
    page["entries"] = entries
    return page


def _entry(element: etree._Element) -> dict[str, Any]:  # noqa: C901, PLR0912 - calls cost
    entry: dict[str, Any] = {}
    authors: list[dict[str, Any]] = []
    categories: list[str] = []
    dois: list[str] = []
    doi_links: list[str] = []
    for child in element:
        tag = child.tag
        if tag == _AUTHOR:
            authors.append(_author(child))
        elif tag == _CATEGORY:
            categories.append(child.get("term", ""))
        elif tag == _LINK:
            url = child.get("href", "")
            if _well_formed(url):
                title = child.get("title")
                if title == "pdf":
                    entry["pdf_url"] = url
                elif title == "doi":
                    doi_links.append(url)
                else:
                    entry["abstract_url"] = url
        elif tag in _TEXTS:
            text = _text(child)
            if text:
                entry[_TEXTS[tag]] = text
        elif tag == _PRIMARY:
            entry["primary_category"] = child.get("term")
        elif tag == _DOI:
            dois.append(_text(child))
        elif tag == _ID:
            entry["id"] = _text(child).partition("/abs/")[2]
    entry["authors"] = authors
    entry["categories"] = categories
    if dois:
        entry["dois"] = [_doi(doi, doi_links) for doi in dois]
    return entry


def _author(element: etree._Element) -> dict[str, Any]:
    author: dict[str, Any] = {}
    for child in element:
        if child.tag == _NAME:
            author["name"] = _text(child)
        else:
            author.setdefault("affiliations", []).append(_text(child))
    return author


def _doi(doi: str, links: list[str]) -> dict[str, str]:
    for link in links:
        if link.endswith(doi):
            return {"doi": doi, "url": link}
    return {"doi": doi}


def _text(element: etree._Element) -> str:
    text = "".join(map(str, element.itertext())) if len(element) else element.text or ""
    # The space is the only printable white space, so this finds every text that must change.
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(text.split())
