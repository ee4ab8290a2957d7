"""Edits JSON with comments as text: changes one member, and keeps everything else.

Comments (`//` and `/* */`) and trailing commas are allowed, as editors write them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_SKIPPED: Final = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR: Final = re.compile(r"[^\s,:\[\]{}\"/]+")
_LINE_COMMENT: Final = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\r?\n)")
_DEPTH: Final = 200
_DECODER: Final = json.JSONDecoder()


@dataclass(slots=True)
class _Node:
    """A value of the text.

    Attributes:
        start: where it begins.
        end: behind its last character.
        value: the Python value.
        members: of an object, by key.
    """

    start: int
    end: int
    value: Any
    members: dict[str, _Node] = field(default_factory=dict)


def read(text: str) -> Any:
    """Returns the value of a text.

    Raises:
        ValueError: the text is not JSON with comments; the message has the line.
    """
    return _Scanner(text).document().value


def set_members(text: str, path: Sequence[str], members: Mapping[str, Any]) -> str:
    """Returns the text with members of the object at `path` set; a new one comes last.

    Raises:
        ValueError: as `set_member`.
    """
    found = read(text) if _SKIPPED.sub("", text, count=1) else {}
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return set_member(text, path, dict(members))
    for name, value in members.items():
        text = set_member(text, [*path, name], value)
    return text


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Returns the text with the member at `path` set; missing objects on the way are created.

    Raises:
        ValueError: the text is not JSON with comments, or `path` passes through another value than
            an object.
    """
    if not _SKIPPED.sub("", text, count=1):
        text = f"{text}{{}}\n"
    node = _Scanner(text).document()
    depth = 0
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            where = ".".join(path[:depth]) or "the document"
            raise ValueError(f"{where} is not an object")  # noqa: TRY004 - of the text
        if key not in node.members:
            break
        node = node.members[key]
    else:
        return text[: node.start] + _dumped(value, text, node.start) + text[node.end :]
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    return _inserted(text, node, path[depth], value)


def _inserted(text: str, node: _Node, key: str, value: Any) -> str:
    """Returns the text with a new last member of an object."""
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, node.start)
    last = max(node.members.values(), key=lambda child: child.end, default=None)
    closing = node.end - 1
    if last is None:
        inner = outer + _unit(text)
        member = f"{json.dumps(key, ensure_ascii=False)}: {_text(value, inner, text)}"
        content = text[node.start + 1 : closing].rstrip()
        before = text[: node.start + 1] + content
        return f"{before}{newline}{inner}{member}{newline}{outer}{text[closing:]}"
    if "\n" not in text[node.start : node.end]:
        member = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        return f"{text[: last.end]}, {member}{text[last.end :]}"
    inner = _indent(text, max(_key_starts(text, node), default=last.start))
    member = f"{json.dumps(key, ensure_ascii=False)}: {_text(value, inner, text)}"
    after = _SKIPPED.match(text, last.end)
    comma = after.end() if after is not None else last.end
    has_comma = text[comma : comma + 1] == ","
    head = text[: comma + 1] if has_comma else f"{text[: last.end]},"
    rest = text[comma + 1 :] if has_comma else text[last.end :]
    comment = _LINE_COMMENT.match(rest)
    if comment is not None:  # a comment on the line of the last member belongs to that
        head, rest = head + comment[0], rest[comment.end() :]
    return (
        f"{head}{newline}{inner}{member}{rest}"
        if rest.lstrip(" \t")[:1] in "\r\n"
        else (f"{head}{newline}{inner}{member}{newline}{outer}{rest.lstrip()}")
    )


def _key_starts(text: str, node: _Node) -> Iterator[int]:
    """Yields where the keys of an object's members begin, if they begin a line."""
    for member in node.members.values():
        start = text.rfind("\n", node.start, member.start) + 1
        if start:
            yield start + len(_indent(text, start))


def _indent(text: str, at: int) -> str:
    """Returns the white space at the beginning of the line."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))]


def _unit(text: str) -> str:
    """Returns the indentation of one level, as the text uses it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _dumped(value: Any, text: str, at: int) -> str:
    return _text(value, _indent(text, at), text)


def _text(value: Any, indent: str, text: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    unit = _unit(text)
    inner = indent + unit
    members = [
        f"{inner}{json.dumps(key, ensure_ascii=False)}: {_text(member, inner, text)}"
        for key, member in value.items()
    ]
    if not members:
        return "{}"
    return "{" + newline + f",{newline}".join(members) + newline + indent + "}"


class _Scanner:
    """Reads values with their places."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> _Node:
        """Reads the whole text."""
        self._skip()
        node = self._value(0)
        self._skip()
        if self._at < len(self._text):
            self._fail("expected the end")
        return node

    def _skip(self) -> None:
        found = _SKIPPED.match(self._text, self._at)
        self._at = found.end() if found is not None else self._at

    def _fail(self, expected: str) -> None:
        line = self._text.count("\n", 0, self._at) + 1
        found = self._text[self._at : self._at + 20].split("\n")[0]
        raise ValueError(f"line {line}: {expected} but found {found!r}")

    def _value(self, depth: int) -> _Node:
        if depth > _DEPTH:
            self._fail(f"expected at most {_DEPTH} levels")
        start = self._at
        first = self._text[start : start + 1]
        if first == "{":
            return self._object(start, depth)
        if first == "[":
            return self._array(start, depth)
        if first == '"':
            return _Node(start, self._at, self._string())
        scalar = _SCALAR.match(self._text, start)
        try:
            value = json.loads(scalar[0] if scalar is not None else "")
        except ValueError:
            self._fail("expected a value")
        assert scalar is not None
        self._at = scalar.end()
        return _Node(start, self._at, value)

    def _string(self) -> str:
        try:
            value, self._at = _DECODER.raw_decode(self._text, self._at)
        except ValueError:
            self._fail("expected a string")
        return str(value)

    def _object(self, start: int, depth: int) -> _Node:
        members: dict[str, _Node] = {}
        self._at += 1
        self._skip()
        while self._text[self._at : self._at + 1] != "}":
            if self._text[self._at : self._at + 1] != '"':
                self._fail("expected a key or }")
            key = self._string()
            self._skip()
            if self._text[self._at : self._at + 1] != ":":
                self._fail("expected :")
            self._at += 1
            self._skip()
            if key in members:
                self._fail(f"expected {key!r} once")
            members[key] = self._value(depth + 1)
            members[key].end = self._at
            self._separator("}")
        self._at += 1
        value = {key: member.value for key, member in members.items()}
        return _Node(start, self._at, value, members)

    def _array(self, start: int, depth: int) -> _Node:
        items = []
        self._at += 1
        self._skip()
        while self._text[self._at : self._at + 1] != "]":
            items.append(self._value(depth + 1).value)
            self._separator("]")
        self._at += 1
        return _Node(start, self._at, items)

    def _separator(self, closing: str) -> None:
        self._skip()
        found = self._text[self._at : self._at + 1]
        if found == ",":
            self._at += 1
            self._skip()
        elif found != closing:
            self._fail(f"expected , or {closing}")
