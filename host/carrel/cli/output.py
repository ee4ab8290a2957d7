"""What goes to stdout: bytes of UTF-8 whatever the locale, flushed before the command ends."""

from __future__ import annotations

import sys


def stdout_is_terminal() -> bool:
    """Whether a person reads stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_text(text: str) -> None:
    """Writes `text` to stdout as UTF-8, and flushes.

    Raises:
        BrokenPipeError: the reader went away.
        OSError: stdout is closed, or its disk is full.
    """
    write_bytes(text.encode("utf-8", "surrogatepass"))


def write_bytes(*pieces: bytes | memoryview) -> None:
    """Writes pieces of UTF-8 to stdout one after another, and flushes. Raises as `write_text`."""
    if sys.stdout is None:
        raise OSError(9, "stdout is closed")
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # replaced by an object that takes text only
        sys.stdout.write(b"".join(pieces).decode("utf-8", "surrogatepass"))
    else:
        sys.stdout.flush()
        for piece in pieces:
            buffer.write(piece)
    sys.stdout.flush()


def write_json_text(text: str) -> None:
    """Writes one JSON text and a line break, unchanged in a pipe.

    On a terminal, characters that could steer it or hide text become escapes; in JSON they can
    stand inside strings only.
    """
    write_text((escape_controls(text) if stdout_is_terminal() else text) + "\n")


def escape_controls(text: str) -> str:
    """A JSON text with escapes for what could steer a terminal or hide text: the same value."""
    import re

    from carrel.printable import printable

    return re.sub(
        r"[^\x20-\x7e\n\t\r]",
        lambda found: found[0] if printable(found[0]) == found[0] else _escape(found[0]),
        text,
    )


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def write_json(value: object) -> None:
    """Writes a value as one line of JSON."""
    import json

    write_json_text(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
