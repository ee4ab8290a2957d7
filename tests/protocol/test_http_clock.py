"""Tests a server whose wall clock is stepped by an hour, back or forward, while it serves."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from support.http_load import SECRET, token
from support.http_server import HttpServer, answer_of, in_session
from support.issuers import bearer
from support.operated_server import HOST, OperatedServer, an_upstream
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.long("servers")

HOUR = 3600.0


class SteppedServer(OperatedServer):
    """A server with identity and the plugin `probe`; `step` sets its clock."""

    def __init__(
        self, folder: Path, upstream: Upstream, cache: Path, *, calls_per_day: int = 1000
    ) -> None:
        self.clock = folder / "clock"
        self.step(0)
        super().__init__(
            folder,
            upstream,
            cache,
            program=["stepped_server.py", str(self.clock)],
            env={"MCP_AUTH_SECRET_KEY": SECRET},
            identity={"calls_per_day": calls_per_day},
        )

    def step(self, seconds: float) -> None:
        """Sets the clock, relative to the machine's."""
        new = self.clock.with_suffix(".new")
        new.write_text(str(seconds), "utf-8")
        new.replace(self.clock)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with an_upstream() as upstream:
        upstream.on("*", Reply(body=b"{}"))
        yield upstream


@pytest.fixture
def server(tmp_path: Path, upstream: Upstream, code_folder: Path) -> Iterator[SteppedServer]:
    with SteppedServer(tmp_path, upstream, code_folder) as server:
        server.ready()
        yield server


def opened(server: HttpServer, headers: dict[str, str]) -> str:
    """Opens a session of a principal; returns its id."""
    server.http.headers.update(headers)
    return server.initialize()


def call(server: OperatedServer, path: str, **more: Any) -> float:
    """Calls the plugin's tool; returns the seconds that it took."""
    start = time.monotonic()
    answer = answer_of(server.call("probe_open", {"url": f"https://{HOST}/v1/{path}"}, **more))
    assert "error" not in answer, answer
    assert not answer["result"].get("isError"), answer
    return time.monotonic() - start


@pytest.mark.parametrize("seconds", [-HOUR, HOUR], ids=["back", "forward"])
def test_a_stepped_clock_breaks_no_session_pace_cache_or_budget(
    server: SteppedServer, upstream: Upstream, seconds: float
) -> None:
    """The plugin's pace is one request in 0.1 s, and its responses are cached for 60 s."""
    session = opened(server, bearer(token("alice", server.url)))
    for number in range(4):
        call(server, f"before?{number}", session=session)
    server.step(seconds)
    # A wait that was computed from the clock would be an hour; calls have half a minute.
    for number in range(4):
        assert call(server, f"stepped?{number}", session=session) < 10
    assert call(server, "before?0", session=session) < 10
    seen = len(upstream.seen)
    call(server, "stepped?0", session=session)
    assert len(upstream.seen) == seen, "what was cached after the step is a cache hit"
    times = [one.at for one in upstream.seen]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert sum(gap < 0.08 for gap in gaps) <= 1, gaps  # one slot, at the moment of the step
    server.step(0)
    assert call(server, "corrected", session=session) < 10
    assert call(server, "corrected?again", session=session) < 10
    ended = server.http.delete(server.url, headers=in_session(session))
    assert ended.status_code == 200
    assert not [line for line in server.lines if "ERROR" in line or "Traceback" in line]


def test_a_clock_set_back_does_not_make_an_expired_token_valid(server: SteppedServer) -> None:
    claims = {"sub": "alice", "aud": server.url, "exp": int(time.time()) - 60}
    expired = bearer(jwt.encode(claims, SECRET, "HS256"))
    assert server.call("probe_open", {"url": ""}, headers=expired).status_code == 401
    server.step(-HOUR)
    assert server.call("probe_open", {"url": ""}, headers=expired).status_code == 401
    server.wait_for("the clock was set back by 3600 s")


def test_the_budget_of_a_day_is_not_given_again_by_a_clock_that_is_set_back(
    tmp_path: Path, upstream: Upstream, code_folder: Path
) -> None:
    with SteppedServer(tmp_path, upstream, code_folder, calls_per_day=3) as server:
        server.ready()
        headers = bearer(token("alice", server.url))
        server.http.headers.update(headers)
        for number in range(3):
            call(server, f"day?{number}")
        server.step(-24 * HOUR)
        answer = answer_of(server.call("probe_open", {"url": f"https://{HOST}/v1/more"}))
        assert answer["result"]["isError"]
        assert "calls of this day" in str(answer)
