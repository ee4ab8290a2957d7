"""Fetches many papers: resolved together, downloaded a few at a time, each with its own outcome."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from carrel.errors import Cancelled, CarrelError, InternalError
from carrel.exchange import Call
from carrel.papers.envelope import failure
from carrel.papers.errors import PaperError
from carrel.papers.file_news import ENDED, file_message
from carrel.papers.resolve.run import Resolution, stored_under
from carrel.tools.naming import HOST

from .candidates import Preference
from .host_lists import AT_ONCE
from .run import WALL_SECONDS, PaperFetcher

#: References of one batch.
MAX_REFS: Final = 100
#: Seconds for a batch, unless the operator's `limits.wall_seconds` says otherwise.
BATCH_WALL_SECONDS: Final = 1800.0

Row = dict[str, Any]


def fetch_batch(
    fetcher: PaperFetcher,
    references: Sequence[str],
    call: Call,
    *,
    prefer: Preference = "open",
) -> list[Row]:
    """Fetches papers and returns one row for each reference, in order.

    A row is the envelope of `paper_fetch`, and its `error.denial_context` is always there. One
    paper is fetched once, however many references name it; the others get the same outcome. What
    has not been fetched by the deadline is `FETCH_TIMEOUT`.

    Args:
        fetcher: fetches each paper.
        references: at most `MAX_REFS`.
        call: the deadline and the cancellation of the whole. Its progress counts the references
            that have ended; the messages report the steps of each, see `carrel.papers.file_news`.
        prefer: which kind of copy is tried first.

    Raises:
        Cancelled: the call was cancelled; papers that were stored by then stay.
    """
    return _Batch(fetcher, references, call, prefer).run()


class _Batch:
    def __init__(
        self,
        fetcher: PaperFetcher,
        references: Sequence[str],
        call: Call,
        prefer: Preference,
    ) -> None:
        self._fetcher = fetcher
        self._references = list(references)
        self._call = call
        self._prefer: Preference = prefer
        self._rows: dict[int, Row] = {}
        self._ended = 0
        self._lock = threading.Lock()

    def run(self) -> list[Row]:
        call = self._call
        call.progress(0, len(self._references), "resolving")
        # What is stored is found without a network, so no source needs to answer for it.
        stored = {
            reference
            for reference in self._references
            if self._fetcher.stored(reference) is not None
        }
        unknown = [reference for reference in self._references if reference not in stored]
        resolved = self._fetcher.resolver.resolve_known(unknown, call)
        first, same = _grouped(self._references, resolved)
        with ThreadPoolExecutor(AT_ONCE, "carrel-batch") as pool:
            named = [(number, self._references[number]) for number in first]
            running = [
                pool.submit(self._fetch, number, reference, resolved.get(reference))
                for number, reference in named
            ]
        for future in running:
            future.result()
        if call.cancelled:
            raise Cancelled(plugin=HOST, tool=call.tool)
        return [
            {**self._rows[same[number]], "ref": reference}
            for number, reference in enumerate(self._references)
        ]

    def _fetch(self, number: int, reference: str, resolved: Resolution | PaperError | None) -> None:
        try:
            row = self._row(reference, resolved)
        except Exception as fault:  # noqa: BLE001 - one paper must not end the batch
            row = failure(fault if isinstance(fault, CarrelError) else InternalError(), reference)
        if not row["ok"]:
            row["error"].setdefault("denial_context", None)
        with self._lock:
            self._rows[number] = row
            self._ended += 1
            ended = self._ended
        words = ENDED if row["ok"] else f"{ENDED}: {row['error']['code']}"
        self._call.progress(ended, len(self._references), file_message(reference, words))

    def _row(self, reference: str, resolved: Resolution | PaperError | None) -> Row:
        outer = self._call
        if outer.cancelled or not outer.remaining:
            return failure(
                PaperError("FETCH_TIMEOUT", "the time of the batch was up before this paper"),
                reference,
            )
        if isinstance(resolved, PaperError):
            return failure(resolved, reference)

        def report_progress(done: float, total: float | None, words: str) -> None:
            outer.explain(file_message(reference, words, done, total))

        with outer.part(WALL_SECONDS, report_progress) as part:
            found = self._fetcher.fetch(reference, part, prefer=self._prefer, resolved=resolved)
        return {"ok": True, **found.to_json()}


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Returns how many papers were fetched, and how many ended with each code."""
    codes: dict[str, int] = {}
    for row in rows:
        if not row["ok"]:
            code = row["error"]["code"]
            codes[code] = codes.get(code, 0) + 1
    failed = sum(codes.values())
    return {
        "total": len(rows),
        "ok": len(rows) - failed,
        "failed": failed,
        "codes": dict(sorted(codes.items())),
    }


def _grouped(
    references: Sequence[str], resolved: Mapping[str, Resolution | PaperError]
) -> tuple[list[int], dict[int, int]]:
    """Returns the numbers of the first reference to each paper, and number → that first."""
    first: dict[object, int] = {}
    same: dict[int, int] = {}
    for number, reference in enumerate(references):
        found = resolved.get(reference)
        name: object = reference.strip()
        if isinstance(found, Resolution):
            name = stored_under(found)
        same[number] = first.setdefault(name, number)
    return list(first.values()), same
