"""Words the progress of one file of several, and reads it back.

The progress of a tool is a number, a total and a text. A batch counts papers, and its texts state
the steps of each, so that a client shows them as they are and the command line draws a bar each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: The words of a paper that has ended; the code of its failure may follow.
ENDED: Final = "ended"
_BETWEEN: Final = " · "
_SIZE = re.compile(r"(\d+\.\d)(?: of (\d+\.\d))? MB")


@dataclass(frozen=True, slots=True)
class FileNews:
    """One step of one paper.

    Attributes:
        reference: as it was given.
        words: what is being done.
        done: megabytes so far.
        total: megabytes in all; None when the server does not say.
    """

    reference: str
    words: str
    done: float = 0.0
    total: float | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the paper was fetched, or failed."""
        return self.words.startswith(ENDED)


def file_message(reference: str, words: str, done: float = 0.0, total: float | None = None) -> str:
    """Returns the text of one step.

    Args:
        reference: as it was given.
        words: what is being done.
        done: bytes so far.
        total: bytes in all, if they are known.
    """
    parts = [reference]
    if done or total:
        size = f"{done / 1e6:.1f}"
        parts.append(f"{size} of {total / 1e6:.1f} MB" if total else f"{size} MB")
    return _BETWEEN.join([*parts, words])


def read_message(message: str) -> FileNews | None:
    """Returns the step that a text states; None for another text."""
    reference, between, rest = message.partition(_BETWEEN)
    if not between:
        return None
    first, between, words = rest.partition(_BETWEEN)
    size = _SIZE.fullmatch(first)
    if size is None or not between:
        return FileNews(reference, rest)
    return FileNews(reference, words, float(size[1]), float(size[2]) if size[2] else None)
