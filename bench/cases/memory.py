"""Measures the growth of a server's memory over many calls."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from bench.measure import Bar, Figure, Row, resident_bytes
from bench.pipes import PipeClient, result_of
from bench.workbench import QUERY, Workbench

#: Calls in flight, so that several workers are used from the start.
_TOGETHER = 8
_EARLY = 100


def growth(bench: Workbench) -> Sequence[Row]:
    """Measures the resident memory of a server after many calls, against after 100."""
    many = 300 if bench.quick else 10_000
    bench.cached_answer  # noqa: B018 - fills the cache
    with bench.serve(keeps_results=False).open() as server:
        process = psutil.Process(server.process.pid)
        _call(server, _EARLY)
        early = resident_bytes(process)
        _call(server, many - _EARLY)
        late = resident_bytes(process)
    return [
        Row(
            "memory",
            f"resident memory of the server after {many:,} arxiv_query : after {_EARLY}",
            Figure((float(late),), "B"),
            Figure((float(early),), "B"),
            Bar(1.05),
        )
    ]


def _call(server: PipeClient, calls: int) -> None:
    for start in range(0, calls, _TOGETHER):
        lines = [
            server.tool_call("arxiv_query", QUERY) for _ in range(min(_TOGETHER, calls - start))
        ]
        for answer in server.ask_all(lines):
            result_of(answer)
