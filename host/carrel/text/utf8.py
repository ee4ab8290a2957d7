"""Text that stays the UTF-8 it came as, checked, on its way to a guest.

A document in hand as bytes need not become a string in between: of 10 MB that is 30 MB of memory
which nobody reads.
"""

from __future__ import annotations

import codecs
from typing import Self

_PIECE = 2**16


class Utf8:
    """Bytes that are known to be UTF-8.

    Args:
        data: the text, without byte order mark.

    Raises:
        UnicodeDecodeError: it is not UTF-8; `start` counts from the beginning of `data`.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        if not data.isascii():
            _check(data)
        self.data = data

    @classmethod
    def of(cls, text: str) -> Self:
        """A string's UTF-8, which needs no check.

        Raises:
            UnicodeEncodeError: there is half of a character in it.
        """
        known = cls.__new__(cls)
        known.data = text.encode()
        return known

    def __len__(self) -> int:
        return len(self.data)


def _check(data: bytes) -> None:
    """Decodes piece by piece, each into memory that is at hand from the last one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _PIECE):
        try:
            decoder.decode(view[start : start + _PIECE], final=start + _PIECE >= len(data))
        except UnicodeDecodeError as fault:
            # It counts from the bytes of a character that the piece before ended in.
            kept = len(fault.object) - len(view[start : start + _PIECE])
            raise UnicodeDecodeError(
                "utf-8", data, start - kept + fault.start, start - kept + fault.end, fault.reason
            ) from None
