"""Reads standard input in place of words of the command line."""

from __future__ import annotations

import sys

from carrel.errors import ArgumentError

_MOST = 4 * 2**20  # bytes; the server's limit of one message


def read_stdin() -> str:
    """Reads all of stdin.

    Raises:
        ArgumentError: it is closed, too large, or not UTF-8.
    """
    if sys.stdin is None:
        raise ArgumentError(["stdin is closed"])
    data = sys.stdin.buffer.read(_MOST + 1)
    if len(data) > _MOST:
        raise ArgumentError([f"stdin: larger than {_MOST:,} bytes"])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError([f"stdin: not UTF-8 at byte {error.start}"]) from None
