"""Makes the result of `web_read` of a page that was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.documents.answer import read_answer
from carrel.documents.parts import take_part

from .answers import TRUST, estimated_tokens, size_category
from .citation import cite_page
from .forum import forum_signals
from .injections import addresses_model, find_injections
from .links import page_links
from .metadata import page_metadata, structured_data
from .reading import ReadPage
from .schema import DEFAULT_LENGTH, PREVIEW_LENGTH


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
    answer: dict[str, Any] = {
        "url": page.url,
        "content_type": page.media_type if page.document is None else page.document.format,
        "trust": TRUST,
        **(_source(page, arguments) if page.document is None else _read(page, arguments)),
        "size_category": size_category(estimated_tokens(page.text)),
        "source_type": page.source.type,
        "authority_tier": page.source.authority,
        "domain_category": page.source.category,
        "citation": cite_page(document, page.url, page.day),
    }
    whole = answer["from"] == 0 and "next" not in answer and "outline" not in answer
    answer["truncated"] = not whole or len(answer["text"]) < answer["length"] - 1
    answer["tokens"] = estimated_tokens(answer["text"])
    if page.document is None:
        answer["raw"] = True
    else:
        answer["extracted_by"] = page.document.plugin
        if page.in_browser:
            answer["in_browser"] = True
        about = _about(page, document)
        warnings = [*answer.pop("warnings", ()), *about.pop("more_warnings")]
        answer |= about | ({"warnings": warnings} if warnings else {})
        answer |= page_links(document, page.url, wanted=bool(arguments.get("links")))
    marks = find_injections(answer["text"], start=answer["from"])
    if marks:
        answer["addresses_model"] = marks
    return {**answer, "cached": cached, "age_seconds": int(page.age) if cached else 0}


def _about(page: ReadPage, document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the page's own facts, without those that address a model, and what is known of it."""
    metadata, structured = page_metadata(document), structured_data(document)
    left_out = 0
    for statements in structured.values():
        remaining = [
            statement for statement in statements if not addresses_model(statement["value"])
        ]
        left_out += len(statements) - len(remaining)
        statements[:] = remaining
    members = {
        "metadata": metadata,
        "structured_data": {name: value for name, value in structured.items() if value},
        "doi": page.doi,
        "retraction_status": page.retraction.status,
        "forum_signals": forum_signals(document, page.url, page.forum),
    }
    warnings = [page.retraction.warning] if page.retraction.warning else []
    if left_out:
        warnings.append(f"{left_out} statements of the page's tags address a model; left out")
    return {name: value for name, value in members.items() if value} | {"more_warnings": warnings}


def _read(page: ReadPage, arguments: Mapping[str, Any]) -> dict[str, Any]:
    assert page.document is not None, "a source has its own answer"
    options = {name: arguments[name] for name in ("section", "from") if name in arguments}
    options["max_chars"] = arguments.get("max_length", DEFAULT_LENGTH)
    if arguments.get("mode") == "preview":
        options["max_chars"] = PREVIEW_LENGTH
        if "section" not in options:
            options.setdefault("from", 0)
    return read_answer(page.document, options)


def _source(page: ReadPage, arguments: Mapping[str, Any]) -> dict[str, Any]:
    start, most = arguments.get("from", 0), arguments.get("max_length", DEFAULT_LENGTH)
    take_part(page.text, (), start=start, max_chars=1)  # refuses a start behind the end
    text = page.text[start : start + most]
    part = {"text": text, "from": start}
    if start + most < len(page.text):
        part["next"] = start + most
    return {**part, "length": len(page.text), "tokens": estimated_tokens(text)}
