"""Tests the plugin for Office documents and e-books, in native code and in the sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.contract import contract_file
from carrel.errors import CarrelError, SourceError
from carrel.plugins.schemas.schema import compile_schema
from support.office_files import archive, docx, epub, odt, paragraph, pptx, relations, shape

SCHEMA = json.loads(contract_file("document.schema.json").read_text("utf-8"))


@pytest.fixture
def library(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("office"),)))


def read(library: Carrel, document_format: str, content: bytes) -> dict[str, Any]:
    """Returns the sandbox's result, after checking that native code returns the same."""
    document = library.parse("office", document_format, content)
    assert compile_schema(SCHEMA).is_valid(document)
    native = pytest.importorskip(
        "carrel_native", reason="the native module is not built (just native)"
    )
    assert json.loads(native.parse_bytes("office", document_format, content)) == document
    return document


def refusal(library: Carrel, document_format: str, content: bytes) -> dict[str, Any]:
    with pytest.raises(CarrelError) as caught:
        library.parse("office", document_format, content)
    return caught.value.to_dict()


def blocks(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for section in document["sections"] for block in section["blocks"]]


def texts(document: dict[str, Any]) -> list[str]:
    return [block["text"] for block in blocks(document) if "text" in block]


STYLES = (
    '<w:root><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="My own"/><w:basedOn w:val="berschrift1"/></w:style>'
    '<w:style w:styleId="Deep"><w:name w:val="Deep"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr>'
    "</w:style>"
    '<w:style w:styleId="Title"><w:name w:val="Title"/></w:style></w:root>'
)
NUMBERING = (
    '<w:root><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
    '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1">'
    '<w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:root>'
)
PARTS = relations(
    ("a", "styles", "styles.xml"),
    ("b", "numbering", "numbering.xml"),
    ("c", "footnotes", "footnotes.xml"),
    ("l", "hyperlink", "https://a.example/", "External"),
)


def test_headings_come_from_localised_inherited_and_outlined_styles(library: Carrel) -> None:
    body = (
        paragraph("The title", "Title")
        + paragraph("One", "berschrift1")
        + paragraph("words")
        + paragraph("Two", "Mine")
        + paragraph("Three", "Deep")
        + paragraph("Four", extra='<w:outlineLvl w:val="1"/>')
    )
    document = read(library, "docx", docx(body, PARTS, word_styles_xml=STYLES))
    assert document["title"] == "The title"
    assert [(one["heading"], one["level"]) for one in document["sections"]] == [
        ("One", 1),
        ("Two", 1),
        ("Three", 3),
        ("Four", 2),
    ]


def test_lists_are_nested_by_their_numbering(library: Carrel) -> None:
    def item(text: str, level: int) -> str:
        numbered = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
        return paragraph(text, extra=numbered)

    body = item("one", 0) + item("inner", 1) + item("two", 0)
    document = read(library, "docx", docx(body, PARTS, word_numbering_xml=NUMBERING))
    inner = {"kind": "list", "items": [{"text": "inner"}]}
    assert blocks(document) == [
        {
            "kind": "list",
            "ordered": True,
            "items": [{"text": "one", "blocks": [inner]}, {"text": "two"}],
        }
    ]


def test_tables_have_spans_and_header_rows(library: Carrel) -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"

    wide, tall = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>'
    rows = (
        f"<w:tr><w:trPr><w:tblHeader/></w:trPr>{cell('wide', wide)}</w:tr>"
        f"<w:tr>{cell('tall', tall)}{cell('b')}</w:tr>"
        f"<w:tr>{cell('', '<w:vMerge/>')}{cell('c')}</w:tr>"
    )
    document = read(library, "docx", docx(f"<w:tbl>{rows}</w:tbl>"))
    assert blocks(document) == [
        {
            "kind": "table",
            "rows": [["wide", ""], ["tall", "b"], ["", "c"]],
            "header_rows": 1,
            "spans": [
                {"row": 0, "column": 0, "rows": 1, "columns": 2},
                {"row": 1, "column": 0, "rows": 2, "columns": 1},
            ],
        }
    ]


def test_insertions_stay_and_deletions_and_hidden_text_go(library: Carrel) -> None:
    runs = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>"
    )
    document = read(library, "docx", docx(runs))
    assert texts(document) == ["kept new"]
    assert [one["code"] for one in document["warnings"]] == ["hidden_text"]


