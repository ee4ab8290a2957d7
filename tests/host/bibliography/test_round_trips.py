"""Round trips: what is written is read again, and no text becomes another record."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.bibliography import WRITABLE, read_bibliography, write_bibliography
from carrel.bibliography.item import TYPES, Item
from support.bibliographies import EXPRESSED, MERGED, items

FORMATS = sorted(EXPRESSED)
RECORDS = {
    "bibtex": r"^@\w+\{", "biblatex": r"^@\w+\{", "ris": r"^TY  - ", "endnote": r"<record>",
    "word": r"<b:Source>", "csl-json": r'^    "id"',
}  # fmt: skip


def again(item: Item, format_name: str) -> Item:
    text = write_bibliography([item], format_name)
    found = read_bibliography(text, format_name)
    assert found.unread == ()
    [entry] = found.entries
    return entry.item


@pytest.mark.parametrize("format_name", FORMATS)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_round_trip_keeps_what_the_format_can_express(
    format_name: str, data: st.DataObject
) -> None:
    item = data.draw(items(format_name))
    expected = {**item, "type": MERGED[format_name].get(item["type"], item["type"])}
    if format_name == "bibtex" and item["type"] == "thesis":  # @phdthesis says which
        expected.setdefault("genre", "PhD thesis")
    found = again(item, format_name)
    wrong = {
        name: (expected.get(name), found.get(name))
        for name in {*expected, *found}
        if expected.get(name) != found.get(name)
    }
    assert wrong == {}, write_bibliography([item], format_name)


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("kind", TYPES)
def test_a_type_is_read_again_or_as_the_nearest(format_name: str, kind: str) -> None:
    found = again({"id": "a", "type": kind, "title": "Desks"}, format_name)
    assert found["type"] == MERGED[format_name].get(kind, kind)


@pytest.mark.parametrize(
    "members",
    [
        {"PMID": "31452104", "archive": "Furniture Index", "archive_location": "7"},
        {"PMID": "31452104", "archive": "Furniture Index"},
        {"PMID": "31452104", "archive_location": "Box 7: shelf 3"},
        {"PMID": "31452104", "archive_location": "123"},
        {"PMID": "31452104", "archive": "arXiv", "archive_location": "2401.00001"},
        {"PMID": "31452104", "archive": "MEDLINE", "archive_location": "7"},
        {"PMID": "31452104"},
        {"archive": "Furniture Index", "archive_location": "7"},
    ],
)
def test_a_pmid_and_a_place_in_an_archive_are_both_kept(members: dict[str, str]) -> None:
    item = {"id": "a", "type": "article-journal", "title": "Desks", **members}
    assert again(item, "ris") == item


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from((
        "}\n@book{b, title={x}}", "x},\n}\n@misc{", "a\nER  - \nTY  - BOOK\nTI  - b", "\r\nTY  - A",
        "</title></record><record>", "]]><record>", "</b:Source><b:Source>", "<!DOCTYPE a>", "&a;",
        "\\", "\\}", "{", "}", "$", "$}$", '"', "a\u2028TY  - JOUR", "a\x0bER  - ", "<i>", "</i>",
        '<span class="nocase">}</span>', "<i>}</i>", "\ud800", "\x00", "@comment{", "and", "others",
    )),
)  # fmt: skip


@pytest.mark.parametrize("format_name", WRITABLE)
@given(texts=st.lists(HOSTILE, min_size=9, max_size=9))
@settings(max_examples=150, deadline=None)
def test_no_text_of_an_item_becomes_another_record(format_name: str, texts: list[str]) -> None:
    a, b, c, d, e, f, g, h, i = texts
    item = {
        "id": a, "type": b, "title": c, "author": [{"family": d, "given": e}, {"literal": f}],
        "container-title": g, "DOI": h, "URL": i, "page": a, "keyword": b, "publisher": d,
        "issued": {"literal": e}, "accessed": {"raw": f}, "archive": g, "archive_location": h,
        "language": i, "genre": c, "ISBN": a, "custom": {"bibtex": {"file": b, c: d},
        "ris": {"L1": [e], f: [g]}, "tags": [h]},
    }  # fmt: skip
    last = {"id": "last", "type": "book", "title": "The last"}
    text = write_bibliography([item, last], format_name)
    text.encode()
    if format_name in {"endnote", "word"}:
        assert len(re.findall(RECORDS[format_name], text)) == 2
        ET.fromstring(text.encode())
    if format_name != "word":
        found = read_bibliography(text, format_name)
        assert len(found.entries) == 2
        assert found.entries[1].item["title"] == "The last"
        assert found.entries[1].label == "last"


@given(items("biblatex"))
@settings(max_examples=50, deadline=None)
def test_csl_json_keeps_all(item: Item) -> None:
    assert again(item, "csl-json") == item
