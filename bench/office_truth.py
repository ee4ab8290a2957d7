"""What python-docx, python-pptx and lxml see in Office documents and books, piece by piece."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

#: Relations of the strict form of the format, which python-docx does not know.
STRICT = {"strict-format.docx"}


def letters(text: str) -> str:
    """Letters and digits of a text, in their plain form."""
    return "".join(
        character for character in unicodedata.normalize("NFKC", text) if character.isalnum()
    )


def strings(value: Any) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def seen_by_docx(path: Path) -> Iterator[tuple[str, str]]:
    import docx  # type: ignore[import-not-found, unused-ignore]

    def inside(container: Any, kind: str) -> Iterator[tuple[str, str]]:
        for paragraph in container.paragraphs:
            styled = paragraph.style is not None and paragraph.style.name.startswith("Heading")
            yield ("heading" if styled and kind == "paragraph" else kind), paragraph.text
        for table in container.tables:
            cells = (cell for row in table.rows for cell in row.cells)
            # A merged cell comes once for each place that it covers.
            for cell in {id(cell._tc): cell for cell in cells}.values():  # noqa: SLF001
                yield from inside(cell, "cell")

    yield from inside(docx.Document(str(path)), "paragraph")


def seen_by_pptx(path: Path) -> Iterator[tuple[str, str]]:
    import pptx  # type: ignore[import-not-found, unused-ignore]

    def inside(shapes: Any) -> Iterator[tuple[str, str]]:
        for shape in shapes:
            if hasattr(shape, "shapes"):
                yield from inside(shape.shapes)
                continue
            if shape.has_text_frame:
                yield from (
                    ("paragraph", paragraph.text) for paragraph in shape.text_frame.paragraphs
                )
            if getattr(shape, "has_table", False):
                yield from (("cell", cell.text) for row in shape.table.rows for cell in row.cells)

    for slide in pptx.Presentation(str(path)).slides:
        yield from inside(slide.shapes)
        if slide.shapes.title is not None:
            yield "heading", slide.shapes.title.text
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield "paragraph", slide.notes_slide.notes_text_frame.text


def seen_by_lxml(path: Path) -> Iterator[tuple[str, str]]:
    from lxml import html

    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if not name.endswith("html") or "toc" in name or "nav" in name:
                continue
            for element in html.fromstring(book.read(name)).iter(
                "h1", "h2", "h3", "p", "li", "td", "th"
            ):
                if element.find(".//p") is None and element.find(".//li") is None:
                    kind = "heading" if str(element.tag).startswith("h") else "paragraph"
                    yield kind, "".join(str(text) for text in element.itertext())


#: Ending of a file → the pieces that are seen in it, each with its kind.
SEEN_BY: Mapping[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    ".docx": seen_by_docx,
    ".pptx": seen_by_pptx,
    ".epub": seen_by_lxml,
}


def missing(document: Mapping[str, Any], seen: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pieces that a document lacks; a heading must be a section's as well.

    Args:
        document: what the reader gives.
        seen: kind and text of the pieces.
    """
    found = "\n".join(letters(text) for text in strings(document))
    headings = {letters(section.get("heading", "")) for section in document["sections"]}
    plain = [(kind, letters(text)) for kind, text in seen]
    return [
        (kind, text)
        for kind, text in plain
        if text not in found or (kind == "heading" and text and text not in headings)
    ]
