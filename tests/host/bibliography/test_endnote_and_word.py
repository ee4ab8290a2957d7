"""EndNote XML and Word's sources."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.bibliography import BibliographyError, read_bibliography, write_bibliography

STYLED = """<?xml version="1.0"?><xml><records>
<record><ref-type name="Journal Article">17</ref-type>
<contributors><authors><author><style face="normal" font="default">Desk, Ann</style></author>
<author>Desk Office,</author></authors></contributors>
<titles><title><style face="normal">On </style><style face="italic">E. coli</style></title>
<secondary-title>Annals</secondary-title></titles><periodical><full-title>Annals</full-title>
<abbr-1>Ann.</abbr-1></periodical><pages>1-9</pages><dates><year>2001</year><pub-dates>
<date>May 3</date></pub-dates></dates><isbn>1234-5679</isbn>
<electronic-resource-num>https://doi.org/10.5555/e</electronic-resource-num></record>
<record><broken</record>
<record><ref-type name="Book">6</ref-type><titles><title>Desks</title>
<secondary-title>Furniture</secondary-title></titles></record>
</records></xml>"""


def test_a_damaged_record_loses_no_other() -> None:
    found = read_bibliography(STYLED)
    assert found.format == "endnote"
    assert [one.item.get("title") for one in found.entries] == ["On <i>E. coli</i>", "Desks"]
    assert [(one.label, one.line) for one in found.unread] == [("record 2", 10)]
    assert "not well-formed" in found.unread[0].problem


def test_styles_names_and_dates_are_read() -> None:
    item = read_bibliography(STYLED).entries[0].item
    assert item["author"] == [{"family": "Desk", "given": "Ann"}, {"literal": "Desk Office"}]
    assert item["issued"] == {"date-parts": [[2001, 5, 3]]}
    assert item["container-title-short"] == "Ann."
    assert item["DOI"] == "10.5555/e"
    assert read_bibliography(STYLED).entries[1].item["collection-title"] == "Furniture"


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]>'
    record = "<record><titles><title>&c;</title></titles></record>"
    found = read_bibliography(f"{bomb}<xml><records>{record}</records></xml>", "endnote")
    assert [entry.item["title"] for entry in found.entries] == ["&c;"]
    assert "ampersand that is not escaped" in found.unread[0].problem
    inner = read_bibliography(f"<records><record>{bomb}</record></records>", "endnote")
    assert inner.entries == ()


@pytest.mark.parametrize("inner", ["<a>" * 300 + "</a>" * 300, "<a/>" * 100_001])
def test_a_record_is_limited(inner: str) -> None:
    found = read_bibliography(f"<records><record>{inner}</record></records>", "endnote")
    assert "too many elements" in found.unread[0].problem


def test_xml_without_records_is_malformed() -> None:
    with pytest.raises(BibliographyError) as raised:
        read_bibliography("<html/>", "endnote")
    assert raised.value.bibliography_code == "MALFORMED"


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for start in ("<records><record>", "<xml><records><record><titles><title>"):
        read_bibliography((start + text).replace("\x00", ""), "endnote")


def test_words_sources() -> None:
    text = write_bibliography(
        [{
            "id": "müller 2001", "type": "article-journal", "title": "On <i>desks</i> & chairs",
            "author": [{"family": "Berg", "given": "Ann B.", "non-dropping-particle": "van"}],
            "editor": [{"literal": "Desk Office"}], "container-title": "Annals", "page": "1-9",
            "issued": {"date-parts": [[2001, 5]]}, "accessed": {"date-parts": [[2024, 1, 2]]},
        }],
        "word",
    )  # fmt: skip
    space = "{http://schemas.openxmlformats.org/officeDocument/2006/bibliography}"
    [source] = ET.fromstring(text.encode())
    fields = {one.tag.removeprefix(space): one.text for one in source}
    assert fields["Tag"] == "müller2001"
    assert fields["SourceType"] == "JournalArticle"
    assert fields["Title"] == "On desks & chairs"
    assert (fields["JournalName"], fields["Pages"]) == ("Annals", "1-9")
    assert (fields["Year"], fields["Month"], fields["DayAccessed"]) == ("2001", "5", "2")
    person = source.find(f".//{space}Author/{space}Author//{space}Person")
    assert person is not None
    assert [one.text for one in person] == ["van Berg", "Ann", "B."]
    assert source.findtext(f".//{space}Editor/{space}Corporate") == "Desk Office"
