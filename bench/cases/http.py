"""Measures tool calls over HTTP, against the SDK's server with a no-op tool."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from contextlib import ExitStack

from bench.http_client import HttpConnection, HttpServer, result_of, times_at_once
from bench.measure import Bar, Figure, Row
from bench.workbench import Workbench

#: Consecutive calls of one side with one client.
_BLOCK = 100
#: Clients at once, and calls of each in a block.
_CLIENTS, _EACH = 32, 10

_ERAS = {"session": True, "stateless": False}


class _Side:
    """The measurements of one server in one era."""

    def __init__(self, server: HttpServer, tool: str, *, in_session: bool) -> None:
        self._tool = tool
        self._connections = [server.connect(in_session=in_session) for _ in range(_CLIENTS)]
        self._ids = 0
        self.median: list[float] = []
        self.slow: list[float] = []
        self.each: list[float] = []
        self.each_slow: list[float] = []

    def _requests(self, connection: HttpConnection, count: int) -> list[bytes]:
        self._ids += count
        numbers = range(self._ids - count, self._ids)
        return [connection.tool_call(self._tool, {"n": number}, number) for number in numbers]

    def check(self) -> None:
        """Sees that a call is answered: with its arguments, or by the no-op tool."""
        [request] = self._requests(self._connections[0], 1)
        text = result_of(self._connections[0].ask(request))["content"][0]["text"]
        assert text == "ok" or json.loads(text) == {"n": self._ids - 1}

    def measure(self) -> None:
        """Measures one block with one client, and one with all."""
        connection = self._connections[0]
        times = [connection.time_of(request) for request in self._requests(connection, _BLOCK)]
        self.median.append(statistics.median(times))
        self.slow.append(_p99(times))
        requests = [self._requests(connection, _EACH) for connection in self._connections]
        seconds, times = times_at_once(self._connections, requests)
        self.each.append(seconds / len(times))
        self.each_slow.append(_p99(times))

    def forget(self) -> None:
        """Drops the measurements of the warm-up."""
        for values in (self.median, self.slow, self.each, self.each_slow):
            values.clear()

    def close(self) -> None:
        """Closes the connections."""
        for connection in self._connections:
            connection.close()


def _p99(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


def no_op_calls(bench: Workbench) -> Sequence[Row]:
    """Measures a no-op call in both eras, with one client and with 32."""
    rows: list[Row] = []
    with bench.serve_http() as ours, bench.serve_bare_sdk_http() as bare, ExitStack() as stack:
        for era, in_session in _ERAS.items():
            sides = (
                _Side(ours, "noop_echo", in_session=in_session),
                _Side(bare, "noop", in_session=in_session),
            )
            for side in sides:
                stack.callback(side.close)
                side.check()
            for turn in range(bench.rounds(25, 1) + 1):
                for side in sides:
                    side.measure()
                    if turn == 0:
                        side.forget()
            rows += _rows(era, *sides)
    return rows


def _rows(era: str, ours: _Side, bare: _Side) -> list[Row]:
    def figure(values: Sequence[float]) -> Figure:
        return Figure(tuple(values))

    what = "in a session (2025-11-25)" if era == "session" else "without one (2026-07-28)"
    against = "a no-op tool of the bare SDK server"
    return [
        Row(
            f"http-call-{era}",
            f"a no-op plugin tool over HTTP {what}, one client, median : {against}",
            figure(ours.median), figure(bare.median), Bar(1.2),
        ),
        Row(
            f"http-call-{era}-p99",
            "the same, 99th percentile : the same",
            figure(ours.slow), figure(bare.slow), Bar(1.2),
        ),
        Row(
            f"http-call-{era}-32",
            f"the same, {_CLIENTS} clients at once, time per call : the same",
            figure(ours.each), figure(bare.each), Bar(1.2),
        ),
        Row(
            f"http-call-{era}-32-p99",
            "the same, 99th percentile : the same",
            figure(ours.each_slow), figure(bare.each_slow), Bar(1.2),
        ),
    ]  # fmt: skip
