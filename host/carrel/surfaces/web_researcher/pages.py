"""Translates `scrape_page` to `web_read`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from carrel.plugins.calls.result import LinkOffer
from carrel.surfaces.shape import Arguments, Json
from carrel.web.answers import TRUST, estimated_tokens
from carrel.web.research.paragraphs import cut
from carrel.web.research.scoring import authority_tier

from .members import camel_deep, clamped, renamed, snake_arguments

#: Bytes of a page: the default, the most, and those of a preview.
_DEFAULT, _LEAST, _MOST, _PREVIEW = 50_000, 200, 5_000_000, 5_000
#: Seconds that a page is returned from the cache.
_FRESH: Final = 3600
#: Kind of content → the tier that extracted it, for those that the document names.
_TIERS: Final = {"html": "html", "markdown": "markdown"}
#: Member of `web_read` → of `scrape_page`, for those that are the same.
_SAME: Final[Mapping[str, str]] = {
    "doi": "detectedDoi",
    "retraction_status": "retractionStatus",
}
#: Vocabulary of structured data → member; those with a prefix have it in the names of their values.
_VOCABULARIES: Final[Mapping[str, tuple[str, str]]] = {
    "open_graph": ("openGraph", "og:"),
    "citation": ("citation", "citation_"),
}


def page_arguments(arguments: Arguments) -> Json:
    """Returns the arguments of `web_read`: the text from its beginning, and no outline first."""
    translated = clamped(snake_arguments(arguments), "max_length", _LEAST, _MOST)
    return {**translated, "from": 0}


def page_result(arguments: Arguments, read: Json) -> Json:
    """Returns the result of `scrape_page`. Lengths are in bytes, so the text may be cut again.

    A source is cut behind the last whole character, a text to read behind a paragraph.
    """
    most = _PREVIEW if arguments.get("mode") == "preview" else arguments.get("max_length", _DEFAULT)
    shorten = _head if read.get("raw") else cut
    content, was_cut = shorten(read["text"], min(max(int(most), 1), _MOST))
    result: Json = {
        "url": read["url"],
        "content": content,
        "contentType": read["content_type"],
        "trust": TRUST,
        "contentLength": len(content.encode("utf-8", "replace")),
        "truncated": bool(read["truncated"]) or was_cut,
        "estimatedTokens": estimated_tokens(content),
        "sizeCategory": read["size_category"],
        "citation": _citation(read),
        "sourceType": read.get("source_type", "unknown"),
        "authorityTier": read.get("authority_tier") or authority_tier(read["url"]),
        "domainCategory": read.get("domain_category", "general"),
    }
    if read.get("raw"):
        return {**result, "raw": True}
    result["extractionQuality"] = "complete" if read.get("quality") == "complete" else "partial"
    result |= camel_deep(renamed(read, _SAME))
    tier = "browser" if read.get("in_browser") else _TIERS.get(read["content_type"])
    if tier is not None:
        result["extractedBy"] = tier
    if read.get("forum_signals"):
        result["forumSignals"] = {"upvotes": 0, "comments": 0} | camel_deep(read["forum_signals"])
    facts = read.get("metadata", {})
    if facts.get("title"):
        result["metadata"] = {"title": facts["title"], "author": _authors(facts)}
    structured = _structured(read.get("structured_data", {}))
    if structured:
        result["structuredData"] = structured
    return result


def page_metadata(meta: Mapping[str, Any], read: Json) -> Json:
    """Returns `_meta`: how old a cached page is; of a page that was just read nothing is added."""
    if not read.get("cached"):
        return dict(meta)
    return {
        **meta,
        "cached": True,
        "ageSeconds": read["age_seconds"],
        "maxAgeSeconds": _FRESH,
        "freshness": "cached",
    }


def page_link(arguments: Arguments, result: Json) -> LinkOffer | None:
    """Returns the summary sent in place of a large source; a cleaned text is always inline."""
    if arguments.get("mode") != "raw":
        return None
    return LinkOffer(f"Source of {result['url']}", {"contentSizeBytes": result["contentLength"]})


def _head(text: str, most: int) -> tuple[str, bool]:
    """Returns at most `most` bytes of a text in UTF-8, and whether something was cut."""
    encoded = text.encode("utf-8", "replace")
    return encoded[:most].decode("utf-8", "ignore"), len(encoded) > most


def _citation(read: Json) -> Json:
    cited, facts = read["citation"], read.get("metadata", {})
    return {
        "url": read["url"],
        "accessedDate": cited["accessed"],
        "metadata": {
            "title": facts.get("title", ""),
            "author": _authors(facts),
            "site": facts.get("site", ""),
            "date": facts.get("published", ""),
        },
        "formatted": {name: cited[name] for name in ("apa", "mla", "bibtex")},
    }


def _authors(facts: Mapping[str, Any]) -> str:
    return "; ".join(facts.get("authors", ()))


def _structured(found: Mapping[str, Sequence[Mapping[str, str]]]) -> Json:
    """Returns the statements of a page by vocabulary; a name that occurs twice has its first."""
    statements: Json = {}
    for vocabulary, (member, prefix) in _VOCABULARIES.items():
        values: Json = {}
        for entry in found.get(vocabulary, ()):
            name = entry["name"]
            whole = name if ":" in name or name.startswith(prefix) else prefix + name
            values.setdefault(whole, entry["value"])
        if values:
            statements[member] = values
    blocks = [{entry["name"]: entry["value"]} for entry in found.get("json_ld", ())]
    if blocks:
        statements["jsonLd"] = [{name: value for block in blocks for name, value in block.items()}]
    return statements
