"""Selects parts of a document's text: sections by heading, and parts between paragraphs."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from carrel.errors import ArgumentError
from carrel.text.printable import printable

#: Bytes of UTF-8 that count as one token; see `docs/reference/tools.md`.
BYTES_PER_TOKEN: Final = 4

#: The first blanks end at a sign, so that a long line of blanks takes linear time.
_FENCE = re.compile(r"^[ >]*(?:(?:[-*+]|\d{1,9}\.)[ >]*)?(`{3,}|~{3,})", re.MULTILINE)
_NUMBERING = re.compile(r"^(?:(?:[0-9]+|[IVXLC]+|[A-Z])(?:\.[0-9]+)*[.):]?|[0-9.]+)\s+(?=\S)")


def estimated_tokens(text: str) -> int:
    """Returns the estimated number of a model's tokens in a text."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class SectionHeading:
    """A heading in a document's text.

    Attributes:
        heading: label and heading.
        level: 1 for the outermost.
        part: the part that it belongs to: `abstract`, `body` or `references`.
        start: its position in the text, in characters.
    """

    heading: str
    level: int
    part: str
    start: int


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A part of a document's text.

    Attributes:
        text: the part as it is in the whole text, so that parts joined are the whole; at the end of
            a section without the blank line behind it.
        start: its position in the whole text, in characters.
        end: its end there.
        next: the start of the next part; None at the end of the document, or of the section.
        length: characters of the whole text.
        tokens: of the piece, estimated.
    """

    text: str
    start: int
    end: int
    next: int | None
    length: int
    tokens: int


def take_part(
    text: str,
    headings: Sequence[SectionHeading],
    *,
    start: int = 0,
    section: str | None = None,
    max_chars: int | None = None,
) -> DocumentPart:
    """Returns a part of a document's text.

    Args:
        text: the whole text.
        headings: of the text.
        start: the first character; `next` of an earlier part.
        section: a heading; the part ends with the section.
        max_chars: maximum length of the part, without a last line break. It ends between
            paragraphs, or, if no paragraph fits, between lines or words; with a heading only if
            nothing else fits.

    Raises:
        ArgumentError: there is no such section, or `start` is behind the end.
    """
    begin, end = 0, len(text)
    titles = [heading.start for heading in headings]
    if section is not None:
        begin, end = find_section(text, headings, section)
    if start > max(end - 1, 0):
        raise ArgumentError(
            [f"from: {start:,} is behind the end; the text asked for ends at {end:,}"]
        )
    begin = max(begin, start)
    stop = end if max_chars is None else _border(text, titles, begin, end, max_chars)
    piece = text[begin:stop]
    if stop == end < len(text):  # without the blank line before the next section
        piece = piece.rstrip("\n")
        piece += "\n" if piece else ""
    return DocumentPart(
        piece,
        begin,
        stop,
        stop if stop < end else None,
        len(text),
        estimated_tokens(piece.rstrip("\n")),
    )


def section_end(text: str, headings: Sequence[SectionHeading], number: int) -> int:
    """Returns the end of a section: the next heading that is not inside it."""
    level, part = headings[number].level, headings[number].part
    for heading in headings[number + 1 :]:
        if heading.level <= level or (heading.part != part and part == "abstract"):
            return heading.start
    return len(text)


def find_section(text: str, headings: Sequence[SectionHeading], query: str) -> tuple[int, int]:
    """Returns the start and end of a section.

    A heading matches if it is equal except for case and numbering, else if it contains the words.
    Headings of the text take precedence over those of an abstract, outer ones over inner ones.

    Raises:
        ArgumentError: none matches, or words match several of the same rank.
    """
    inside = [number for number, heading in enumerate(headings) if heading.part == "abstract"]
    outside = [number for number, heading in enumerate(headings) if heading.part != "abstract"]
    for numbers in (outside, inside):
        found = _fitting(headings, numbers, query)
        if len(found) > 1:
            candidates = ", ".join(_quoted(headings[number].heading) for number in found[:10])
            raise ArgumentError(
                [f"section: {_quoted(query)} is ambiguous; name one of {candidates}"]
            )
        if found:
            return headings[found[0]].start, section_end(text, headings, found[0])
    raise ArgumentError(
        [f"section: no heading fits {_quoted(query)}; {_suggestion(headings, query)}"]
    )


def _fitting(headings: Sequence[SectionHeading], numbers: Sequence[int], query: str) -> list[int]:
    """Returns the best matches; several only if they match by words."""
    for fits in (_same, _same_label, _without_numbering, _has_words):
        found = [number for number in numbers if fits(headings[number].heading, query)]
        if found:
            outermost = min(headings[number].level for number in found)
            found = [number for number in found if headings[number].level == outermost]
            return found if fits is _has_words else found[:1]
    return []


def _suggestion(headings: Sequence[SectionHeading], query: str) -> str:
    names = [heading.heading for heading in headings]
    near = difflib.get_close_matches(query, names, n=1)
    if near:
        return f"did you mean {_quoted(near[0])}?"
    if not names:
        return "the document has no headings"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"there are {', '.join(map(_quoted, names[:20]))}{more}"


def _quoted(text: str) -> str:
    return repr(printable(text, 80))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .:;")


def _same(heading: str, query: str) -> bool:
    return _plain(heading) == _plain(query)


def _same_label(heading: str, query: str) -> bool:
    label, _, rest = heading.partition(" ")
    return bool(rest) and label[:1].isdigit() and label.strip(".") == query.strip(" .")


def _without_numbering(heading: str, query: str) -> bool:
    return _plain(_NUMBERING.sub("", heading)) == _plain(_NUMBERING.sub("", query.strip()))


def _has_words(heading: str, query: str) -> bool:
    words = _plain(query)
    return (
        bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", _plain(heading)) is not None
    )


# Cutting


def _border(text: str, titles: Sequence[int], start: int, end: int, most: int) -> int:
    """Returns the end of a part of at most `most` characters; `titles` are headings' positions."""
    if end - start <= most:
        return end
    limit = start + most
    fences = list(_fenced(text, limit + 1))
    opened = [begin for begin, _ in fences]
    behind_heading = start
    at = text.rfind("\n\n", start + 1, limit + 1)
    while at > start:
        number = bisect_left(opened, at) - 1
        if number >= 0 and at < fences[number][1]:
            at = text.rfind("\n\n", start + 1, opened[number] + 1)
            continue
        if not _is_heading(text, titles, at):
            return _behind_breaks(text, at, limit + 1)
        behind_heading = max(behind_heading, at)
        at = text.rfind("\n\n", start + 1, at)
    if behind_heading > start:
        return _behind_breaks(text, behind_heading, limit + 1)
    for sign in ("\n", " "):
        at = text.rfind(sign, start + 1, limit)
        if at > start:
            return at + 1
    return limit


