"""Makes what the tools `document_read` and `paper_read` answer of a document that was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.text.printable import printable

from .schema import DEFAULT_CHARS

if TYPE_CHECKING:
    from .reading import ReadDocument

#: Warnings that an answer may have.
_MAX_WARNINGS: Final = 10


def read_answer(read: ReadDocument, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a document is, and a part of its text.

    A document longer than `max_chars` of which no part is asked for has its outline and the text
    before its first section.

    Args:
        read: the document.
        arguments: `section`, `from` and `max_chars`, as of `document_read`.

    Raises:
        ArgumentError: there is no such section, or `from` is behind the end.
    """
    section, start = arguments.get("section"), arguments.get("from")
    most = int(arguments.get("max_chars", DEFAULT_CHARS))
    result: dict[str, Any] = {
        name: read.document[name]
        for name in ("title", "kind", "quality", "quality_reason", "identifiers", "pages")
        if name in read.document
    }
    if section is None and start is None and len(read.text) > most and read.headings:
        result["outline"], left_out = read.outline()
        if left_out:
            result["outline_left_out"] = left_out
        # The text before the first section: title, authors, abstract.
        first = next(
            (heading.start for heading in read.headings if heading.part != "abstract"), most
        )
        most = min(most, first) or most
    part = read.part(section=section, start=start or 0, max_chars=most)
    result |= {"text": part.text, "from": part.start}
    if part.next is not None:
        result["next"] = part.next
    result |= {"length": part.length, "tokens": part.tokens}
    if warnings := _warnings(read):
        result["warnings"] = warnings
    return result


def _warnings(read: ReadDocument) -> list[str]:
    texts = []
    for warning in read.document.get("warnings", ())[:_MAX_WARNINGS]:
        location = f" ({warning['place']})" if "place" in warning else ""
        texts.append(printable(f"{warning.get('message', '')}{location}", 300))
    return texts
