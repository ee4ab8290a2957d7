"""RIS in the dialects of programs, MEDLINE records, and exports of Web of Science."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.bibliography import read_bibliography, write_bibliography


def item(text: str, kind: str = "JOUR") -> dict[str, Any]:
    [entry] = read_bibliography(f"TY  - {kind}\n{text}\nER  - \n", "ris").entries
    return entry.item


@pytest.mark.parametrize(
    "text",
    [
        "TY  - JOUR\nTI  - A\nTY  - BOOK\nTI  - B\n",
        "TY - JOUR\r\nTI - A\r\nER - \r\n\r\nTY - BOOK\r\nTI - B\r\n",
        "TY  -JOUR\nTI  -A\nER  -\nTY  -BOOK\nTI  -B\nER  -",
        "  TY  - JOUR\n  TI  - A\n  ER  - \n\n1.\n  TY  - BOOK\n  TI  - B\n",
        "junk\nTY  - JOUR\rTI  - A\rER  - \rTY  - BOOK\rTI  - B\r",
    ],
)
def test_records_are_found_in_every_dialect(text: str) -> None:
    found = read_bibliography(text, "ris")
    assert [(one.item["type"], one.item["title"]) for one in found.entries] == [
        ("article-journal", "A"), ("book", "B"),
    ]  # fmt: skip
    assert found.unread == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T1  - On\n desks", {"title": "On desks"}),
        ("A1  - Desk, Ann, Jr.", {"author": [{"family": "Desk", "given": "Ann", "suffix": "Jr."}]}),
        ("AU  - Desk Office", {"author": [{"literal": "Desk Office"}]}),
        ("AU  - Desk, Inc.,", {"author": [{"literal": "Desk, Inc."}]}),
        ("AU  - van Desk, A.", {"author": [
            {"non-dropping-particle": "van", "family": "Desk", "given": "A."}]}),
        ("Y1  - 2014/05/03/", {"issued": {"date-parts": [[2014, 5, 3]]}}),
        ("PY  - 2014\nDA  - May 3", {"issued": {"date-parts": [[2014, 5, 3]]}}),
        ("PY  - 2014\nDA  - 2014/05//", {"issued": {"date-parts": [[2014, 5]]}}),
        ("PY  - in press", {"issued": {"literal": "in press"}}),
        ("JF  - Annals of Desks\nJA  - Ann. Desks",
         {"container-title": "Annals of Desks", "container-title-short": "Ann. Desks"}),
        ("JA  - Ann. Desks", {"container-title": "Ann. Desks"}),
        ("AU  - A. B. Reader", {"author": [{"family": "Reader", "given": "A. B."}]}),
        ("AU  - Desk, Ann; Lamp, Ben", {"author": [
            {"family": "Desk", "given": "Ann"}, {"family": "Lamp", "given": "Ben"}]}),
        ("PY  - 2001\nDA  - 2001///Spring", {"issued": {"date-parts": [[2001]], "season": 1}}),
        ("PY  - 2019\nY1  - 3-5 May 2019",
         {"issued": {"date-parts": [[2019, 5, 3], [2019, 5, 5]]}}),
        ("T2  - Issue on walls\nJO  - Annals of Desks",
         {"container-title": "Annals of Desks", "collection-title": "Issue on walls"}),
        ("T2  - Annals of Desks\nJO  - Ann. Desks",
         {"container-title": "Annals of Desks", "container-title-short": "Ann. Desks"}),
        ("C7  - e104", {"number": "e104"}),
        ("ET  - 2019/02/01", {"available-date": {"date-parts": [[2019, 2, 1]]}, "edition": None}),
        ("AN  - 31452104", {"PMID": "31452104"}),
        ("DB  - Furniture Index\nAN  - 7\nAN  - PMID:31452104",
         {"PMID": "31452104", "archive": "Furniture Index", "archive_location": "7",
          "custom": None}),
        ("AN  - PMID: 31452104\nAN  - shelf", {"PMID": "31452104", "archive_location": "shelf"}),
        ("AN  - PMID:31452104\nDB  - Furniture Index",
         {"PMID": "31452104", "archive": "Furniture Index", "archive_location": None}),
        ("AN  - PMID:31452104\nDB  - PubMed", {"PMID": "31452104", "archive": None}),
        ("AN  - 31452104\nDB  - Furniture Index",
         {"PMID": None, "archive": "Furniture Index", "archive_location": "31452104"}),
        ("N1  - doi: 10.5555/a\nDO  - 10.5555/a", {"DOI": "10.5555/a", "note": None}),
        ("UR  - https://a.example\nhttps://b.example",
         {"URL": "https://a.example", "custom": {"ris": {"UR": ["https://b.example"]}}}),
        ("SN  - 12345679 (ISSN); 9780306406157 (ISBN)",
         {"ISSN": "12345679", "ISBN": "9780306406157"}),
        ("VL  - 1\nVL  - 2", {"volume": "1", "custom": {"ris": {"VL": ["2"]}}}),
        ("N2  - Desks\nUS - based desks", {"abstract": "Desks US - based desks"}),
        ("SP  - 12\nEP  - 34", {"page": "12-34"}),
        ("SP  - 12-34", {"page": "12-34"}),
        ("SP  - e12", {"page": "e12"}),
        ("DO  - https://doi.org/10.5555/a", {"DOI": "10.5555/a"}),
        ("M3  - 10.5555/a", {"DOI": "10.5555/a"}),
        ("UR  - https://doi.org/10.5555/a", {"DOI": "10.5555/a"}),
        ("SN  - 1234-5679\nSN  - 978-0-306-40615-7",
         {"ISSN": "1234-5679", "ISBN": "978-0-306-40615-7"}),
        ("KW  - a\nKW  - b", {"keyword": "a, b"}),
        ("KW  - a, b\nKW  - c", {"keyword": "a, b; c"}),
        ("N2  - First\nline\n\nsecond", {"abstract": "First line second"}),
        ("AN  - arXiv:2401.00001", {"archive": "arXiv", "archive_location": "2401.00001"}),
        ("ZZ  - odd\nL1  - a.pdf\nL1  - b.pdf",
         {"custom": {"ris": {"ZZ": ["odd"], "L1": ["a.pdf", "b.pdf"]}}}),
    ],
)  # fmt: skip
def test_tags_become_variables(text: str, expected: dict[str, Any]) -> None:
    found = item(text)
    assert {name: found.get(name) for name in expected} == expected


def test_the_second_title_of_a_book_is_its_series() -> None:
    found = item("TI  - Desks\nT2  - Furniture\nSP  - 320", "BOOK")
    assert found["collection-title"] == "Furniture"
    assert found["number-of-pages"] == "320"


def test_editors_of_books_and_of_their_series_are_distinguished() -> None:
    series, own = {"family": "Series", "given": "Sam"}, {"family": "Editor", "given": "Eve"}
    found = item("A2  - Series, Sam\nA3  - Editor, Eve", "BOOK")
    assert (found["editor"], found["collection-editor"]) == ([own], [series])
    found = item("A2  - Series, Sam\nAU  - Editor, Eve", "EDBOOK")
    assert (found["editor"], found["collection-editor"]) == ([own], [series])
    assert "author" not in found


def test_papers_of_conferences_have_the_proceedings_as_their_container() -> None:
    found = item("T2  - Third Conference\nC3  - Proceedings\nC1  - Example Town", "CONF")
    values = [found[name] for name in ("type", "container-title", "event-title", "event-place")]
    assert values == ["paper-conference", "Proceedings", "Third Conference", "Example Town"]
    [again] = read_bibliography(write_bibliography([found], "ris")).entries
    assert again.item == {**found, "id": again.item["id"]}


def test_unknown_types_and_tags_are_kept_and_reported() -> None:
    found = read_bibliography("TY  - ODD\nTI  - A\nZZ  - kept\nER  - \n", "ris")
    assert found.entries[0].item["type"] == "document"
    assert "'ODD' is not one of RIS" in found.unread[0].problem
    assert "ZZ  - kept\n" in write_bibliography([found.entries[0].item], "ris")


NBIB = """
PMID- 31452104
DP  - 2019 Sep 4
TI  - On walled desks: a
      review.
