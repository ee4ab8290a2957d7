"""Tests captured Office documents against python-docx, python-pptx and lxml."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from carrel.api import Carrel
from carrel.config import Config, builtin
from conftest import CORPUS

FILES = sorted((CORPUS / "office").glob("*/*")) if CORPUS.is_dir() else []
FILES = [path for path in FILES if path.suffix in {".docx", ".pptx", ".epub"}]
#: Relations of the strict variant of the format, which python-docx does not support.
STRICT = {"strict-format.docx"}


@pytest.fixture
def desk(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("office"),)))


def letters(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKC", text) if one.isalnum())


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def headings(document: dict[str, Any]) -> set[str]:
    return {letters(section.get("heading", "")) for section in document["sections"]}


def seen_by_docx(path: Path) -> Iterator[tuple[str, str]]:
    reader: Any = pytest.importorskip("docx", reason="python-docx is not installed")

    def inside(container: Any, kind: str) -> Iterator[tuple[str, str]]:
        for one in container.paragraphs:
            styled = one.style is not None and one.style.name.startswith("Heading")
            yield ("heading" if styled and kind == "paragraph" else kind), one.text
        for table in container.tables:
            known = set()
            for cell in (cell for row in table.rows for cell in row.cells):
                if id(cell._tc) not in known:
                    known.add(id(cell._tc))
                    yield from inside(cell, "cell")

    yield from inside(reader.Document(str(path)), "paragraph")


def seen_by_pptx(path: Path) -> Iterator[tuple[str, str]]:
    reader: Any = pytest.importorskip("pptx", reason="python-pptx is not installed")

    def inside(shapes: Any) -> Iterator[tuple[str, str]]:
        for one in shapes:
            if hasattr(one, "shapes"):
                yield from inside(one.shapes)
                continue
            if one.has_text_frame:
                yield from (
                    ("paragraph", paragraph.text) for paragraph in one.text_frame.paragraphs
                )
            if getattr(one, "has_table", False):
                yield from (("cell", cell.text) for row in one.table.rows for cell in row.cells)

    for slide in reader.Presentation(str(path)).slides:
        yield from inside(slide.shapes)
        if slide.shapes.title is not None:
            yield "heading", slide.shapes.title.text
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield "paragraph", slide.notes_slide.notes_text_frame.text


def seen_by_lxml(path: Path) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if not name.endswith("html") or "toc" in name or "nav" in name:
                continue
            for one in html.fromstring(book.read(name)).iter(
                "h1", "h2", "h3", "p", "li", "td", "th"
            ):
                if one.find(".//p") is None and one.find(".//li") is None:
                    kind = "heading" if str(one.tag).startswith("h") else "paragraph"
                    yield kind, "".join(str(text) for text in one.itertext())


SEEN_BY = {".docx": seen_by_docx, ".pptx": seen_by_pptx, ".epub": seen_by_lxml}


def test_the_captured_documents_are_there(corpus: Path) -> None:
    assert len(list((corpus / "office").glob("*/*.docx"))) >= 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_captured_document_has_everything_that_others_see(desk: Carrel, path: Path) -> None:
    document = desk.parse("office", path.suffix[1:], path.read_bytes())
    if path.name in STRICT:
        assert "Test" in str(document["sections"])
        return
    seen = [(kind, letters(text)) for kind, text in SEEN_BY[path.suffix](path)]
    found = "\n".join(letters(text) for text in strings(document))
    missing = [(kind, text) for kind, text in seen if text not in found]
    known = headings(document)
    missing += [
        (kind, text) for kind, text in seen if kind == "heading" and text and text not in known
    ]
    assert missing == []
