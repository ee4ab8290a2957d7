"""Bibliographies as references: BibTeX, RIS, CSL-JSON, plain lists, and damaged ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.papers.bibliography import ListedReference, read_bibliography
from carrel.papers.errors import PaperError

BIBTEX = r"""
@comment{not an entry}
@string{annals = "Annals"}
@article{muller, title = {On {Walled} Desks}, DOI = {10.5555/a\_b}, year = 2019}
@misc{reader, title = "An e-print", archivePrefix = "arXiv", eprint = {2401.00001v2}}
@misc{noted, title = {Noted}, note = {arXiv:hep-th/9901001}}
@article{medical, title = {Medicine}, pmid = {31452104}}
@book{plain, title = {Reading alone in company}, author = {Sitter, Bea}, year = 2001}
@article{bad, title = {never closed
@article{last, doi = {https://doi.org/10.5555/last}}
"""
RIS = """TY  - JOUR
AU  - Müller, Anna
TI  - On walled desks
DO  - 10.5555/desk
ER  -

TY  - JOUR
TI  - Only a title of some length
AU  - Reader, Ada
PY  - 2020
ER  -
"""
CSL = json.dumps([
    {"id": "a", "DOI": "10.5555/a"},
    {"id": 7, "doi": "10.5555/b"},
    {"id": "c", "note": "arXiv: 2401.00003", "title": "x"},
    {"id": "d", "PMID": "31452104"},
    {"id": "e", "title": "Walled desks", "author": [{"family": "Müller"}],
     "issued": {"date-parts": [[2019, 1]]}},
    "not an item",
    {"id": "f"},
])  # fmt: skip


def read(text: str) -> list[tuple[str, str]]:
    return [(one.label, one.reference) for one in read_bibliography(text.encode())]


def test_bibtex() -> None:
    assert read(BIBTEX) == [
        ("muller", "10.5555/a_b"),
        ("reader", "arXiv:2401.00001v2"),
        ("noted", "arXiv:hep-th/9901001"),
        ("medical", "pmid:31452104"),
        ("plain", "Sitter, Bea. (2001). Reading alone in company"),
        ("bad", "never closed"),
        ("last", "10.5555/last"),
    ]
    [empty] = [one for one in read_bibliography(b"@article{empty}") if one.problem]
    assert empty.label == "empty"


def test_ris() -> None:
    assert read(RIS) == [
        ("record 1", "10.5555/desk"),
        ("record 2", "Reader, Ada. (2020). Only a title of some length"),
    ]


def test_csl_json() -> None:
    assert read(CSL) == [
        ("a", "10.5555/a"),
        ("7", "10.5555/b"),
        ("c", "arXiv:2401.00003"),
        ("d", "pmid:31452104"),
        ("e", "Müller. (2019). Walled desks"),
        ("record 6", ""),
        ("f", ""),
    ]


def test_a_plain_list_has_one_reference_a_line() -> None:
    text = "# to read\n10.5555/a\n\n  arXiv:2401.00001  \nMüller. On walled desks. 2019\n"
    assert read(text) == [
        ("line 2", "10.5555/a"),
        ("line 4", "arXiv:2401.00001"),
        ("line 5", "Müller. On walled desks. 2019"),
    ]


@pytest.mark.parametrize("data", [b"\xff\xfe1", b"[1, 2", b'"text"]', b"{" * 5000])
def test_what_is_no_bibliography_is_refused_or_a_list_of_lines(data: bytes) -> None:
    try:
        assert all(isinstance(one, ListedReference) for one in read_bibliography(data))
    except PaperError as error:
        assert error.paper_code == "INVALID_REF"


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    for start in ("", "@article{a, ", "TY  - JOUR\n", "["):
        try:
            read_bibliography((start + text).encode("utf-8", "replace"))
        except PaperError as error:
            assert error.paper_code == "INVALID_REF"
