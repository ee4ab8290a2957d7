"""Reads articles with lxml, independently of the parser under test.

Texts are compared by their letters and digits only (NFKC, without spaces and signs): the parser may
choose how to write a subscript and where to put spaces, but may not lose a word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

#: Elements that divide a paragraph into pieces: blocks, and formulas, which can be written in
#: several ways.
_BLOCKS = {
    "p",
    "list",
    "def-list",
    "disp-formula",
    "fig",
    "fig-group",
    "table-wrap",
    "table",
    "media",
    "supplementary-material",
    "boxed-text",
    "disp-quote",
    "fn",
    "code",
    "preformat",
    "sec",
    "title",
    "verse-group",
    "statement",
    "graphic",
    "caption",
    "label",
    "head",
    "figure",
    "formula",
    "note",
    "inline-formula",
    "alternatives",
    "tex-math",
    "math",
    "chem-struct-wrap",
    "item",
    "div",
    "text",
    "index-term",
    "listBibl",
    "biblStruct",
}
#: Footnote marks at the end of a title, which are not part of it.
_MARKS = {"fn", "aff", "corresp", "author-notes"}


@dataclass
class Seen:
    """The parts of an article that a reader must return, each as letters and digits."""

    title: str = ""
    headings: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    references: list[list[str]] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)


def letters(text: str) -> str:
    """Returns the letters and digits of a text."""
    return "".join(one for one in unicodedata.normalize("NFKC", text) if one.isalnum())


def root_of(document: bytes) -> Any:
    """Returns the root element. GROBID's training data has invalid attribute names: lxml
    recovers.
    """
    parser = etree.XMLParser(recover=True, huge_tree=True, no_network=True, load_dtd=False)
    return etree.fromstring(document, parser)


def name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def parents(element: Any) -> set[str]:
    return {name(one) for one in element.iterancestors()}


def pieces(element: Any) -> Iterator[str]:
    """Yields the text of an element, divided at elements that are not part of its
    text.
    """
    text = element.text or ""
    for child in element:
        if name(child) in _BLOCKS:
            yield text
            text = ""
        elif name(child):
            inner = list(pieces(child))
            text += inner[0]
            if len(inner) > 1:
                yield text
                yield from inner[1:-1]
                text = inner[-1]
        text += child.tail or ""
    yield text


def _whole(element: Any, *, without_marks: bool = False) -> str:
    copy: Any = etree.fromstring(etree.tostring(element, with_tail=False))
    for inner in list(copy.iter(etree.Element)):
        mark = name(inner) == "xref" and inner.get("ref-type") in _MARKS
        if inner is not copy and (
            name(inner) in {"fn", "note", "index-term"} or (mark and without_marks)
        ):
            parent, before = inner.getparent(), inner.getprevious()
            if before is not None:
                before.tail = (before.tail or "") + (inner.tail or "")
            else:
                parent.text = (parent.text or "") + (inner.tail or "")
            parent.remove(inner)
    return letters("".join(map(str, copy.itertext(etree.Element))))


def _formulas(element: Any) -> bool:
    return any(
        name(one) in {"inline-formula", "alternatives", "math", "tex-math"}
        for one in element.iter()
    )


def read_jats(document: bytes) -> Seen:
    """Returns the parts of a JATS article."""
    root = root_of(document)
    seen = Seen()
    titles = root.xpath("./front/article-meta/title-group/article-title")
    seen.title = _whole(titles[0], without_marks=True) if titles else ""
    for group in root.xpath(
        "./front/article-meta/contrib-group/contrib[not(@contrib-type) or "
        "starts-with(@contrib-type, 'author')]"
    ):
        names = group.xpath("./name/surname")
        seen.authors += [letters("".join(names[0].itertext()))] if names else []
    for element in root.iter(etree.Element):
        tag = name(element)
        around = parents(element)
        if {"front", "front-stub"} & around and not {"abstract", "trans-abstract"} & around:
            continue
        if tag == "title" and "ref" not in around:
            in_caption = name(element.getparent()) == "caption"
            (seen.captions if in_caption else seen.headings).append(
                _whole(element, without_marks=True)
            )
        elif tag == "p" and not {"td", "th"} & around:
            in_caption = "caption" in around
            found = [letters(piece) for piece in pieces(element)]
            (seen.captions if in_caption else seen.paragraphs).extend(found)
        elif tag in {"td", "th"} and not _formulas(element):
            seen.cells.append(_whole(element))
        elif tag == "ref":
            seen.references.append(_parts(element))
    return _without_blanks(seen)


def read_tei(document: bytes) -> Seen:
    """Returns the parts of a TEI article."""
    root = root_of(document)
    seen = Seen()
    titles = root.xpath(
        "//*[local-name()='TEI' or local-name()='tei']/*[local-name()='teiHeader']"
        "/*[local-name()='fileDesc']/*[local-name()='titleStmt']/*[local-name()='title']"
    )
    seen.title = _whole(titles[0]) if titles else ""
    for element in root.iter(etree.Element):
        tag = name(element)
        around = parents(element)
        if not {"text", "abstract"} & around:
            continue
        if tag == "head" and "figure" not in around:
            seen.headings.append(_whole(element))
        elif tag in {"p", "figDesc"} or tag in {"div", "item", "figure"}:
            seen.paragraphs += [letters(piece) for piece in pieces(element)]
        elif tag == "cell":
            seen.cells.append(_whole(element))
        elif tag in {"biblStruct", "bibl"} and "listBibl" in around:
            seen.references.append(_parts(element))
    return _without_blanks(seen)


def _parts(reference: Any) -> list[str]:
    """Returns the texts in a reference, in pieces that do not depend on the order or the signs
    between them.
    """
    return [letters(text) for text in reference.itertext(etree.Element) if letters(text)]


def _without_blanks(seen: Seen) -> Seen:
    for values in (seen.headings, seen.paragraphs, seen.cells, seen.captions, seen.authors):
        values[:] = [value for value in values if value]
    seen.references = [parts for parts in seen.references if parts]
    return seen


def texts(value: Any, *keys: str) -> Iterator[str]:
    """Yields the texts below keys of a document that the parser returned."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys:
                yield from _strings(inner)
            if isinstance(inner, dict | list):
                yield from texts(inner, *keys)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, *keys)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, str | list):
                yield from _strings(inner)


