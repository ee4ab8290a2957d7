"""Reads arXiv feeds with lxml, independently of the parser under test."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import etree

_NAMES = {
    "a": "http://www.w3.org/2005/Atom",
    "o": "http://a9.com/-/spec/opensearch/1.1/",
    "x": "http://arxiv.org/schemas/atom",
}


def read_feed(document: bytes) -> dict[str, Any]:
    """Returns the feed as the tool returns it; an error feed is `{"error": message}`."""
    root = etree.fromstring(document)
    entries = root.findall("a:entry", _NAMES)
    if len(entries) == 1 and "/api/errors" in (_text(entries[0], "a:id") or ""):
        return {"error": _text(entries[0], "a:summary")}
    feed: dict[str, Any] = {"entries": [_entry(entry) for entry in entries]}
    for key, tag in (
        ("total_results", "totalResults"),
        ("start_index", "startIndex"),
        ("items_per_page", "itemsPerPage"),
    ):
        text = _text(root, f"o:{tag}")
        if text is not None:
            feed[key] = int(text)
    return feed


def _entry(entry: Any) -> dict[str, Any]:
    identifier = _text(entry, "a:id") or ""
    read = {
        "id": re.sub(r"^https?://arxiv\.org/abs/", "", identifier) or None,
        "title": _text(entry, "a:title"),
        "summary": _text(entry, "a:summary"),
        "published": _text(entry, "a:published"),
        "updated": _text(entry, "a:updated"),
        "authors": [_author(author) for author in entry.xpath("a:author", namespaces=_NAMES)],
        "primary_category": _first(entry, "x:primary_category/@term"),
        "categories": entry.xpath("a:category/@term", namespaces=_NAMES),
        "comment": _text(entry, "x:comment"),
        "journal_ref": _text(entry, "x:journal_ref"),
        "dois": _dois(entry),
        "abstract_url": _first(entry, "a:link[@rel='alternate']/@href") or identifier or None,
        "pdf_url": _first(entry, "a:link[@title='pdf']/@href"),
    }
    return {key: value for key, value in read.items() if value not in (None, [])}


def _author(author: Any) -> dict[str, Any]:
    read: dict[str, Any] = {"name": _text(author, "a:name")}
    affiliations = [
        " ".join(str(one).split())
        for one in author.xpath("x:affiliation/text()", namespaces=_NAMES)
    ]
    return {**read, "affiliations": affiliations} if affiliations else read


def _dois(entry: Any) -> list[dict[str, str]]:
    links = entry.xpath("a:link[@title='doi']/@href", namespaces=_NAMES)
    by_path = {unquote(urlsplit(link).path).lstrip("/"): link for link in links}
    found = []
    for element in entry.xpath("x:doi", namespaces=_NAMES):
        doi = " ".join(element.xpath("string(.)").split())
        found.append({"doi": doi, "url": by_path[doi]} if doi in by_path else {"doi": doi})
    return found


def _text(node: Any, path: str) -> str | None:
    found = node.xpath(path, namespaces=_NAMES)
    return (" ".join(found[0].xpath("string(.)").split()) or None) if found else None


def _first(node: Any, path: str) -> str | None:
    found = node.xpath(path, namespaces=_NAMES)
    return str(found[0]) if found else None
