"""Says how far a log went, in a file beside it, so that a removed end is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from carrel.files.atomic_write import write_atomically


def head_of(path: Path) -> Path:
    """Returns the file that says how far a log went."""
    return path.with_name(f"{path.name}.head")


def write_head(path: Path, this_hash: str) -> None:
    """Says that a row with this hash was appended to the log at `path`."""
    text = json.dumps({"this_hash": this_hash})
    # Not flushed: after a power cut it may be an older one, which is still in the log.
    write_atomically(head_of(path), text.encode(), flush=False)


def read_head(path: Path) -> str | None:
    """Returns the hash of the row that the log went to at least; None if it was never recorded.

    Raises:
        ValueError: the file is damaged.
        OSError: it cannot be read.
    """
    try:
        head: Any = json.loads(head_of(path).read_bytes())
    except FileNotFoundError:
        return None
    last = head.get("this_hash") if isinstance(head, dict) else None
    if isinstance(last, str):
        return last
    raise ValueError("expected an object with this_hash")
