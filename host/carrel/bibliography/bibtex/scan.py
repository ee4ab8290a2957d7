"""Splits a BibTeX text into blocks with the positions of their parts.

Follows BibTeX: a value is between braces or quotes, a number or the name of a string, or several of
these joined by `#`; braces count even behind a backslash. Beyond BibTeX it accepts what other
programs do: comments from `%` to the end of the line between entries and between fields, missing
commas, blanks around `@` and the key. bibtexparser's splitter is not used, because edits in place
need the positions, and because it loses entries with these.

An entry whose braces or quotes do not balance ends at the next line that begins an entry. A value
that is not closed ends with its line if the next line is a field or the end of the entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_BLOCK = re.compile(r"@\s*([^\W\d][\w.+-]*)\s*([{(])")
#: An entry at the beginning of a line, where reading resumes after an unbalanced one.
_NEXT = re.compile(r"^[ \t]*@[ \t]*[^\W\d][\w.+-]*\s*[{(]", re.MULTILINE)
#: A key and its comma behind the beginning of an entry: what no value between quotes has.
_WITH_KEY = re.compile(_NEXT.pattern + r"\s*[^\s{}(),=\"]+\s*,", re.MULTILINE)
#: Where a value that is not closed ends: before a field, the end of the entry, or the next entry.
_CUT = re.compile(
    r"[\r\n][ \t]*(?:[a-z][\w-]*[ \t]*=[ \t]*[{\"\w]|[})]\s*$|@)", re.IGNORECASE | re.MULTILINE
)
_ONE_LINE_CUT = re.compile(r"[}\"],\s*[a-z][\w-]*\s*=\s*[{\"\d]", re.IGNORECASE)
_BLANK = re.compile(r"(?:\s++|%[^\n]*+)*+")
_SEPARATORS = re.compile(r"(?:[\s,]++|%[^\n]*+)*+")
_NAME = re.compile(r"([^\s=,{}\"#%()]++)\s*+=")
#: A key up to its comma, or to the line's or the entry's end.
_KEY = re.compile(r"\s*+([^,={}\n\r%]*)")
_BARE = re.compile(r"[^\s,{}\"#%=()]++")
_BRACE = re.compile(r"[{}]")
_QUOTE = re.compile(r"[{}\"]")
#: A value between braces with at most one level of inner ones, which nearly all are.
_SHALLOW = re.compile(r"\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}")

#: A field with one such value, which nearly all are.
_SIMPLE = re.compile(
    r"([^\s=,{}\"#%()]++)\s*+=\s*+(\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\})(?=\s*+[,}])"
)


@dataclass(slots=True)
class BibtexField:
    """One field of an entry.

    Attributes:
        name: in lower case.
        start: position of the name.
        value_start: position of the value, with its delimiters.
        value_end: position after the value.
        pieces: the parts that `#` joins, each `{`, `"` or empty for a bare word, and the text.
    """

    name: str
    start: int
    value_start: int
    value_end: int
    pieces: list[tuple[str, str]]


@dataclass(slots=True)
class BibtexBlock:
    """An entry, a string, a preamble or a comment.

    Attributes:
        kind: the word behind the `@`, in lower case.
        start: position of the `@`.
        end: position after the closing delimiter, or where reading resumed.
        key: of an entry; empty if it has none.
        key_start: position of the key, or where it would be.
        fields: in their order.
        problem: why it could not be read to its end; empty if it was.
        skipped: the first text between its fields that is no field.
    """

    kind: str
    start: int
    end: int
    key: str = ""
    key_start: int = 0
    fields: list[BibtexField] = field(default_factory=list)
    problem: str = ""
    skipped: str = ""

    @property
    def is_entry(self) -> bool:
        """Whether it is an entry."""
        return self.kind not in NOT_ENTRIES


NOT_ENTRIES: Final = frozenset({"comment", "preamble", "string"})


class _Unbalanced(Exception):
    """A delimiter that is not closed before the limit."""

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(problem)
        self.position = position


def scan(text: str) -> Iterator[BibtexBlock]:
    """Yields the blocks of a text in their order; what is between them is comment."""
    position, wasted = 0, 0
    while match := _BLOCK.search(text, position):
        line_start = max(text.rfind("\n", 0, match.start()) + 1, position)
        if "%" in text[line_start : match.start()]:
            newline = text.find("\n", match.start())
            position = newline if newline >= 0 else len(text)
            continue
        limit = len(text)
        if wasted > 4 * len(text):  # keeps many unbalanced entries from being read to the end each
            limit = _next_entry(text, match.end())
        block = _block(text, match, limit)
        if block.problem:
            wasted += limit - match.start()
            limit = min(limit, _next_entry(text, match.end()))
            block = _block(text, match, limit, repair=True)
        position = max(block.end, match.end())
        yield block


def _next_entry(text: str, position: int) -> int:
    found = _NEXT.search(text, position)
    return found.start() if found else len(text)


def _block(text: str, match: re.Match[str], limit: int, *, repair: bool = False) -> BibtexBlock:
    kind = match[1].lower()
    close = "}" if match[2] == "{" else ")"
    block = BibtexBlock(kind, match.start(), limit, key_start=match.end())
    try:
        if kind in {"comment", "preamble"}:
            block.end = _end_of_group(text, match.end() - 1, limit)
            return block
        position = match.end()
        if kind != "string":
            position = _read_key(text, block, close, limit)
        block.end = _read_fields(text, block, position, close, limit, repair=repair)
    except _Unbalanced as error:
        if kind == "comment":  # a word in a text, not a block
            block.end = match.end()
        else:
            block.problem = block.problem or str(error)
    return block


def _end_of_group(text: str, position: int, limit: int) -> int:
    if text[position] == "{":
        return _end_of_braces(text, position, limit)
    end = position + 1
    while end < limit:
        if text[end] == "{":
            end = _end_of_braces(text, end, limit)
        elif text[end] == ")":
            return end + 1
        else:
            end += 1
    raise _Unbalanced(position, "its parenthesis is not closed")


def _read_key(text: str, block: BibtexBlock, close: str, limit: int) -> int:
    """Sets the key of a block; returns where its fields begin."""
    match = _KEY.match(text, block.key_start, limit)
    assert match is not None
    key, end = match[1], match.end()
    block.key_start = match.start(1)
    if close == ")" and ")" in key:
        key = key[: key.index(")")]
        end = match.start(1) + len(key)
    if end < limit and text[end] == "=":
        # No comma before the first field, or no key at all.
        first, _, rest = key.strip().partition(" ")
        block.key = first if rest.strip() else ""
        return block.key_start + (key.index(first) + len(first) if block.key else 0)
    block.key = " ".join(key.split())
    return end


def _read_fields(
    text: str, block: BibtexBlock, position: int, close: str, limit: int, *, repair: bool
) -> int:
    """Appends the fields of a block; returns the position after its end.

    With `repair`, a value that is not closed is ended; the block's problem says so.
    """
    while True:
        match = _SEPARATORS.match(text, position, limit)
        position = match.end() if match else position
        if position >= limit:
            raise _Unbalanced(position, "it is not closed")
        if text[position] in "})":  # some close a brace with a parenthesis
            return position + 1
        simple = _SIMPLE.match(text, position, limit)
        if simple is not None and not (repair and _CUT.search(text, simple.start(2), simple.end())):
            name, value_start, position = simple[1], simple.start(2), simple.end(2)
            pieces = [("{", text[value_start + 1 : position - 1])]
            bibtex_field = BibtexField(name.lower(), simple.start(), value_start, position, pieces)
            block.fields.append(bibtex_field)
            continue
        field_name = _NAME.match(text, position, limit)
        if field_name is not None:
            try:
                position = _read_field(text, block, field_name, limit, repair=repair)
            except _Unbalanced as error:
                if not repair:
                    raise
                position = _ended(text, block, field_name, error, limit)
            continue
        if text[position] == "@":
            raise _Unbalanced(position, "it is not closed")
        end = _after_junk(text, position, close, limit)
        block.skipped = block.skipped or " ".join(text[position:end].split())[:40]
        position = end


def _ended(
    text: str, block: BibtexBlock, name: re.Match[str], error: _Unbalanced, limit: int
) -> int:
    """Appends a field whose value is not closed; returns the position after it."""
    start = error.position
    short = _ONE_LINE_CUT.search(text, start + 1, limit)
    cut = _CUT.search(text, start + 1, limit)
    end = min(found.start() for found in (short, cut) if found) if short or cut else limit
    end += short is not None and end == short.start()
    value = text[start + 1 : end].rstrip().rstrip(",").rstrip()
    closing = "}" if text[start] == "{" else '"'
    while value.count("}") > value.count("{") or value.endswith((closing, "}")):
        if not value.endswith(("}", closing)):
            break
        value = value[:-1].rstrip()
    value = value if value.count("{") == value.count("}") else re.sub("[{}]", "", value)
    block.problem = block.problem or f"{error}; it was taken to end with its line"
    block.fields.append(
        BibtexField(name[1].lower(), name.start(), start, end, [(text[start], value.strip())])
    )
    return end


def _after_junk(text: str, position: int, close: str, limit: int) -> int:
    """Returns the position of the next comma or end of the entry."""
    while position < limit and text[position] not in {",", close}:
        if text[position] == "{":
            position = _end_of_braces(text, position, limit)
        elif text[position] == "}":
            break
        else:
            position += 1
    return position


def _read_field(
    text: str, block: BibtexBlock, name: re.Match[str], limit: int, *, repair: bool
) -> int:
    position = _after_blank(text, name.end(), limit)
    value_start = value_end = position
    pieces: list[tuple[str, str]] = []
    while position < limit:
        character = text[position]
        if character == "{":
            value_end = _end_of_braces(text, position, limit, name[1])
            if repair and _CUT.search(text, position, value_end):
                raise _Unbalanced(position, f"the brace of {name[1]!r} is not closed")
            pieces.append(("{", text[position + 1 : value_end - 1]))
        elif character == '"':
            value_end = _end_of_quotes(text, position, limit, name[1])
            pieces.append(('"', text[position + 1 : value_end - 1]))
        else:
            bare = _BARE.match(text, position, limit)
            if bare is None:
                break
            value_end = bare.end()
            pieces.append(("", bare[0]))
        position = _after_blank(text, value_end, limit)
        if position >= limit or text[position] != "#":
            break
        position = _after_blank(text, position + 1, limit)
    if block.kind == "string" or name[1]:
        block.fields.append(
            BibtexField(name[1].lower(), name.start(), value_start, value_end, pieces)
        )
    return max(value_end, name.end())


def _after_blank(text: str, position: int, limit: int) -> int:
    match = _BLANK.match(text, position, limit)
    return match.end() if match else position


def _end_of_braces(text: str, position: int, limit: int, name: str = "") -> int:
    shallow = _SHALLOW.match(text, position, limit)
    if shallow:
        return shallow.end()
    depth = 0
    for brace in _BRACE.finditer(text, position, limit):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    where = f"the brace of {name!r}" if name else "its brace"
    raise _Unbalanced(position, f"{where} is not closed")


def _end_of_quotes(text: str, position: int, limit: int, name: str) -> int:
    depth = 0
    for found in _QUOTE.finditer(text, position + 1, limit):
        if found[0] == '"':
            if depth <= 0 and not _has_entry(text, position, found.end()):
                return found.end()
            if depth <= 0:
                break
        else:
            depth += 1 if found[0] == "{" else -1
    raise _Unbalanced(position, f"the quote of {name!r} is not closed")


def _has_entry(text: str, start: int, end: int) -> bool:
    """Returns whether a value between quotes has the beginning of an entry, which it swallowed."""
    return text.find("@", start, end) >= 0 and _WITH_KEY.search(text, start, end) is not None
