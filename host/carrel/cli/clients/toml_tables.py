"""Edits TOML as text: sets keys of one table, and keeps everything else."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

_HEADER: Final = re.compile(r"\s*\[")
#: A comment behind a value; one with quotes could be part of a string.
_COMMENT: Final = re.compile(r"\s+#[^\"'\r]*(?=\r?$)")


def read(text: str) -> Any:
    """Returns the document of a text.

    Raises:
        ValueError: the text is not TOML; the message has the line.
    """
    return tomllib.loads(text.removeprefix("\ufeff"))


def set_members(text: str, path: Sequence[str], members: Mapping[str, Any]) -> str:
    """Returns the text with keys of the table at `path` set; a new table comes last."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    header = _find_header(lines, path)
    if header is None:
        before = text.rstrip()
        table = [
            f"[{'.'.join(path)}]",
            *(f"{key} = {_value(value)}" for key, value in members.items()),
        ]
        start = f"{before}{newline}{newline}" if before else ""
        return f"{start}{newline.join(table)}{newline}"
    for key, value in members.items():
        first, end = _find_key(lines, header, key)
        ending = "\r" if newline == "\r\n" else ""
        comment = _COMMENT.search(lines[first]) if end == first + 1 else None
        suffix = "" if comment is None else comment[0]
        lines[first:end] = [f"{key} = {_value(value)}{suffix}{ending}"]
    return "\n".join(lines)


def _find_header(lines: Sequence[str], path: Sequence[str]) -> int | None:
    names = r"\s*\.\s*".join(rf"(?:{re.escape(key)}|[\"']{re.escape(key)}[\"'])" for key in path)
    header = re.compile(rf"\s*\[\s*{names}\s*\]\s*(?:#.*)?$")
    return next((at for at, line in enumerate(lines) if header.match(line)), None)


def _find_key(lines: Sequence[str], header: int, key: str) -> tuple[int, int]:
    """Returns the lines of a key in a table; an empty range behind the header if it has none."""
    pattern = re.compile(rf"\s*(?:{re.escape(key)}|[\"']{re.escape(key)}[\"'])\s*=")
    at = header + 1
    while at < len(lines) and not _HEADER.match(lines[at]):
        end = _end_of_pair(lines, at)
        if pattern.match(lines[at]):
            return at, end
        at = end
    return header + 1, header + 1


def _end_of_pair(lines: Sequence[str], at: int) -> int:
    """Returns the line behind a pair, whose value may have several lines."""
    for end in range(at + 1, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[at:end]))
        except ValueError:
            continue
        return end
    return at + 1


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
