"""Measures tool calls over stdio, against the SDK's server with a no-op tool."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench.measure import Bar, Row, alternate, pooled
from bench.pipes import PipeClient, result_of
from bench.workbench import ENTRIES, QUERY, Workbench

#: Consecutive calls of one side: enough to fill the CPU caches with its data.
_BLOCK = 25


def one_at_a_time(bench: Workbench) -> Sequence[Row]:
    """Measures the median time of one call, with one call in flight."""
    expected = bench.cached_answer
    recording = bench.recording
    with (
        bench.serve().open() as ours,
        bench.serve(keeps_results=False).open() as forgetful,
        bench.serve_replayed(recording).open() as replayed,
        bench.serve_bare_sdk().open() as bare,
    ):
        for server in (ours, forgetful, replayed):
            answer = result_of(server.ask(server.tool_call("arxiv_query", QUERY)))
            assert answer["structuredContent"] == expected, "not the answer that was kept"
        unverified = {**QUERY, "verify_source_url": False}
        sides: tuple[tuple[PipeClient, str, Mapping[str, Any]], ...] = (
            (ours, "arxiv_query", QUERY),
            (ours, "noop_echo", {}),
            (forgetful, "arxiv_query", QUERY),
            (forgetful, "arxiv_query", unverified),
            (replayed, "arxiv_query", QUERY),
            (bare, "noop", {}),
        )
        times: list[list[list[float]]] = [[] for _ in sides]
        for turn in range(bench.rounds(60, 2) + 1):
            for (server, tool, arguments), own in zip(sides, times, strict=True):
                lines = [server.tool_call(tool, arguments) for _ in range(_BLOCK)]
                block = [server.time_of(line) for line in lines]
                if turn > 0:  # the first round warms up
                    own.append(block)
        query, echo, run, plain, replay, floor = (pooled(own) for own in times)
    against = "a no-op tool of the bare SDK server"
    return [
        Row(
            "call-query",
            f"arxiv_query of {ENTRIES} entries and {ENTRIES} HEADs from the cache : {against}",
            query, floor, Bar(1.0),
        ),
        Row(
            "call-noop",
            "a no-op plugin tool, instance and validation included : the same",
            echo, floor, Bar(0.7),
        ),
        Row(
            "call-query-run",
            "arxiv_query as above, the plugin run each time : the same",
            run, floor,
        ),
        Row(
            "call-query-plain",
            "arxiv_query with verify_source_url false, likewise : the same",
            plain, floor,
        ),
        Row(
            "call-query-replayed",
            "arxiv_query from a recording (--replay) : the same",
            replay, floor,
        ),
    ]  # fmt: skip


def all_at_once(bench: Workbench) -> Sequence[Row]:
    """Measures calls with the maximum number in flight, and checks each response."""
    calls = 200 if bench.quick else 1000
    bench.cached_answer  # noqa: B018 - fills the cache
    with bench.serve(keeps_results=False).open() as ours, bench.serve_bare_sdk().open() as bare:
        query = [("arxiv_query", QUERY)] * min(calls, 200)
        for server, tool in ((ours, "noop_echo"), (bare, "echo")):
            _echoed(server, tool, 50)
        _answered(ours, query[:20])
        together, floor = alternate(
            lambda: _echoed(ours, "noop_echo", calls),
            lambda: _echoed(bare, "echo", calls),
            rounds=bench.rounds(9, 1),
        )
        queries, shared = alternate(
            lambda: _answered(ours, query) / len(query),
            lambda: _echoed(bare, "echo", len(query)) / len(query),
            rounds=bench.rounds(9, 1),
        )
    return [
        Row(
            "in-flight",
            f"{calls:,} calls of a plugin tool in flight on one connection : bare SDK server",
            together, floor, Bar(0.7),
        ),
        Row(
            "in-flight-query",
            f"{len(query)} arxiv_query in flight, the plugin run each time, per call : the same",
            queries, shared,
        ),
    ]  # fmt: skip


def _echoed(server: PipeClient, tool: str, calls: int) -> float:
    """Returns seconds for so many concurrent calls. Fails if one has no response, or another's."""
    lines = [server.tool_call(tool, {"n": number}) for number in range(calls)]
    first = json.loads(lines[0])["id"]
    start = time.perf_counter()
    answers = server.ask_all(lines)
    seconds = time.perf_counter() - start
    seen = set()
    for answer in answers:
        content = result_of(answer)["content"]
        number = json.loads(content[0]["text"])["n"]
        assert json.loads(answer)["id"] == first + number, "an answer of another call"
        seen.add(number)
    assert len(seen) == calls, "answers are lost"
    return seconds


def _answered(server: PipeClient, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> float:
    """Returns seconds for these calls, sent at once; all must succeed."""
    lines = [server.tool_call(tool, arguments) for tool, arguments in calls]
    start = time.perf_counter()
    answers = server.ask_all(lines)
    seconds = time.perf_counter() - start
    for answer in answers:
        result_of(answer)
    assert len({json.loads(answer)["id"] for answer in answers}) == len(lines)
    return seconds
