"""Bibliographies: right escapes, and no text of a work that becomes another record."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.papers.export import bibtex, csl_items, csl_json, ris
from carrel.papers.store import PaperEntry, entry_of, reference_of, work_of
from carrel.records import Agent, Ids, Work

WORK = Work(
    ids=Ids(doi="10.1234/Desks_1", pmid="31452104", issn=("2049-3630",)),
    type="article-journal",
    title="Desks & chairs: 50% of PySCF_users",
    authors=(
        Agent(family="Müller", given="Jürgen"),
        Agent(family="van der Berg", given="Anna"),
        Agent(literal="Desk and Chair Collaboration"),
    ),
    container_title="Annals of Desks",
    publisher="Quiet Press",
    issued="2024-03-05",
    volume="12",
    issue="3",
    pages="737-8",
    abstract="We count.",
    subjects=("desks", "counting"),
    url="https://quiet.example/a_b",
    source="crossref",
)


def test_bibtex() -> None:
    assert bibtex([WORK]) == (
        "@article{muller2024desks,\n"
        "  title = {Desks \\& chairs: 50\\% of {PySCF\\_users}},\n"
        "  author = {Müller, Jürgen and van der Berg, Anna and {Desk and Chair Collaboration}},\n"
        "  journal = {Annals of Desks},\n"
        "  year = {2024},\n"
        "  month = {3},\n"
        "  day = {5},\n"
        "  volume = {12},\n"
        "  number = {3},\n"
        "  pages = {737--738},\n"
        "  publisher = {Quiet Press},\n"
        "  issn = {2049-3630},\n"
        "  doi = {10.1234/Desks_1},\n"
        "  pmid = {31452104},\n"
        "  url = {https://quiet.example/a_b},\n"
        "  keywords = {desks, counting},\n"
        "  abstract = {We count.}\n"
        "}\n"
    )


def test_ris() -> None:
    assert ris([WORK]) == (
        "TY  - JOUR\n"
        "ID  - muller2024desks\n"
        "TI  - Desks & chairs: 50% of PySCF_users\n"
        "AU  - Müller, Jürgen\n"
        "AU  - van der Berg, Anna\n"
        "AU  - Desk and Chair Collaboration\n"
        "PY  - 2024\n"
        "DA  - 2024/03/05/\n"
        "JO  - Annals of Desks\n"
        "VL  - 12\n"
        "IS  - 3\n"
        "SP  - 737\n"
        "EP  - 738\n"
        "PB  - Quiet Press\n"
        "SN  - 2049-3630\n"
        "DO  - 10.1234/Desks_1\n"
        "AN  - 31452104\n"
        "UR  - https://quiet.example/a_b\n"
        "KW  - desks\n"
        "KW  - counting\n"
        "AB  - We count.\n"
        "ER  - \n"
    )


def test_csl_json() -> None:
    assert json.loads(csl_json([WORK])) == [
        {
            "id": "muller2024desks",
            "type": "article-journal",
            "title": "Desks & chairs: 50% of PySCF_users",
            "author": [
                {"family": "Müller", "given": "Jürgen"},
                {"family": "van der Berg", "given": "Anna"},
                {"literal": "Desk and Chair Collaboration"},
            ],
            "issued": {"date-parts": [[2024, 3, 5]]},
            "container-title": "Annals of Desks",
            "publisher": "Quiet Press",
            "volume": "12",
            "issue": "3",
            "page": "737-8",
            "URL": "https://quiet.example/a_b",
            "abstract": "We count.",
            "DOI": "10.1234/Desks_1",
            "PMID": "31452104",
            "ISSN": "2049-3630",
            "keyword": "desks, counting",
        }
    ]


def test_no_works_are_an_empty_file() -> None:
    assert bibtex([]) == ris([]) == ""
    assert json.loads(csl_json([])) == []


def titled(title: str) -> str:
    found = re.search(r"title = \{(.*)\},?\n", bibtex([work(title=title)]))
    assert found is not None
    return found[1]


def work(**members: object) -> Work:
    return Work(**{"type": "article-journal", "source": "x", **members})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("100% of A&B #1", r"100\% of A\&B \#1"),
        ("the $x_1^2$ case", "the $x_1^2$ case"),
        ("costs $5 and $10", r"costs \$5 and \$10"),
        ("an open $brace{ here$", r"an open \$brace\textbraceleft{} here\$"),
        ("a } and {", r"a \textbraceright{} and \textbraceleft{}"),
        (r"C:\new", r"C:\textbackslash{}new"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("$50%$", r"$50\%$"),
        ("DNA and mRNA in Paris", "{DNA} and {mRNA} in Paris"),
        ("a\r\nb\u2028c\x00d\u202e", "a b c d"),
    ],
)
def test_titles_are_escaped_for_bibtex(title: str, written: str) -> None:
    assert titled(title) == written


def test_an_odd_doi_stays_between_its_braces() -> None:
    doi = "10.1002/(SICI)1<1::AID-X{1}>3.0.CO;2-2\\"
    assert "doi = {10.1002/(SICI)1<1::AID-X%7B1%7D>3.0.CO;2-2%5C}" in bibtex(
        [work(ids=Ids(doi=doi))]
    )


def test_names_with_separators_are_protected() -> None:
    agents = (Agent(family="Rand and Co, Ltd", given="A and B"), Agent(family="Anders", given="X"))
    assert "author = {{Rand and Co, Ltd}, {A and B} and Anders, X}" in bibtex(
        [work(authors=agents)]
    )


def test_works_of_one_author_and_year_have_different_keys() -> None:
    same = work(authors=(Agent(family="Łoś"),), issued="2024", title="The desks")
    found = re.findall(r"@article\{(.*),", bibtex([same] * 28))
    assert found[:2] == ["los2024desksa", "los2024desksb"]
    assert found[25:28] == ["los2024desksz", "los2024desksaa", "los2024desksab"]
    assert len(set(found)) == 28


def test_a_key_that_another_work_has_by_itself_is_not_given_twice() -> None:
    works = [work(title=title) for title in ("desk", "desk", "deska")]
    assert re.findall(r"@article\{(.*),", bibtex(works)) == ["anondeskb", "anondeskc", "anondeska"]


def test_a_work_without_latin_letters_is_named_after_its_identifier() -> None:
    one = work(title="\u673a", authors=(Agent(family="\u738b"),), ids=Ids(doi="10.1234/x"))
    assert "@article{101234x," in bibtex([one])


ATTACKS = [
    "}\n@article{evil,\n title={x}",
    "},\n  year = {1}\n}\n@misc{evil,",
    "\nER  - \nTY  - JOUR\nTI  - evil",
    "\rER  - \rTY  - JOUR",
    "\u2028ER  - \u2028TY  - JOUR",
    "\x85TY  - JOUR",
    '"}, {"id": "evil", "title": "',
    "@comment{",
    "\\",
    "\\}",
    "$}$@misc{evil,$",
    "{" * 5,
    "\ud800",
]


def everywhere(text: str) -> Work:
    return work(
        ids=Ids(doi=f"10.1/{text}", arxiv=text, pmid=text, pmcid=text, issn=(text,), isbn=(text,)),
        title=text,
        subtitle=text,
        abstract=text,
        authors=(Agent(family=text, given=text), Agent(literal=text)),
        container_title=text,
        publisher=text,
        volume=text,
        issue=text,
        pages=text,
        article_number=text,
        language=text,
        subjects=(text, text),
        url=text,
    )


def check(text: str) -> None:
    works = [everywhere(text), WORK]
    entries = bibtex(works)
    assert len(re.findall(r"^\s*@", entries, re.MULTILINE)) == 2
    depth = 0
    for line in entries.split("\n"):
        assert (depth == 0) == (line.startswith("@") or line == "")
        depth += line.count("{") - line.count("}")
        assert depth in {0, 1}, line
    assert depth == 0
    records = ris(works)
    lines = records.splitlines()
    assert [line[:6] for line in lines if line].count("TY  - ") == 2
    assert lines.count("ER  - ") == 2
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in lines if line)
    items = json.loads(csl_json(works))
    assert len(items) == 2
    assert items == csl_items(works)
    for text_of in (entries, records, csl_json(works)):
        text_of.encode()


@pytest.mark.parametrize("text", ATTACKS, ids=ascii)
def test_no_text_becomes_a_record(text: str) -> None:
    check(text)


@pytest.mark.property
@given(st.text(st.sampled_from('{}\\$%@\n\r,="ER TY-and\u2028\x00x1'), max_size=30) | st.text())
def test_no_random_text_becomes_a_record(text: str) -> None:
    check(text)


class TestEntriesAndWorks:
    def test_a_work_comes_back_from_the_store_s_file(self) -> None:
        entry = PaperEntry.from_toml(
            entry_of(WORK, fetched={"source": "crossref"}).to_toml().encode()
        )
        assert entry.authors == (
            "Jürgen Müller",
            "Anna van der Berg",
            "Desk and Chair Collaboration",
        )
        assert (entry.type, entry.year) == ("journal-article", 2024)
        back = work_of(entry)
        assert back == Work.from_json({**WORK.to_json(), "source_type": "journal-article"})

    @pytest.mark.parametrize(
        ("name", "agent"),
        [
            ("Ada Lovelace", Agent(family="Lovelace", given="Ada")),
            ("Lovelace, Ada", Agent(family="Lovelace", given="Ada")),
            ("Anna van der Berg", Agent(family="van der Berg", given="Anna")),
            ("The Desk Collaboration", Agent(literal="The Desk Collaboration")),
            ("Plato", Agent(literal="Plato")),
        ],
    )
    def test_doigets_names_are_split(self, name: str, agent: Agent) -> None:
        assert work_of(PaperEntry(title="x", authors=(name,))).authors == (agent,)

    def test_an_e_print_has_its_trio(self) -> None:
        entry = PaperEntry(
            title="Desks", year=1995, arxiv_id="cond-mat/9501001",
            arxiv_categories=("cond-mat.str-el",),
        )  # fmt: skip
        text = bibtex([work_of(entry)])
        for line in (
            "eprint = {cond-mat/9501001}",
            "archiveprefix = {arXiv}",
            "primaryclass = {cond-mat.str-el}",
        ):
            assert line in text

    def test_a_work_is_stored_under_its_first_identifier(self) -> None:
        assert str(reference_of(WORK)) == "10.1234/Desks_1"
        assert str(reference_of(work(ids=Ids(pmcid="PMC1", pmid="2")))) == "2"
        assert reference_of(work()) is None