PG  - 737-8
LID - 10.5555/desk [doi]
FAU - Müller, Anna
AU  - Müller A
CN  - Desk Group
LA  - ger
LA  - eng
DEP - 20190801
MH  - *Desks
MH  - Humans
OT  - walls
JT  - Annals of desks
TA  - Ann Desks
PMC - PMC7
IS  - 1234-5679 (Print)
PT  - Journal Article

PMID- 2
TI  - [Tische].
AU  - Reader AB
AU  - de la Desk MJ Jr
FED - Editor, Eve
ED  - Editor E
"""


def test_medline_records() -> None:
    first, second = (one.item for one in read_bibliography(NBIB).entries)
    assert first == {
        "id": "", "type": "article-journal", "title": "On walled desks: a review",
        "container-title": "Annals of desks", "container-title-short": "Ann Desks",
        "page": "737-8",
        "author": [{"family": "Müller", "given": "Anna"}, {"literal": "Desk Group"}],
        "issued": {"date-parts": [[2019, 9, 4]]}, "DOI": "10.5555/desk", "PMID": "31452104",
        "PMCID": "PMC7", "keyword": "walls", "ISSN": "1234-5679", "language": "de",
        "custom": {"nbib": {"DEP": ["20190801"], "MH": ["*Desks", "Humans"], "LA": ["eng"]}},
    }  # fmt: skip
    assert second["title"] == "Tische"
    assert second["author"] == [
        {"family": "Reader", "given": "A. B."},
        {"non-dropping-particle": "de la", "family": "Desk", "given": "M. J.", "suffix": "Jr"},
    ]
    assert second["editor"] == [{"family": "Editor", "given": "Eve"}]


WEB_OF_SCIENCE = """FN Clarivate
VR 1.0
PT J
AU Desk, A
   Reader, B
TI On
   desks
SO ANNALS
PY 2004
PD JUN 8
BP 1
EP 9
DI 10.5555/w
ER

EF
"""


def test_exports_of_web_of_science() -> None:
    found = read_bibliography(WEB_OF_SCIENCE)
    assert found.format == "ris"
    [entry] = found.entries
    assert entry.item["title"] == "On desks"
    assert [one["family"] for one in entry.item["author"]] == ["Desk", "Reader"]
    assert entry.item["issued"] == {"date-parts": [[2004, 6, 8]]}
    assert (entry.item["page"], entry.item["DOI"]) == ("1-9", "10.5555/w")


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for start in ("", "TY  - JOUR\n", "PMID- 1\n", "PT J\n"):
        for name in ("ris", "nbib"):
            read_bibliography((start + text).replace("\x00", ""), name)
