"""Reads a CSL-JSON file entry by entry, and edits it so that all other bytes are kept."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec

from carrel.bibliography.item import Item
from carrel.library.errors import LibraryError

from .json_edit import JsonLayout, edited_object
from .library_text import span_edit

_BETWEEN: Final = re.compile(rb"[ \t\r\n,]*")
_INDENTATION: Final = re.compile(rb"\r?\n([ \t]*)\Z")
#: Bytes that show how lines end.
_SAMPLE: Final = 2**16
_LONE = re.compile("[\ud800-\udfff]")
_RAWS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_ANY: Final = msgspec.json.Decoder()


class CslJsonText:
    """The text of a CSL-JSON file: a list of items.

    Elements that are no objects are kept, and are no items.

    Raises:
        LibraryError: `READ_ERROR`, with line and column; it is not a list in JSON.
    """

    context: Final = b""

    def __init__(self, data: bytes) -> None:
        self._bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        self._data = data[len(self._bom) :]
        self.sources: Sequence[bytes] = _elements(self._data)

    def item(self, position: int) -> Item | None:
        """Returns a new item of the element at `position`; None if it is no object."""
        found = decoded(self.sources[position])
        return found if isinstance(found, dict) else None

    def edited(self, changed: Mapping[int, Item | None], added: Sequence[Item]) -> bytes:
        """Returns the file with items replaced, removed (None) and appended."""
        layout = self._layout
        texts: dict[int, bytes | None] = {}
        for position, item in changed.items():
            old = self.item(position)
            source = self.sources[position].decode()
            if item is None:
                texts[position] = None
            elif old is None:
                texts[position] = _encoded(layout.written(item, self._indentation))
            else:
                texts[position] = _encoded(edited_object(source, old, item, layout))
        indentation = self._indentation
        new = [_encoded(layout.written(item, indentation)) for item in added]
        if not self.sources:
            return self._bom + self._filled(new)
        if not new and [*texts.values()].count(None) == len(self.sources):
            start, end = self._data.index(b"[") + 1, self._data.rindex(b"]")
            return self._bom + self._data[:start] + self._data[end:]
        # To append, the spans of the last two elements are enough.
        spans = self._spans if texts else self._last_spans
        if len(spans) > 1:
            separator = self._data[spans[-2][1] : spans[-1][0]]
        else:
            opening = self._data[self._data.index(b"[") + 1 : spans[0][0]]
            separator = b"," + (opening or layout.comma[1:].encode())
        return self._bom + span_edit(self._data, spans, texts, new, separator)

    def _filled(self, new: Sequence[bytes]) -> bytes:
        """Returns the text of an empty list with these elements."""
        if not new:
            return self._data
        newline = self._layout.newline
        joined = f",{newline}  ".encode().join(new)
        end = self._data[self._data.index(b"]") + 1 :] if self._data.strip() else newline.encode()
        return f"[{newline}  ".encode() + joined + f"{newline}]".encode() + end

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        at = self._data.index(b"[") + 1
        spans = []
        for source in self.sources:
            found = _BETWEEN.match(self._data, at)
            assert found is not None
            spans.append((found.end(), found.end() + len(source)))
            at = spans[-1][1]
        return spans

    @cached_property
    def _last_spans(self) -> list[tuple[int, int]]:
        end = self._data.rindex(b"]")
        spans: list[tuple[int, int]] = []
        for source in self.sources[:-3:-1]:
            while self._data[end - 1] in b" \t\r\n,":
                end -= 1
            spans.insert(0, (end - len(source), end))
            end -= len(source)
        return spans

    @cached_property
    def _layout(self) -> JsonLayout:
        if not self.sources:
            return JsonLayout(newline="\r\n" if b"\r\n" in self._data else "\n")
        sample = self.sources[0]
        first = sample.find(b'":')
        spaced = first < 0 or sample[first + 2 : first + 3].isspace()
        indentation = self._indentation
        unit = indentation or ""
        if b"\n" in sample and not unit:  # the elements start at the margin
            found = re.search(rb"\n([ \t]+)", sample)
            unit = found[1].decode() if found else "  "
        return JsonLayout(
            unit=unit,
            ascii_only=self._data.isascii() and b"\\u" in self._data,
            newline="\r\n" if b"\r\n" in self._data[:_SAMPLE] else "\n",
            colon=": " if spaced else ":",
            comma=", " if spaced else ",",
        )

    @cached_property
    def _indentation(self) -> str | None:
        """The indentation of the elements; None if the first one is not at the start of a line and
        the file not on several lines.
        """
        if not self.sources:
            return "  "
        start = self._data.index(self.sources[0], self._data.index(b"[") + 1)
        found = _INDENTATION.search(self._data[:start])
        if found:
            return found[1].decode()
        return "" if b"\n" in self.sources[0] else None


def decoded(source: bytes) -> Any:
    """Returns the value of a JSON text that `CslJsonText` found.

    Lone surrogates and infinite numbers, which could be given to no other program, become
    replacement characters and texts.
    """
    try:
        return _ANY.decode(source)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        found = json.loads(source, parse_float=_finite)
        return json.loads(_LONE.sub("\ufffd", json.dumps(found, ensure_ascii=False)))


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number


def _encoded(text: str) -> bytes:
    return text.encode()


def _elements(data: bytes) -> list[bytes]:
    if not data.strip():
        return []
    try:
        elements = [bytes(raw) for raw in _RAWS.decode(data)]
        data.decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _slow_elements(data)
    return elements


def _slow_elements(data: bytes) -> list[bytes]:
    """Returns the elements of a list that msgspec refuses, such as one with lone surrogates.

    Raises:
        LibraryError: says what is wrong with the file, and where.
    """
    fault = _fault(data)
    if fault is not None:
        raise fault
    text = data.decode()
    decoder = json.JSONDecoder(strict=True)
    elements = []
    at = text.index("[") + 1
    while text[(at := _after_separator(text, at))] != "]":
        _, end = decoder.raw_decode(text, at)
        elements.append(text[at:end].encode())
        at = end
    return elements


def _after_separator(text: str, at: int) -> int:
    while text[at] in " \t\r\n,":
        at += 1
    return at


def _fault(data: bytes) -> LibraryError | None:
    """Returns what is wrong with a file, and where; None if the standard library reads it."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _read_error("it is in UTF-16", "save it in UTF-8")
    try:
        found = json.loads(data.decode(), parse_constant=_refuse)
    except json.JSONDecodeError as fault:
        return _read_error(
            f"line {fault.lineno}, column {fault.colno}: {fault.msg}",
            position={"line": fault.lineno, "column": fault.colno},
        )
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        start = data.rfind(b"\n", 0, fault.start) + 1
        column = len(data[start : fault.start].decode("utf-8", "replace")) + 1
        return _read_error(
            f"line {line}, column {column}: not UTF-8", "save it in UTF-8",
            position={"line": line, "column": column},
        )  # fmt: skip
    except RecursionError:
        return _read_error("its values are nested too deeply")
    except _NotJson as fault:
        return _constant_fault(data, str(fault))
    if not isinstance(found, list):
        kind = "an object" if isinstance(found, dict) else "a single value"
        return _read_error(f"expected a list of items but found {kind}", position=_start(data))
    return None


class _NotJson(ValueError):
    """A constant that Python writes and JSON does not have."""


def _refuse(constant: str) -> Any:
    raise _NotJson(constant)


def _constant_fault(data: bytes, constant: str) -> LibraryError:
    """Returns the fault of the first NaN or Infinity outside of strings."""
    text = data.decode()
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)', text):
        if found[1]:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            return _read_error(
                f"line {line}, column {column}: {found[1]} is not JSON",
                position={"line": line, "column": column},
            )
    return _read_error(f"{constant} is not JSON")


def _start(data: bytes) -> dict[str, int]:
    blanks = data[: len(data) - len(data.lstrip())]
    return {
        "line": blanks.count(b"\n") + 1,
        "column": len(blanks) - blanks.rfind(b"\n"),
    }


def _read_error(
    problem: str, advice: str = "", *, position: Mapping[str, int] | None = None
) -> LibraryError:
    return LibraryError("READ_ERROR", problem, advice=advice, position=position)
