"""Writes UTF-8 to stdout regardless of the locale, and flushes it."""

from __future__ import annotations

import sys


def stdout_is_terminal() -> bool:
    """Returns whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_text(text: str) -> None:
    """Writes `text` to stdout as UTF-8, and flushes.

    Raises:
        BrokenPipeError: the reader closed the pipe.
        OSError: stdout is closed, or its disk is full.
    """
    write_bytes(text.encode("utf-8", "surrogatepass"))


def write_bytes(*pieces: bytes | memoryview) -> None:
    """Writes pieces of UTF-8 to stdout one after another, and flushes. Raises as `write_text`."""
    if sys.stdout is None:
        raise OSError(9, "stdout is closed")
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # replaced by an object that accepts only text
        sys.stdout.write(b"".join(pieces).decode("utf-8", "surrogatepass"))
    else:
        sys.stdout.flush()
        for piece in pieces:
            buffer.write(piece)
    sys.stdout.flush()


def write_json_text(*pieces: str | bytes | memoryview) -> None:
    """Writes one JSON text and a line break, with hidden characters escaped."""
    from carrel.text.printable import escaped_json

    written: list[bytes | memoryview] = []
    for piece in pieces:
        text = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
        written.append(escaped_json(text))
    write_bytes(*written, b"\n")


def write_json(value: object) -> None:
    """Writes a value as one line of JSON."""
    import json

    write_json_text(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
