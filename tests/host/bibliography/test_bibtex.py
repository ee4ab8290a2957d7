"""BibTeX and BibLaTeX as people and programs write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.bibliography import read_bibliography, write_bibliography


def item(fields: str, kind: str = "article") -> dict[str, Any]:
    [entry] = read_bibliography(f"@{kind}{{k, {fields}}}", "bibtex").entries
    return entry.item


def names(text: str) -> Any:
    return item(f"author = {{{text}}}")["author"]


def labels(text: str) -> list[str]:
    return [one.label for one in read_bibliography(text, "bibtex").entries]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@article(a, title = {x})", ["a"]),
        ("@ article { a , title = {x} , }", ["a"]),
        ("@article{a, title = {x}\n year = 2001}", ["a"]),
        ("@article{a title = {x}}", ["a"]),
        ("@article{title = {x}}", ["record 1"]),
        ("@article{, title = {x}}", ["record 1"]),
        ("@article{a}", ["a"]),
        ("@article{a, abstract = {see\n@book{x, y={}} for}}\n@book{b, title={y}}", ["a", "b"]),
        ("@comment{@article{a, title={x}}}\n@article{b, title={y}}", ["b"]),
        ("% @article{a, title={x}}\n@article{b, % why\n title={y}} % so", ["b"]),
        ("mail@desk.example\n@article{b, title={y}}", ["b"]),
        ('@preamble{"x" # {y}}@article{b, title={y}}', ["b"]),
        ("@book{a, title = {x} )\n@book{b, title={y}}", ["a", "b"]),
    ],
)  # fmt: skip
def test_entries_are_found(text: str, expected: list[str]) -> None:
    assert labels(text) == expected


def test_an_unbalanced_entry_is_reported_with_its_line_and_the_rest_is_read() -> None:
    text = (
        "@book{a, title={x}}\n\n@article{bad, year = 2001, title = {never\n\n@book{c, title={z}}\n"
    )
    found = read_bibliography(text, "bibtex")
    assert [one.label for one in found.entries] == ["a", "bad", "c"]
    assert found.entries[1].item["issued"] == {"date-parts": [[2001]]}
    [bad] = found.unread
    assert (bad.label, bad.line) == ("bad", 3)
    assert "the brace of 'title' is not closed; it was taken to end with its line" in bad.problem


def test_what_is_no_field_is_reported_and_left_out() -> None:
    found = read_bibliography("@book{a, author {Reader}, title = {x}}", "bibtex")
    assert found.entries[0].item["title"] == "x"
    assert "'author {Reader}' was found; it was left out" in found.unread[0].problem


def test_entries_with_one_key_are_all_read_and_reported() -> None:
    found = read_bibliography("@book{a, title={x}}\n@book{a, title={y}}", "bibtex")
    assert [one.item["title"] for one in found.entries] == ["x", "y"]
    assert found.unread[0].problem == "its key is that of the entry on line 1; both were read"


def test_strings_are_replaced_and_joined() -> None:
    text = (
        '@string{pub = "Quiet"}\n'
        '@book{a, publisher = pub # " Press" # {!}, month = jan # "~10", year=1999}'
    )
    [entry] = read_bibliography(text, "bibtex").entries
    assert entry.item["publisher"] == "Quiet Press!"
    assert entry.item["issued"] == {"date-parts": [[1999, 1, 10]]}


@pytest.mark.requirement("reference-manager:bibtex-names")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{The XYZ Consortium}", [{"literal": "The XYZ Consortium"}]),
        (r"{\"U}ber, Ann", [{"family": "Über", "given": "Ann"}]),
        ("Charles de la Vall{\\'e}e Poussin", [
            {"given": "Charles", "non-dropping-particle": "de la", "family": "Vallée Poussin"}]),
        ("van Desk, Jr., Ann", [
            {"given": "Ann", "non-dropping-particle": "van", "family": "Desk", "suffix": "Jr."}]),
        ("Desk, Ann and others", [{"family": "Desk", "given": "Ann"}, {"literal": "others"}]),
        ("{Desk and Chair} AND Reader, A.", [
            {"literal": "Desk and Chair"}, {"family": "Reader", "given": "A."}]),
        ("family=Silva, given=Ana, prefix=da, useprefix=false", [
            {"family": "Silva", "given": "Ana", "dropping-particle": "da"}]),
        ("given=Ann, family={Desk, Inc}, prefix=van", [
            {"family": "Desk, Inc", "given": "Ann", "non-dropping-particle": "van"}]),
        ("nosortothers=false and Reader, Ada", [{"family": "Reader", "given": "Ada"}]),
        ('Herm\\"an\\~n Desk', [{"family": "Desk", "given": "Hermänñ"}]),
    ],
)  # fmt: skip
def test_names_are_split_before_they_are_decoded(text: str, expected: object) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"{\"U}ber \v{S} {\ss} \'{\i} {\L}{\'o}d{\'z}", "Über Š ß í Łódź"),
        (r"50\% \& \#1 a\_b \$5 \textbackslash{}", r"50% & #1 a_b $5 \ "[:-1]),
        ("The {DNA} of {p53}", 'The DNA of <span class="nocase">p53</span>'),
        ("A {de novo} way", 'A <span class="nocase">de novo</span> way'),
        ("{The Whole Title}", "The Whole Title"),
        (r"$\alpha$-decay of $^{12}$C in $L^2$", "\u03b1-decay of <sup>12</sup>C in $L^2$"),
        (r"\emph{E. coli} {\bf bold} \textsc{sc}",
         '<i>E. coli</i> <b>bold</b> <span style="font-variant:small-caps;">sc</span>'),
        ("a -- b --- c ``d''", "a \u2013 b \u2014 c \u201cd\u201d"),
        (r"\href{https://x.example}{Text} \unknown{kept}", "Text kept"),
        (r"{\noopsort{a}}Desks", "Desks"),
        ("a price of $5", "a price of $5"),
    ],
)  # fmt: skip
def test_latex_becomes_text(text: str, expected: str) -> None:
    assert item(f"title = {{{text}}}")["title"] == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("date = {2016-12-13}", {"date-parts": [[2016, 12, 13]]}),
        ("date = {2016/2017}", {"date-parts": [[2016], [2017]]}),
        ("date = {2016-05/..}", {"date-parts": [[2016, 5], [0, 0, 0]]}),
        ("date = {1850~}", {"date-parts": [[1850]], "circa": True}),
        ("date = {199X}", {"date-parts": [[1990], [1999]]}),
        ("date = {2001-21}", {"date-parts": [[2001]], "season": 1}),
        ("date = {-0099-07}", {"date-parts": [[-99, 7]]}),
        ("year = 2001, month = mar", {"date-parts": [[2001, 3]]}),
        ("year = 2001, month = {July 30th}", {"date-parts": [[2001, 7, 30]]}),
        ("year = 2001, month = {Mar/Apr}", {"date-parts": [[2001, 3], [2001, 4]]}),
        ("year = {2016--2017}", {"date-parts": [[2016], [2017]]}),
        ("year = {2014-09}", {"date-parts": [[2014, 9]]}),
        ("year = {in press}", {"literal": "in press"}),
        ("year = {c. 1850}", {"date-parts": [[1850]], "circa": True}),
    ],
)
def test_dates(fields: str, expected: object) -> None:
    assert item(fields)["issued"] == expected


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("article", "pages = {12--34}", {"page": "12-34"}),
        ("article", "number = 3, eid = {e12}", {"issue": "3", "number": "e12"}),
        ("article", "eprint = {2401.00001v2}, archiveprefix = {arXiv}",
         {"archive": "arXiv", "archive_location": "2401.00001v2"}),
        ("article", "eprint = {31452104}, eprinttype = {pubmed}", {"PMID": "31452104"}),
        ("article", r"doi = {https://doi.org/10.5555/a\_b}", {"DOI": "10.5555/a_b"}),
        ("misc", r"howpublished = {\url{https://desk.example/~a}}", {"URL": "https://desk.example/~a"}),
        ("techreport", "number = 7, institution = {Desk Office}, type = {Memo}",
         {"type": "report", "number": "7", "publisher": "Desk Office", "genre": "Memo"}),
        ("mastersthesis", "school = {Desk School}", {"type": "thesis", "genre": "Master's thesis"}),
        ("incollection", "series = {Desks}, number = 4, booktitle = {All}",
         {"collection-title": "Desks", "collection-number": "4", "container-title": "All"}),
        ("book", "editor = {Reader, Ada}, editortype = {compiler}",
         {"compiler": [{"family": "Reader", "given": "Ada"}]}),
        ("book", "langid = {ngerman}, keywords = {a,b}", {"language": "de", "keyword": "a, b"}),
        ("book", "title = {Desks}, subtitle = {A History}", {"title": "Desks: A History"}),
        ("book", "rating = {5}, file = {:a.pdf:PDF}", {"custom": {"bibtex": {"rating": "5",
         "file": ":a.pdf:PDF"}}}),
        ("article", "entrysubtype = {magazine}", {"type": "article-magazine"}),
    ],
)  # fmt: skip
def test_fields_become_variables(kind: str, fields: str, expected: dict[str, Any]) -> None:
    found = item(fields, kind)
    assert {name: found.get(name) for name in expected} == expected


def test_fields_are_inherited() -> None:
    text = """
    @xdata{house, publisher = {Quiet Press}, location = {Deskton}}
    @proceedings{all, title = {Proceedings of Desks}, year = 2001, xdata = {house}}
    @inproceedings{one, title = {On legs}, crossref = {all}}
    @book{two, title = {xdata=house-publisher}, crossref = {two}}
    """
    found = read_bibliography(text, "biblatex")
    one = next(entry.item for entry in found.entries if entry.label == "one")
    assert one["container-title"] == "Proceedings of Desks"
    assert (one["publisher"], one["publisher-place"]) == ("Quiet Press", "Deskton")
    assert one["issued"] == {"date-parts": [[2001]]}
    assert found.entries[2].item["title"] == "Quiet Press"
    assert [one.label for one in found.unread] == ["house"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("The case of Paris and the DNA", "The case of {Paris} and the {DNA}"),
        ("The Case of the Desks of PySCF", "The Case of the Desks of {PySCF}"),
        ("50% of a_b & c#", r"50\% of a\_b \& c\#"),
        ("a~b^c", r"a\textasciitilde{}b\textasciicircum{}c"),
        ("c\\d{e}", r"c\textbackslash{}d\textbraceleft{}e\textbraceright{}"),
        ('<span class="nocase">p53</span> and <i>E. coli</i>', r"{p53} and \textit{{E}. coli}"),
        ("a <i>b", "a <i>b"),
    ],
)  # fmt: skip
def test_titles_are_written_with_escapes_and_protection(text: str, written: str) -> None:
    output = write_bibliography([{"id": "k", "type": "book", "title": text}], "bibtex")
    assert f"title = {{{written}}}" in output


def test_a_doi_and_a_url_are_verbatim() -> None:
    output = write_bibliography(
        [{"id": "k", "type": "book", "DOI": "10.5555/a_b", "URL": "https://x.example/a_b%20c}"}],
        "biblatex",
    )
    assert "doi = {10.5555/a_b}" in output
    assert "url = {https://x.example/a_b%20c%7D}" in output


def test_keys_differ_and_items_without_one_get_one() -> None:
    book = {"type": "book", "title": "The desks", "author": [{"family": "Müller"}]}
    output = write_bibliography([book, {**book, "id": ""}, {**book, "id": "a b"}], "bibtex")
    assert [line for line in output.splitlines() if line.startswith("@")] == [
        "@book{mullerdesksa,", "@book{mullerdesksb,", "@book{ab,",
    ]  # fmt: skip


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for start in ("", "@article{a, ", "@article{a, title = {", "@string{", "@comment{"):
        read_bibliography((start + text).replace("\x00", ""), "bibtex")


@pytest.mark.parametrize(
    "text",
    ["@a{k, t={\n" * 5_000, "@a{k, t = {" + "{" * 20_000, "@a{k, t = " + "x # " * 20_000,
     "@a{k, author = {" + "a and " * 20_000 + "}}", "@a{k, title = {" + "$a " * 20_000 + "}}",
     "@a{k, title = {" + "\\emph{" * 20_000 + "}" * 20_000 + "}}", "@string{a = a # a}\n" * 40],
    ids=["entries", "braces", "pieces", "names", "dollars", "commands", "strings"],
)  # fmt: skip
def test_damaged_texts_end_in_entries_or_reports(text: str) -> None:
    found = read_bibliography(text, "bibtex")
    assert found.entries or found.unread or text.startswith("@string")
