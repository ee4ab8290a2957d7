"""Tests sections, found by heading, and parts of them, which end between paragraphs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.documents.parts import SectionHeading, estimated_tokens, outline, take_part
from carrel.errors import ArgumentError

TEXT = """# Title

## Abstract

### Methods

In short.

## 1 Introduction

Words.

## 2 Materials and Methods

More words.

### 2.1 Sites

Two.

## 3 Results

Good.

### Sites

Again.

## References

- One.
"""


def heading(line: str, words: str, level: int, part: str = "body", nth: int = 0) -> SectionHeading:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(f"{line}\n", start + 1)
    return SectionHeading(words, level, part, start)


HEADINGS = (
    heading("## Abstract", "Abstract", 1, "abstract"),
    heading("### Methods", "Methods", 2, "abstract"),
    heading("## 1 Introduction", "1 Introduction", 1),
    heading("## 2 Materials and Methods", "2 Materials and Methods", 1),
    heading("### 2.1 Sites", "2.1 Sites", 2),
    heading("## 3 Results", "3 Results", 1),
    heading("### Sites", "Sites", 2),
    heading("## References", "References", 1, "references"),
)


def section(wanted: str) -> str:
    return take_part(TEXT, HEADINGS, section=wanted).text


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ("1 Introduction", "## 1 Introduction", "Words."),
        ("introduction", "## 1 Introduction", "Words."),
        ("2. INTRODUCTION:", "## 1 Introduction", "Words."),
        ("2", "## 2 Materials and Methods", "Two."),
        ("2.1", "### 2.1 Sites", "Two."),
        ("methods", "## 2 Materials and Methods", "Two."),
        ("Sites", "### Sites", "Again."),
        ("abstract", "## Abstract", "In short."),
        ("References", "## References", "- One."),
    ],
)
def test_a_section_has_the_sections_inside_it_and_no_more(
    wanted: str, first: str, last: str
) -> None:
    lines = section(wanted).splitlines()
    assert (lines[0], lines[-1]) == (first, last)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("Discussion", "there are 'Abstract'"),
        ("Resluts", "no heading fits 'Resluts'"),
        ("Referencess", "did you mean 'References'?"),
        ("Method", "no heading fits"),
    ],
)
def test_an_unknown_section_is_refused_with_the_known_sections(wanted: str, message: str) -> None:
    with pytest.raises(ArgumentError, match="section: ") as caught:
        section(wanted)
    assert message in caught.value.message


def test_words_that_fit_several_sections_are_refused_with_their_names() -> None:
    headings = [SectionHeading(f"Part {name}", 1, "body", at) for at, name in enumerate("abc")]
    with pytest.raises(ArgumentError, match="'Part a', 'Part b', 'Part c'"):
        take_part("abc", headings, section="part")


@pytest.mark.parametrize("most", [1, 7, 12, 40, 70, 1000])
def test_parts_add_up_to_the_text_within_the_requested_length(most: int) -> None:
    start: int | None = 0
    pieces = []
    while start is not None:
        part = take_part(TEXT, HEADINGS, start=start, max_chars=most)
        assert len(part.text) <= most + 1
        assert (part.start, part.length) == (start, len(TEXT))
        assert part.text == TEXT[part.start : part.end]
        pieces.append(part.text)
        start = part.next
    assert "".join(pieces) == TEXT


def test_a_piece_ends_between_paragraphs_where_one_fits() -> None:
    part = take_part(TEXT, HEADINGS, max_chars=60)
    assert part.text == "# Title\n\n## Abstract\n\n### Methods\n\nIn short.\n\n"
    assert TEXT[part.next or 0 :].startswith("## 1 Introduction")


def test_an_overlong_paragraph_is_cut_between_words() -> None:
    text = "word " * 100
    part = take_part(text, (), max_chars=23)
    assert part.text == "word word word word "
    assert part.next == 20


def test_a_piece_does_not_end_inside_code() -> None:
    code = "```\none\n\ntwo\n\nthree\n```"
    text = f"Before.\n\n{code}\n\nBehind.\n"
    assert take_part(text, (), max_chars=25).text == "Before.\n\n"
    assert take_part(text, (), start=9, max_chars=40).text == f"{code}\n\nBehind.\n"
    assert take_part(text, (), start=9, max_chars=30).text == f"{code}\n\n"


def test_a_section_continues_where_its_first_part_ended() -> None:
    first = take_part(TEXT, HEADINGS, section="methods", max_chars=40)
    assert first.text == "## 2 Materials and Methods\n\nMore words.\n\n"
    assert first.next is not None
    rest = take_part(TEXT, HEADINGS, section="methods", start=first.next)
    assert (rest.text, rest.next) == ("### 2.1 Sites\n\nTwo.\n", None)


def test_a_start_after_the_end_is_refused_with_the_length() -> None:
    with pytest.raises(ArgumentError, match=f"ends at {len(TEXT)}"):
        take_part(TEXT, HEADINGS, start=len(TEXT))
    with pytest.raises(ArgumentError, match="from: "):
        take_part(TEXT, HEADINGS, section="Abstract", start=300)
    assert take_part("", ()).text == ""


def test_the_outline_has_the_start_and_tokens_of_sections() -> None:
    entries, left_out = outline(TEXT, HEADINGS)
    assert left_out == 0
    assert [one["heading"] for one in entries] == [one.heading for one in HEADINGS]
    methods = entries[3]
    assert TEXT[methods["from"] :].startswith("## 2 Materials")
    assert methods["tokens"] == estimated_tokens(section("methods"))


def test_a_long_outline_loses_its_inner_headings_first() -> None:
    headings = [
        SectionHeading(f"h{number}", 1 if number % 10 == 0 else 2 + number % 3, "body", number)
        for number in range(1000)
    ]
    entries, left_out = outline("x" * 1000, headings)
    assert {one["level"] for one in entries} == {1}
    assert (len(entries), left_out) == (100, 900)
    assert len(outline("x" * 1000, [h for h in headings if h.level > 1])[0]) == 150


#: Pieces of Markdown, among them paragraphs without blanks and characters of several bytes.
PIECES = st.sampled_from((
    "\n", "\n\n", "\n\n\n\n", "## ", "```\n", "~~~\n", "> ", "- ", " ", "word ",
    "\u6f22\u5b57", "\u00e4",
    "\U0001f468\u200d\U0001f469", "\u05e9\u05dc\u05d5\u05dd ", "e\u0301", "\r\n", "\u2028",
))  # fmt: skip


@given(
    st.lists(PIECES, max_size=120).map("".join) | st.text(max_size=400),
    st.integers(1, 100),
    st.lists(st.integers(0, 400), max_size=5),
)
def test_parts_joined_are_the_text(text: str, most: int, titles: list[int]) -> None:
    headings = [SectionHeading("h", 1, "body", at) for at in sorted(set(titles)) if at < len(text)]
    start: int | None = 0
    pieces = []
    while start is not None:
        part = take_part(text, headings, start=start, max_chars=most)
        assert part.end > part.start or not text
        assert len(part.text) <= most + 1
        pieces.append(part.text)
        start = part.next
    assert "".join(pieces) == text


@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000,
        "> " * 100_000,
        "- " + " " * 100_000,
        "1" * 200_000 + ".",
        "```\nx\n```\n\n" * 20_000 + "```\n" + "\n" * 200_000,
        "## x\n\n" * 30_000,
    ],
    ids=["blanks", "quotations", "an item", "digits", "fences", "headings"],
)
def test_a_part_of_a_long_text_takes_time_in_proportion(text: str) -> None:
    headings = [SectionHeading("x", 1, "body", at) for at in range(0, min(len(text), 180_000), 6)]
    take_part(text, headings, max_chars=len(text) - 10)  # the suite's timeout is the limit


def test_tokens_are_bytes_by_four() -> None:
    assert [estimated_tokens(text) for text in ("", "a", "abcd", "abcde", "äöü", "漢字")] == [
        0,
        1,
        1,
        2,
        2,
        2,
    ]