def test_notes_links_formulas_and_text_boxes_are_kept(library: Carrel) -> None:
    body = (
        '<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id="l"><w:r><w:t>this</w:t></w:r>'
        "</w:hyperlink>"
        '<w:r><w:footnoteReference w:id="7"/></w:r></w:p>'
        "<w:p><m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>π</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara></w:p>"
        "<w:p><w:r><w:drawing><wp:docPr descr='A cat'/><w:txbxContent>"
        f"{paragraph('boxed')}</w:txbxContent></w:drawing></w:r></w:p>"
    )
    notes = f'<w:root><w:footnote w:id="7">{paragraph("a note")}</w:footnote></w:root>'
    document = read(library, "docx", docx(body, PARTS, word_footnotes_xml=notes))
    assert blocks(document) == [
        {"kind": "paragraph", "text": "See this¹"},
        {"kind": "footnote", "label": "1", "text": "a note"},
        {"kind": "equation", "tex": "\\frac{\\pi}{2}"},
        {"kind": "quote", "role": "text-box", "text": "boxed"},
        {"kind": "figure", "text": "A cat"},
    ]
    assert document["links"] == [{"href": "https://a.example/", "text": "this"}]


def test_the_list_of_references_becomes_references(library: Carrel) -> None:
    body = (
        paragraph("Words")
        + paragraph("References", "Heading1")
        + paragraph("Doe, J. (2019). A title. https://doi.org/10.5555/abc.")
    )
    document = read(library, "docx", docx(body))
    assert document["references"] == [
        {
            "text": "Doe, J. (2019). A title. https://doi.org/10.5555/abc.",
            "doi": "10.5555/abc",
            "url": "https://doi.org/10.5555/abc",
            "year": "2019",
        }
    ]
    assert document["sections"][-1] == {
        "heading": "References",
        "level": 1,
        "kind": "references",
        "blocks": [],
    }


def test_slides_are_in_the_order_of_the_presentation(library: Carrel) -> None:
    bullet = '<a:p><a:pPr lvl="{}"><a:buChar char="-"/></a:pPr><a:r><a:t>{}</a:t></a:r></a:p>'
    second = shape("Second", kind="title") + f"<p:grpSp>{shape('grouped')}</p:grpSp>"
    first = shape(bullet.format(0, "one"), bullet.format(1, "two")) + shape("First", kind="title")
    document = read(library, "pptx", pptx(second, first, show=("0",)))
    shown = [(one["label"], one["heading"], one["kind"]) for one in document["sections"]]
    assert shown == [("1", "First", "slide"), ("2", "Second", "hidden_slide")]
    assert document["pages"] == 2
    inner = {"kind": "list", "items": [{"text": "two"}]}
    assert blocks(document) == [
        {"kind": "list", "items": [{"text": "one", "blocks": [inner]}]},
        {"kind": "paragraph", "text": "grouped"},
    ]


def test_an_opendocument_text_is_read(library: Carrel) -> None:
    body = (
        '<text:h text:outline-level="2">Heading</text:h><text:p>a<text:s text:c="2"/>b<text:note>'
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p></text:note-body>"
        "</text:note></text:p><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell"
        ' table:number-columns-spanned="2"><text:p>h</text:p></table:table-cell>'
        "<table:covered-table-cell/></table:table-row></table:table-header-rows><table:table-row><table:table-cell>"
        '<text:p>c</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2">'
        "<text:p>d</text:p></table:table-cell></table:table-row></table:table>"
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
    )
    meta = '<a xmlns:dc="urn:dc" xmlns:o="urn:o"><o:meta><dc:title>Stated</dc:title></o:meta></a>'
    document = read(library, "odt", odt(body, meta_xml=meta))
    assert document["title"] == "Stated"
    assert [(one["heading"], one["level"]) for one in document["sections"]] == [("Heading", 2)]
    assert blocks(document) == [
        {"kind": "paragraph", "text": "a b¹"},
        {"kind": "footnote", "label": "1", "text": "note"},
        {"kind": "list", "items": [{"text": "one"}]},
        {
            "kind": "table",
            "rows": [["h", "", ""], ["c", "d", "d"]],
            "header_rows": 1,
            "spans": [{"row": 0, "column": 0, "rows": 1, "columns": 2}],
        },
    ]


def test_a_book_is_read_in_the_order_of_its_spine(library: Carrel) -> None:
    page = "<html><body>{}</body></html>"
    chapters = {
        "b": page.format("<h1>First</h1><p>H<sub>2</sub>O &#169; <b>x</b></p>"),
        "a": page.format("<p>without a heading</p>"),
        "c": "<html><body><p>not <b>closed<p>right</body>",
    }
    metadata = (
        "<dc:title>A book</dc:title><dc:creator>Jane Doe</dc:creator><dc:language>en</dc:language>"
        "<dc:identifier>urn:isbn:9783161484100</dc:identifier><dc:identifier>doi:10.5555/b</dc:identifier>"
    )
    nav = page.format('<nav><ol><li><a href="a.xhtml">Named in the contents</a></li></ol></nav>')
    document = read(library, "epub", epub(chapters, metadata, nav))
    assert document["title"] == "A book"
    assert document["authors"] == [{"literal": "Jane Doe"}]
    assert document["identifiers"] == {"isbn": ["9783161484100"], "doi": "10.5555/b"}
    assert [one.get("heading") for one in document["sections"]] == [
        "First",
        "Named in the contents",
    ]
    assert texts(document) == ["H₂O © x", "without a heading", "not closed", "right"]
    assert [one["code"] for one in document["warnings"]] == ["malformed_chapter"]


