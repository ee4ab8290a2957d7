"""Validates UTF-8 bytes without decoding them to a string.

A document in UTF-8 is passed to a guest as bytes; decoding 10 MB would take 30 MB of memory for
nothing.
"""

from __future__ import annotations

import codecs
from typing import Self

_PIECE = 2**16


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
        known = cls.__new__(cls)
        known.data = text.encode()
        return known

    def __len__(self) -> int:
        return len(self.data)


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
