"""Results that need not be computed again.

A component that imports nothing but the contract has no clock and no chance in it: its result
depends on its bytes, the tool, the arguments, its settings, and the answers to its requests. A call
whose every request was answered from the cache gives the same result again while those answers
stand as they stood and are fresh. So such a result is kept, and given again without an instance.

Nothing else is kept: not a call without requests, which may be quick or slow but is asked to run,
and none that had any other outcome than a kept answer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.exchange import AnswerKeeper, Kept

#: What an entry costs beyond its texts, roughly.
_OVERHEAD = 1000

#: A tool and its arguments as the guest is given them.
Question = tuple[str, str]


@dataclass(slots=True)
class _Entry:
    text: bytes
    kept: Sequence[Kept]
    mark: object


class ResultCache:
    """The results of one plugin under one policy. Thread-safe; the least used go first.

    Args:
        keeper: knows whether kept answers still stand.
        max_bytes: of questions and results.
    """

    def __init__(self, keeper: AnswerKeeper, max_bytes: int) -> None:
        self._keeper = keeper
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[Question, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, question: Question) -> bytes | None:
        """The result, if every answer it was made of still stands."""
        with self._lock:
            entry = self._entries.get(question)
            if entry is None:
                return None
            self._entries.move_to_end(question)
        mark = self._keeper.still_kept(entry.kept, entry.mark)
        if mark is None:
            self._forget(question, entry)
            return None
        entry.mark = mark
        return entry.text

    def keep(self, question: Question, text: bytes, kept: Sequence[Kept]) -> None:
        """Keeps a result that was checked and was made of these answers and of nothing else."""
        size = _size(question, text)
        mark = self._keeper.still_kept(kept, None)
        if mark is None:
            return
        with self._lock:
            if size > self._max_bytes or question in self._entries:
                return
            while self._bytes + size > self._max_bytes:
                oldest, entry = self._entries.popitem(last=False)
                self._bytes -= _size(oldest, entry.text)
            self._entries[question] = _Entry(text, tuple(kept), mark)
            self._bytes += size

    def _forget(self, question: Question, entry: _Entry) -> None:
        with self._lock:
            if self._entries.get(question) is entry:
                del self._entries[question]
                self._bytes -= _size(question, entry.text)


def _size(question: Question, text: bytes) -> int:
    return len(text) + len(question[1]) + _OVERHEAD
