"""Tests the citations of LaTeX (natbib, biblatex) and Typst."""

from __future__ import annotations

import time

import pytest

from carrel.citations.documents import CitedWork, DocumentKind, find_citations


def shown(work: CitedWork) -> str:
    """Returns a work as text: prefix|-key!|label locator|suffix."""
    minus, only = "-" * work.suppress_author, "!" * work.author_only
    located = f"{work.label} {work.locator}" if work.locator else ""
    return f"{work.prefix}|{minus}{work.at.key}{only}|{located}|{work.suffix}"


def cited(text: str, kind: DocumentKind) -> list[str]:
    return [
        ("T:" if one.author_in_text else "") + "; ".join(map(shown, one.works))
        for one in find_citations(text, kind).citations
    ]


@pytest.mark.requirement("citations:keys:latex")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\cite{a}", "|a||"),
        (r"\cite{a,b , c}", "|a||; |b||; |c||"),
        (r"\cite[p.~3]{a}", "|a|page 3|"),
        (r"\citep[see][12--15]{a}", "see |a|page 12–15|"),
        (r"\citep[see][]{a,b}", "see |a||; |b||"),
        (r"\parencite[\S 4]{a}", "|a|section 4|"),
        (r"\autocite[chap.~2, at the end]{a}", "|a|chapter 2|, at the end"),
        (r"\footcite[and elsewhere]{a}", "|a||, and elsewhere"),
        (r"\citet{a}", "T:|a||"),
        (r"\Textcite[7]{a}", "T:|a|page 7|"),
        (r"\citeauthor{a}", "|a!||"),
        (r"\citeyear{a}", "|-a||"),
        (r"\parencite*{a}", "|-a||"),
        (r"\citet*{a}", "T:|a||"),
        (r"\cites[3]{a}[see][4]{b}", "|a|page 3|; see |b|page 4|"),
        (r"\parencites(see)(end)[1]{a}{b}", "see |a|page 1|; |b||, end"),
        (r"\volcite{2}[p.~7]{a}", "|a|volume 2|, p. 7"),
        ("\\cite\n  [p. 3]\n  {a}", "|a|page 3|"),
        (r"50\% \cite{a}", "|a||"),
        (r"\\\cite{a}", "|a||"),
        (r"\cite{DBLP:conf/x/Y_1}", "|DBLP:conf/x/Y_1||"),
        (r"\cite{a}% \cite{b}", "|a||"),
    ],
)  # fmt: skip
def test_commands_of_latex(text: str, expected: str) -> None:
    assert cited(text, "latex") == [expected]


@pytest.mark.requirement("citations:keys:latex")
@pytest.mark.parametrize(
    "text",
    [
        r"% \cite{a}",
        r"line \\% \cite{a}",
        "\\begin{verbatim}\n\\cite{a}\n\\end{verbatim}",
        "\\begin{lstlisting}[language=TeX]\n\\cite{a}\n\\end{lstlisting}",
        "\\begin{comment}\n\\cite{a}\n\\end{comment}",
        r"\verb|\cite{a}|",
        r"\newcommand{\mine}[1]{\cite{#1}}",
        r"\citestyle{authoryear} \setcitestyle{round} \bibcite{a}{1} \citetext{see}",
        r"\end{document} \cite{a}",
        r"\url{https://example.org/\cite{a}}",
        r"\cite",
        r"\cite{}",
        "\\cite{a\n\n}",
        "joe@example.org",
    ],
)
def test_comments_verbatim_text_and_definitions_of_latex_cite_nothing(text: str) -> None:
    assert cited(text, "latex") == []


def test_nocite_of_latex() -> None:
    found = find_citations("\\nocite{a, b}\n\\nocite{*}", "latex")
    assert [at.key for at in found.uncited] == ["a", "b"]
    assert found.everything
    assert found.citations == ()


def test_keys_of_latex_have_their_line_and_column() -> None:
    text = "% first\r\nAs \\cite[p. 3]{one, two}\n"
    places = [(at.key, at.line, at.column) for at in find_citations(text, "latex").first_places()]
    assert places == [("one", 2, 16), ("two", 2, 21)]


@pytest.mark.requirement("citations:keys:typst")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See @a.", "|a||"),
        ("@a[p. 3]", "|a|page 3|"),
        ("@a[and others]", "|a||, and others"),
        ("@a-b_c:d.e.", "|a-b_c:d.e||"),
        ("@a @b", "|a||; |b||"),
        ("@a[7]@b", "|a|page 7|; |b||"),
        ("#cite(<a>)", "|a||"),
        ("#cite(<a>, supplement: [chap. 2])", "|a|chapter 2|"),
        ('#cite(<a>, form: "prose")', "T:|a||"),
        ('#cite(<a>, form: "author")', "|a!||"),
        ('#cite(<a>, form: "year")', "|-a||"),
        ('#cite(label("DBLP:books/a"))', "|DBLP:books/a||"),
        ("#cite(<a>) #cite(<b>)", "|a||; |b||"),
    ],
)
def test_references_of_typst(text: str, expected: str) -> None:
    assert cited(text, "typst") == [expected]


@pytest.mark.requirement("citations:keys:typst")
@pytest.mark.parametrize(
    "text",
    [
        "// @a",
        "/* @a\n@b */",
        "`@a` and ```typ\n@b\n```",
        r"\@a",
        "joe@example.org",
        "https://example.org/@user",
        "= Lamps <lamps>\n\nSee @lamps.",
        '#figure(image("a.png")) <fig:a>\n@fig:a',
        "#recite(<a>)",
    ],
)
def test_comments_raw_text_and_labels_of_typst_cite_nothing(text: str) -> None:
    assert cited(text, "typst") == []


def test_works_that_typst_does_not_cite_in_the_text() -> None:
    found = find_citations('#cite(<a>, form: none)\n#bibliography("x.bib", full: true)', "typst")
    assert [at.key for at in found.uncited] == ["a"]
    assert found.everything


def test_keys_of_typst_have_their_line_and_column() -> None:
    text = "Text\n  @one, #cite(<two>)"
    places = [(at.key, at.line, at.column) for at in find_citations(text, "typst").first_places()]
    assert places == [("one", 2, 3), ("two", 2, 16)]


@pytest.mark.parametrize("kind", ["latex", "typst"])
@pytest.mark.parametrize(
    "text",
    [
        "\\cite[" * 3_000,
        "@a[" * 5_000,
        "\\cite{" * 5_000,
        "`" * 20_001,
        "/*" * 9_000,
        "#cite(<a" * 4_000,
    ],
)
def test_repeated_opening_marks_take_little_time(text: str, kind: DocumentKind) -> None:
    began = time.process_time()
    find_citations(text, kind)
    assert time.process_time() - began < 2
