"""Writes TOML in the canonical form of the paper store.

`schema_version` comes first, the other keys in alphabetical order, then the tables in alphabetical
order, each with its keys in alphabetical order. Lines end with a line feed, the last one too. A
text with line breaks is a multi-line string.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: What a basic string cannot have as it is. Not only TOML's list: the characters that some readers
#: take for the end of a line are escaped too, so that a line of the file is a line everywhere.
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]')
_ESCAPED_IN_LINES = re.compile(r'["\\\x00-\x09\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]')
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f",
                 "\r": "\\r"}  # fmt: skip
_FIRST: Final = "schema_version"


def toml_text(table: Mapping[str, Any]) -> str:
    """Returns the table as a TOML document in canonical form.

    Args:
        table: what `tomllib` returns: texts, numbers, booleans, dates, lists and tables. Half
            characters (lone surrogates) become U+FFFD.

    Raises:
        TypeError: a value is of a type that TOML does not have.
    """
    return "".join(f"{line}\n" if line else "\n" for line in _lines(table, ()))


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    keys = sorted(table, key=lambda key: (bool(path) or key != _FIRST, key))
    tables = [key for key in keys if isinstance(table[key], Mapping)]
    plain = [key for key in keys if not isinstance(table[key], Mapping)]
    if path and (plain or not tables):
        yield ""
        yield f"[{'.'.join(_key(part) for part in path)}]"
    for key in plain:
        yield f"{_key(key)} = {_value(table[key], in_lines=True)}"
    for key in tables:
        yield from _lines(table[key], (*path, key))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any, *, in_lines: bool = False) -> str:
    if isinstance(value, str):
        return _text_in_lines(value) if in_lines and "\n" in value else _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dt.datetime):
        return _moment(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_value(value[key])}" for key in sorted(value))
        return f"{{ {inside} }}" if inside else "{}"
    raise TypeError(f"TOML has no {type(value).__name__}")


def _float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def _moment(value: dt.datetime) -> str:
    text = value.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def _text(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _text_in_lines(text: str) -> str:
    # A line break directly behind the opening quotes is not part of the string.
    return f'"""\n{_ESCAPED_IN_LINES.sub(_escape, text)}"""'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return _SHORT.get(character) or f"\\u{ord(character):04X}"
