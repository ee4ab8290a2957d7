"""Validates UTF-8 bytes without decoding them to a string.

A document in UTF-8 is passed to a guest as bytes; decoding 10 MB would take 30 MB of memory for
nothing.
"""

from __future__ import annotations

import codecs
from typing import Self

#: At least the 4 bytes of the longest character, so that every piece has a whole one.
_PIECE = 2**12


class Utf8:
    """Bytes that were validated as UTF-8.

    Args:
        data: the text, without byte order mark.

    Raises:
        UnicodeDecodeError: it is not UTF-8; `start` is an offset into `data`.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        if not data.isascii():
            _check(data)
        self.data = data

    @classmethod
    def of(cls, text: str) -> Self:
        """Returns a string's UTF-8, which needs no validation.

        Raises:
            UnicodeEncodeError: the string has a lone surrogate.
        """
        instance = cls.__new__(cls)
        instance.data = text.encode()
        return instance

    def __len__(self) -> int:
        return len(self.data)


def _check(data: bytes) -> None:
    """Decodes in pieces, so that their memory stays in the CPU cache."""
    view = memoryview(data)
    start = 0
    while start < len(data):
        end = start + _PIECE
        try:
            # Leaves a character that is cut at the end of the piece to the next one.
            _, read = codecs.utf_8_decode(view[start:end], "strict", end >= len(data))
        except UnicodeDecodeError as fault:
            raise UnicodeDecodeError(
                "utf-8", data, start + fault.start, start + fault.end, fault.reason
            ) from None
        start += read