def _is_heading(text: str, titles: Sequence[int], at: int) -> bool:
    """Returns whether the paragraph that ends here is a heading."""
    before = bisect_left(titles, at)
    return before > 0 and "\n\n" not in text[titles[before - 1] : at]


def _behind_breaks(text: str, at: int, end: int) -> int:
    while at < end and text[at] == "\n":
        at += 1
    return at


def _fenced(text: str, end: int) -> Iterator[tuple[int, int]]:
    """Yields start and end of fenced code, in which an empty line does not end a paragraph."""
    opened: tuple[int, str] | None = None
    for found in _FENCE.finditer(text, 0, end):
        if opened is None:
            opened = found.start(), found[1]
        elif found[1].startswith(opened[1]):
            yield opened[0], found.end()
            opened = None
    if opened is not None:
        yield opened[0], end


# The outline

#: Maximum number of entries of an outline; deeper headings are omitted first.
MAX_OUTLINE: Final = 150


def outline(text: str, headings: Sequence[SectionHeading]) -> tuple[list[dict[str, Any]], int]:
    """Returns headings with the start and tokens of their sections, and how many are omitted."""
    included = list(range(len(headings)))
    for deepest in sorted({heading.level for heading in headings}, reverse=True):
        if len(included) <= MAX_OUTLINE:
            break
        shallower = [number for number in included if headings[number].level < deepest]
        included = shallower or included[:MAX_OUTLINE]
    entries = [
        {
            "heading": headings[number].heading,
            "level": headings[number].level,
            "from": headings[number].start,
            "tokens": estimated_tokens(
                text[headings[number].start : section_end(text, headings, number)]
            ),
        }
        for number in included
    ]
    return entries, len(headings) - len(included)
