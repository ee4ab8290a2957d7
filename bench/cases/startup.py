"""Measures the time from starting a server to its first responses."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from bench.measure import Bar, Figure, Row
from bench.pipes import PipeClient, result_of
from bench.workbench import Workbench


def to_first_answers(bench: Workbench) -> Sequence[Row]:
    """Measures Carrel with the default plugins against the SDK's server with two built-in tools."""
    servers = (bench.serve, bench.serve_ten, bench.serve_bare_sdk)
    for start in servers:
        _first_answers(start)
    times: list[list[tuple[float, float]]] = [[] for _ in servers]
    for _ in range(bench.rounds(15, 1)):
        for start, own in zip(servers, times, strict=True):
            own.append(_first_answers(start))
    (ours, ours_listed), (ten, _), (bare, bare_listed) = (
        tuple(Figure(column) for column in zip(*own, strict=True)) for own in times
    )
    return [
        Row(
            "start",
            "spawn to the answer of initialize, the default plugins : the bare SDK server",
            ours, bare, Bar(1.1),
        ),
        Row(
            "start-ten",
            "spawn to the answer of initialize, ten plugins : the same",
            ten, bare,
        ),
        Row(
            "start-list",
            "spawn to the answer of tools/list, default plugins : the bare SDK server, two tools",
            ours_listed, bare_listed,
        ),
    ]  # fmt: skip


def _first_answers(start: Callable[[], PipeClient]) -> tuple[float, float]:
    """Returns seconds from the spawn to the responses to `initialize` and `tools/list`."""
    with start() as server:
        server.open()
        opened = time.perf_counter() - server.started
        tools = result_of(server.ask(server.request("tools/list")))["tools"]
        listed = time.perf_counter() - server.started
        assert tools
    return opened, listed