def missing(seen: Seen, document: dict[str, Any]) -> dict[str, list[str]]:
    """Returns the texts that lxml reads and the document lacks, by kind."""

    def joined(*keys: str) -> str:
        return "\n".join(letters(text) for text in texts(document, *keys))

    headings = joined("heading", "text", "caption", "label")
    prose = joined("text", "caption", "label", "heading")
    captions = joined("caption", "text", "heading")
    # Cells correspond one to one: equal texts occur equally often.
    cells: dict[str, int] = {}
    for cell in texts(document, "rows"):
        cells[letters(cell)] = cells.get(letters(cell), 0) + 1
    lost_cells = []
    for cell in seen.cells:
        if cells.get(cell, 0) == 0:
            lost_cells.append(cell)
        else:
            cells[cell] -= 1
    references = [
        letters(f"{one.get('label', '')} {one['text']}") for one in document.get("references", [])
    ]
    whole = "\n".join(references)
    # Count parts, because one reference may contain several citations.
    lost_references = [
        " | ".join(part for part in parts if part not in whole)
        for parts in seen.references
        if not any(all(part in one for part in parts) for one in references)
        and not all(part in whole for part in parts)
    ]
    authors = joined("family", "literal")
    found_title = letters(document.get("title", ""))
    return {
        "title": [] if seen.title == found_title else [seen.title],
        "heading": [one for one in seen.headings if one not in headings],
        "paragraph": [one for one in seen.paragraphs if one not in prose],
        "caption": [one for one in seen.captions if one not in captions],
        "cell": lost_cells,
        "reference": lost_references,
        "author": [one for one in seen.authors if one not in authors],
    }


def counts(seen: Seen) -> dict[str, int]:
    """Returns how many of each kind there are."""
    return {
        "title": int(bool(seen.title)),
        "heading": len(seen.headings),
        "paragraph": len(seen.paragraphs),
        "caption": len(seen.captions),
        "cell": len(seen.cells),
        "reference": len(seen.references),
        "author": len(seen.authors),
    }
