"""Makes the result of `web_read` of a page that was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.documents.answer import read_answer
from carrel.documents.parts import estimated_tokens, take_part

from .citation import cite_page
from .metadata import page_metadata, structured_data
from .reading import ReadPage
from .schema import DEFAULT_LENGTH, PREVIEW_LENGTH, SIZES, TRUST


def page_answer(page: ReadPage, arguments: Mapping[str, Any], *, cached: bool) -> dict[str, Any]:
    """Returns a part of a page, and what the page is.

    Args:
        page: that was read.
        arguments: of `web_read`.
        cached: whether it was read before.

    Raises:
        ArgumentError: there is no such section, or `from` is behind the end.
    """
    document = {} if page.document is None else page.document.document
    told: dict[str, Any] = {
        "url": page.url,
        "content_type": page.media_type if page.document is None else page.document.format,
        "trust": TRUST,
        **(_source(page, arguments) if page.document is None else _read(page, arguments)),
        "size_category": _size(estimated_tokens(page.text)),
        "citation": cite_page(document, page.url, page.day),
    }
    whole = told["from"] == 0 and "next" not in told and "outline" not in told
    told["truncated"] = not whole or len(told["text"]) < told["length"] - 1
    if page.document is None:
        told["raw"] = True
    else:
        optional = {
            "metadata": page_metadata(document),
            "structured_data": structured_data(document),
            "doi": page.document.identifiers.get("doi"),
        }
        told |= {name: value for name, value in optional.items() if value}
    return {**told, "cached": cached, "age_seconds": int(page.age) if cached else 0}


def _read(page: ReadPage, arguments: Mapping[str, Any]) -> dict[str, Any]:
    assert page.document is not None, "a source has its own answer"
    wanted = {name: arguments[name] for name in ("section", "from") if name in arguments}
    wanted["max_chars"] = arguments.get("max_length", DEFAULT_LENGTH)
    if arguments.get("mode") == "preview":
        wanted["max_chars"] = PREVIEW_LENGTH
        if "section" not in wanted:
            wanted.setdefault("from", 0)
    return read_answer(page.document, wanted)


def _source(page: ReadPage, arguments: Mapping[str, Any]) -> dict[str, Any]:
    start, most = arguments.get("from", 0), arguments.get("max_length", DEFAULT_LENGTH)
    take_part(page.text, (), start=start, max_chars=1)  # refuses a start behind the end
    text = page.text[start : start + most]
    told = {"text": text, "from": start}
    if start + most < len(page.text):
        told["next"] = start + most
    return {**told, "length": len(page.text), "tokens": estimated_tokens(text)}


def _size(tokens: int) -> str:
    return next((name for name, most in SIZES if tokens < most), "very_large")
