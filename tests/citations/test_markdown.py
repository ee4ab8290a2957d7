"""Tests the citations of Pandoc's Markdown: https://pandoc.org/MANUAL.html#citations."""

from __future__ import annotations

import time

import pytest

from carrel.citations.documents import CitedWork, document_kind, find_citations

pytestmark = pytest.mark.requirement("citations:keys:markdown")


def shown(work: CitedWork) -> str:
    """Returns a work as text: prefix|-key|label locator|suffix."""
    minus = "-" if work.suppress_author else ""
    located = f"{work.label} {work.locator}" if work.locator else ""
    return f"{work.prefix}|{minus}{work.at.key}|{located}|{work.suffix}"


def cited(text: str) -> list[str]:
    """Returns the citations of a text; an author in the sentence is shown as `T:`."""
    return [
        ("T:" if one.author_in_text else "") + "; ".join(map(shown, one.works))
        for one in find_citations(text, "markdown").citations
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[@doe99]", "|doe99||"),
        ("[@doe99; @smith2000; @smith2004]", "|doe99||; |smith2000||; |smith2004||"),
        ("[see @doe99, pp. 33-35 and *passim*; @smith04, chap. 1]",
         "see |doe99|page 33-35| and <i>passim</i>; |smith04|chapter 1|"),
        ("[see @doe99, pp. 33-35, 38-39 and *passim*]",
         "see |doe99|page 33-35, 38-39| and <i>passim</i>"),
        ("[@smith{ii, A, D-Z}, with a suffix]", "|smith|page ii, A, D-Z|, with a suffix"),
        ("[@smith, {pp. iv, vi-xi, (xv)-(xvii)} with suffix here]",
         "|smith|page iv, vi-xi, (xv)-(xvii)| with suffix here"),
        ("[@smith{}, 99 years later]", "|smith||, 99 years later"),
        ("[-@smith04]", "|-smith04||"),
        ("[see -@a; also -@b, p. 3]", "see |-a||; also |-b|page 3|"),
        ("@smith04 says blah.", "T:|smith04||"),
        ("@smith04 [p. 33] says blah.", "T:|smith04|page 33|"),
        ("@smith04 [33; see @b, ch. 2]", "T:|smith04|page 33|; see |b|chapter 2|"),
        ("-@smith04 says", "|-smith04||"),
        ("[@Foo_bar.baz.]", "|Foo_bar.baz||."),
        ("[@Foo_bar--baz]", "|Foo_bar||--baz"),
        ("[@{https://example.com/bib?name=foobar&date=2000}, p.  33]",
         "|https://example.com/bib?name=foobar&date=2000|page 33|"),
        ("@{key with spaces}", "T:|key with spaces||"),
        ("[@doe, §4]", "|doe|section 4|"),
        ("[@doe §§ 4-6]", "|doe|section 4-6|"),
        ("[@doe, vol. 2]", "|doe|volume 2|"),
        ("[@doe, s.v. {lamp}]", "|doe|sub-verbo lamp|"),
        ("[@doe, xii]", "|doe|page xii|"),
        ("[@doe, and more]", "|doe||, and more"),
        ("[@doe\np. 4]", "|doe|page 4|"),
        ("[see [x] @doe]", "see [x] |doe||"),
        ("[@Łukasz2020]", "|Łukasz2020||"),
        ("[@doi:10.1000/182]", "|doi:10.1000/182||"),
        ("(@doe99)", "T:|doe99||"),
        ("**@doe99**", "T:|doe99||"),
        ("“@doe99”", "T:|doe99||"),
        ("- [@inlist]", "|inlist||"),
        ("> [@inquote]", "|inquote||"),
        ("A note.[^1]\n\n[^1]: See [@a, p. 2].", "|a|page 2|"),
        ("A note.^[See [@a].]", "|a||"),
        ("[see the link @a](https://example.org)", "T:|a||"),
        ("@a [text](https://example.org)", "T:|a||"),
    ],
)  # fmt: skip
def test_citations_are_those_that_pandoc_finds(text: str, expected: str) -> None:
    assert cited(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "joe@example.org",
        "Mail <joe@example.org> or [me](mailto:joe@example.org).",
        r"\@escaped and \[\@x\]",
        "`[@code]` and ``a ` @code``",
        "```\n[@fenced]\n```",
        "~~~ {.python}\n@decorator\n~~~",
        "````\n```\n@x\n```\n````",
        "```r\n@unclosed",
        "Text\n\n    @indented\n",
        "<!-- @comment -->",
        "https://medium.com/@user/post",
        "<https://example.org/@user>",
        "[text](https://example.org/@user)",
        "[ref]: https://example.org/@user",
        '<a href="https://example.org/@user">x</a>',
        "$a@b$ and $$\n@x\n$$",
        "@ alone, @-dash and [@]",
        "(@) First example\n\n(@good) Second, as (@good) shows",
        "See @fig:lamp.\n\n![A lamp](lamp.png){#fig:lamp}",
        "[no key]",
    ],
)
def test_code_addresses_and_references_to_figures_are_no_citations(text: str) -> None:
    assert cited(text) == []


def test_an_indented_paragraph_of_a_list_is_no_code() -> None:
    assert cited("- item\n\n    more [@a]\n\nText\n\n    @code\n") == ["|a||"]


def test_brackets_without_a_key_in_each_part_are_text() -> None:
    assert cited("[see @a; and others]") == ["T:|a||"]


def test_keys_have_their_line_and_column() -> None:
    text = "---\ntitle: x\n---\r\n\n`code` @one\nand [see @two; -@{three four}]\n"
    places = [
        (at.key, at.line, at.column) for at in find_citations(text, "markdown").first_places()
    ]
    assert places == [("one", 5, 8), ("two", 6, 10), ("three four", 6, 17)]


def test_nocite_in_the_metadata_is_for_the_bibliography_only() -> None:
    text = "---\ntitle: x\nnocite: |\n  @a, [@b]\nlang: de\n---\n\nText @c.\n"
    found = find_citations(text, "markdown")
    assert [at.key for at in found.uncited] == ["a", "b"]
    assert (found.uncited[0].line, found.uncited[0].column) == (4, 3)
    assert cited(text) == ["T:|c||"]
    assert not found.everything


def test_nocite_of_everything() -> None:
    assert find_citations("---\nnocite: '@*'\n---\n", "markdown").everything
    assert not find_citations("Text @*\n", "markdown").everything


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.md", "markdown"), ("B.QMD", "markdown"), ("x.tex", "latex"), ("x.typ", "typst"),
     ("doe2020", None), ("doe.2020", None), ("10.1000/x", None)],
)  # fmt: skip
def test_a_manuscript_is_known_by_the_end_of_its_name(name: str, kind: str | None) -> None:
    assert document_kind(name) == kind


@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "`" * 20_000, "@a [" * 5_000, "[@a; " * 5_000, "<" * 20_000, "$" * 9_999 + "x"],
)
def test_repeated_opening_marks_take_little_time(text: str) -> None:
    began = time.process_time()
    find_citations(text, "markdown")
    assert time.process_time() - began < 2
