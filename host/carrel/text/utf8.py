"""Validates UTF-8 bytes without decoding them to a string.

A document in UTF-8 is passed to a guest as bytes; decoding 10 MB would take 30 MB of memory for
nothing.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from functools import cache
from typing import Self

_PIECE = 2**16
#: Fewer bytes are simply decoded.
_LARGE = 2**14


class Utf8:
    """Bytes that were validated as UTF-8.

    Args:
        data: the text, without byte order mark.

    Raises:
        UnicodeDecodeError: it is not UTF-8; `start` is an offset into `data`.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        if not data.isascii() and not _is_surely_utf8(data):
            _check(data)
        self.data = data

    @classmethod
    def of(cls, text: str) -> Self:
        """Returns a string's UTF-8, which needs no validation.

        Raises:
            UnicodeEncodeError: the string has a lone surrogate.
        """
        known = cls.__new__(cls)
        known.data = text.encode()
        return known

    def __len__(self) -> int:
        return len(self.data)


def _is_surely_utf8(data: bytes) -> bool:
    """Returns whether a fast check confirms UTF-8; false does not mean that it is invalid."""
    # Importing pydantic only for this would take longer than it saves.
    if len(data) < _LARGE or "pydantic_core" not in sys.modules:
        return False
    check = _quick_check()
    return check is not None and check(data)


@cache
def _quick_check() -> Callable[[bytes], bool] | None:
    """Pydantic's check of a string from bytes, a tenth of what decoding costs Python.

    It is Rust's own. A string must be empty here by a pattern, so that pydantic stops at its first
    character, which it looks at next, and makes none (a length would have it count them all).
    Should another version look at the pattern first, there is no quick check: what is not UTF-8
    must never pass, because wasmtime's library ends the process.
    """
    from pydantic_core import SchemaValidator, ValidationError, core_schema

    validator = SchemaValidator(core_schema.str_schema(pattern=r"\A\z"))

    def is_utf8(data: bytes) -> bool:
        try:
            validator.validate_python(data)
        except ValidationError as refusal:
            (error,) = refusal.errors(include_url=False, include_context=False, include_input=False)
            return error["type"] == "string_pattern_mismatch"
        return False

    right, wrong = "é".encode() * _LARGE, b"\xc3"
    tells_them_apart = is_utf8(right) and not any(
        is_utf8(text) for text in (right + wrong, wrong + right, right + wrong + right)
    )
    return is_utf8 if tells_them_apart else None


def _check(data: bytes) -> None:
    """Decodes in pieces, so that memory is reused from piece to piece."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _PIECE):
        try:
            decoder.decode(view[start : start + _PIECE], final=start + _PIECE >= len(data))
        except UnicodeDecodeError as fault:
            # The offset counts from the incomplete character at the end of the previous piece.
            kept = len(fault.object) - len(view[start : start + _PIECE])
            raise UnicodeDecodeError(
                "utf-8", data, start - kept + fault.start, start - kept + fault.end, fault.reason
            ) from None
