"""Reads metadata from the tags of landing pages with lxml, as the truth for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_PREFIXES = ("citation_", "bepress_citation_", "prism.", "dc.", "dcterms.", "og:", "article:")
#: Members that repeat the full text, and members that do not describe the page.
_LEFT_OUT = frozenset({"articleBody", "reviewBody", "text", "@context", "@type"})


def statements(page: bytes) -> set[str]:
    """Returns the values of scholarly meta tags, and of valid JSON-LD."""
    from lxml import html

    try:
        root = html.fromstring(page.decode("utf-8", "replace").encode(), parser=_parser())
    except Exception:  # noqa: BLE001 - a page without an element
        return set()
    found = set()
    for tag in root.iter("meta"):
        name = (tag.get("name") or tag.get("property") or "").lower()
        if name.startswith(_PREFIXES):
            found.add(_line(tag.get("content") or ""))
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower() == "application/ld+json":
            try:
                data = json.loads(script.text or "")
            except ValueError:
                continue
            found.update(_line(text) for text in _texts(data, 0))
    return found - {""}


def of_document(document: Mapping[str, Any]) -> set[str]:
    """Returns the values of a document's metadata."""
    return {entry["value"] for entry in document.get("metadata", ())}


def _parser() -> Any:
    from lxml import html

    return html.HTMLParser(encoding="utf-8")


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _LEFT_OUT and depth < 4:
                yield from _texts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, depth)
    elif isinstance(value, str):
        yield value


def _line(text: str) -> str:
    return " ".join(text.split())