def test_what_is_outside_the_document_is_named_and_never_read(library: Carrel) -> None:
    links = relations(
        ("i", "image", "file:///etc/passwd", "External"),
        ("t", "attachedTemplate", "https://a.example/t.dotm", "External"),
        ("h", "header", "../../../etc/passwd"),
    )
    document = read(library, "docx", docx(paragraph("words"), links))
    codes = [(one["code"], "etc/passwd" in str(one)) for one in document["warnings"]]
    assert codes == [
        ("missing_part", True),
        ("external_relation", False),
        ("external_relation", True),
    ]


@pytest.mark.parametrize("document_format", ["docx", "pptx", "odt", "epub"])
def test_an_encrypted_office_file_is_reported_as_encrypted(
    library: Carrel, document_format: str
) -> None:
    name = "EncryptedPackage".encode("utf-16-le").ljust(128, b"\0")
    document = read(
        library, document_format, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0") + name
    )
    assert (document["quality"], document["quality_reason"]) == ("none", "encrypted")


def test_an_old_binary_document_is_reported_as_such(library: Carrel) -> None:
    name = "WordDocument".encode("utf-16-le").ljust(128, b"\0")
    error = refusal(library, "docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0") + name)
    assert error["code"] == "invalid_document"
    assert "Word 97-2003" in error["message"]


def test_a_protected_book_has_the_reason_encrypted(library: Carrel) -> None:
    sealed = (
        '<encryption><EncryptedData><CipherData><CipherReference URI="OPS/a.xhtml"/></CipherData>'
        "</EncryptedData></encryption>"
    )
    document = read(library, "epub", epub({"a": "<html/>"}, **{"META-INF__encryption.xml": sealed}))
    assert (document["quality"], document["quality_reason"]) == ("none", "encrypted")


def bomb() -> bytes:
    return docx("<w:p><w:r><w:t>" + "a" * (80 << 20) + "</w:t></w:r></w:p>")


HOSTILE: dict[str, tuple[str, Callable[[], bytes], set[str]]] = {
    "bomb": ("docx", bomb, {"too_large"}),
    "many-entries": ("docx", lambda: archive({f"{n}": "" for n in range(50_001)}), {"too_large"}),
    "entities": (
        "docx",
        lambda: archive(
            {"word/document.xml": '<!DOCTYPE a [<!ENTITY b "c">]><document>&b;</document>'}
        ),
        {"invalid_document"},
    ),
    "nested-zip": ("docx", lambda: archive({"a.zip": archive({"b": "c"})}), {"invalid_document"}),
    "other-format": ("docx", lambda: pptx(shape("words")), {"invalid_document"}),
    "no-zip": ("epub", lambda: b"words", {"invalid_document"}),
    "empty": ("odt", lambda: b"", {"invalid_document"}),
    "deep": ("odt", lambda: odt("<text:section>" * 100_000), {"invalid_document"}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_one_typed_error(library: Carrel, name: str) -> None:
    document_format, make, codes = HOSTILE[name]
    error = refusal(library, document_format, make())
    assert error["code"] in codes
    assert library.parse("office", "docx", docx(paragraph("still here")))["quality"] == "complete"


def test_a_picture_is_not_inflated(library: Carrel) -> None:
    """Pictures are no text: one of 300 MB costs nothing."""
    picture = '<w:p><w:r><w:drawing><a:blip r:embed="r1"/></w:drawing></w:r></w:p>'
    links = relations(("r1", "image", "media/picture.png"))
    data = docx(paragraph("words") + picture, links, **{"word_media/picture_png": bytes(300 << 20)})
    document = read(library, "docx", data)
    assert texts(document) == ["words"]


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:p><w:r><w:drawing><w:txbxContent>", "</w:txbxContent></w:drawing></w:r></w:p>"),
    ],
)
@pytest.mark.parametrize("depth", [10, 30])
def test_blocks_inside_each_other_do_not_use_up_the_stack(
    library: Carrel, before: str, behind: str, depth: int
) -> None:
    document = read(library, "docx", docx(before * depth + paragraph("word") + behind * depth))
    assert "word" in json.dumps(document)


def test_options_are_refused(library: Carrel) -> None:
    with pytest.raises(SourceError, match="unknown field"):
        library.parse("office", "docx", docx(paragraph("a")), {"pages": "1"})
