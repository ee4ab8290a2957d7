"""Tests real servers over HTTP that share a Redis server and one upstream, which counts."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
import trustme

from support.compiled_code import share_code
from support.fetch_harness import until
from support.http_server import HttpServer, answer_of
from support.person import Person
from support.redis_process import RedisProcess
from support.upstream import Reply, Seen, Upstream

pytestmark = pytest.mark.long("replicas")

TESTS = Path(__file__).parents[1]
SERVER = TESTS / "support" / "upstream_server.py"
NCBI = "eutils.ncbi.nlm.nih.gov"

RESULT = b"""<?xml version="1.0" encoding="UTF-8" ?>
<eSearchResult><Count>1</Count><RetMax>1</RetMax><RetStart>0</RetStart>
<IdList><Id>31452104</Id></IdList><TranslationSet/><QueryTranslation>x</QueryTranslation>
</eSearchResult>"""

MakeServers = Callable[..., list[HttpServer]]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(NCBI, authority=trustme.CA()) as upstream:
        upstream.on("*", search)
        yield upstream


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisProcess]:
    with RedisProcess(tmp_path / "redis", tls=True) as process:
        yield process


@pytest.fixture
def make_servers(
    upstream: Upstream, redis: RedisProcess, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[MakeServers]:  # fmt: skip
    """Starts two `carrel serve --http`, each with its own folders, as on two machines."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, str(TESTS)]))
    started: list[HttpServer] = []

    further: dict[str, Any] = {}

    ahead: list[float] = [0.0, 0.0]

    def start(number: int) -> HttpServer:
        folder = tmp_path / f"machine{number}"
        cache = folder / "cache"
        share_code(cache)
        settings = folder / "carrel.json"
        values = {
            "cache_dir": str(cache),
            "data_dir": str(folder),
            "store": {
                "url": redis.url,
                "ca_bundle": str(redis.authority),
                "timeout_seconds": 1.0,
            },
            "fetch": {"ca_bundle": str(upstream.write_authority(folder)), "retries": 0},
            "plugins": {"arxiv": {"enabled": False}},
            **further,
        }
        settings.write_text(json.dumps(values), "utf-8")
        clock = ["env", f"CARREL_TEST_AHEAD={ahead[number]}"] if ahead[number] else []
        command = [*clock, sys.executable, str(SERVER), str(upstream.port), "serve"]
        command += ["--config", str(settings), "--http", "127.0.0.1:0"]
        return HttpServer(command)

    def make(
        identity: dict[str, Any] | None = None, *, web: dict[str, Any] | None = None,
        second_ahead: float = 0.0, **env: str,
    ) -> list[HttpServer]:  # fmt: skip
        ahead[1] = second_ahead
        if identity is not None:
            further["identity"] = identity
        if web is not None:
            further["web"] = web
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        with ThreadPoolExecutor(2) as pool:
            started.extend(pool.map(start, range(2)))
        for server in started:
            root = server.url.rpartition("/")[0]
            until(lambda: server.http.get(f"{root}/readyz").status_code == 200, 60)  # noqa: B023
        return started

    yield make
    for server in started:
        server.__exit__()


def search(seen: Seen) -> Reply:
    assert "esearch" in seen.path, seen.path
    return Reply(headers=[("content-type", "text/xml")], body=RESULT)


def most_in(seconds: float, times: list[float]) -> int:
    """Counts the requests of the fullest window."""
    return max(sum(start <= at < start + seconds for at in times) for start in times)


class Load:
    """Calls `pubmed_search` at each server from several threads until it ends."""

    def __init__(self, servers: list[HttpServer], threads: int = 6) -> None:
        self.answers: list[dict[str, Any]] = []
        self._ended = threading.Event()
        self._pool = ThreadPoolExecutor(threads * len(servers))
        self._count = 0
        self._lock = threading.Lock()
        self._work = [
            self._pool.submit(self._call, server) for server in servers for _ in range(threads)
        ]

    def _call(self, server: HttpServer) -> None:
        while not self._ended.is_set():
            with self._lock:
                self._count += 1
                query = f"query {self._count}"
            answer = answer_of(server.call("pubmed_search", {"query_term": query}))
            self.answers.append(answer["result"])

    def end(self) -> None:
        self._ended.set()
        self._pool.shutdown()
        for one in self._work:
            one.result()


@pytest.mark.long("load")
@pytest.mark.alone
@pytest.mark.requirement("sandbox:limits:pace-replicas")
@pytest.mark.parametrize(("key", "rate"), [("", 3), ("a-key", 10)])
def test_servers_together_keep_the_pace_of_ncbi(
    make_servers: MakeServers, upstream: Upstream, key: str, rate: int
) -> None:
    env = {"CARREL_SECRET_EUTILS_API_KEY": key} if key else {}
    servers = make_servers(**env)
    load = Load(servers)
    time.sleep(3)
    load.end()
    times = [one.at for one in upstream.seen]
    assert [one for one in load.answers if one.get("isError")] == []
    # A request may arrive late on a loaded machine, and then be close to the next.
    assert most_in(1.0, times) <= rate + 1
    assert most_in(3.0, times) <= 3 * rate + 1
    assert len(times) >= 5
    if key:
        assert all("api_key=a-key" in one.path for one in upstream.seen)


@pytest.mark.alone
@pytest.mark.long("kills")
@pytest.mark.requirement("sandbox:limits:pace-replicas")
def test_redis_may_be_killed_and_frozen_under_load(
    make_servers: MakeServers, upstream: Upstream, redis: RedisProcess
) -> None:
    servers = make_servers(CARREL_SECRET_EUTILS_API_KEY="a-key")
    load = Load(servers, threads=4)
    until(lambda: len(load.answers) > 5, 30)
    redis.kill()
    time.sleep(1.0)
    redis.start()
    time.sleep(1.5)
    redis.freeze()
    time.sleep(1.5)
    redis.thaw()
    time.sleep(1.5)
    redis.kill()
    # Longer than requests wait.
    time.sleep(6.0)
    failed = len([one for one in load.answers if one.get("isError")])
    assert failed
    before = len(upstream.seen)
    time.sleep(1.0)
    assert len(upstream.seen) == before, "without Redis nothing is sent"
    redis.start()
    count = len(load.answers)
    until(lambda: any(not one.get("isError") for one in load.answers[count:]), 30)
    load.end()
    assert most_in(1.0, [one.at for one in upstream.seen]) <= 11
    for answer in load.answers:
        if answer.get("isError"):
            error = json.loads(answer["content"][-1]["text"])["error"]
            assert (error["code"], error["retryable"]) == ("rate_limited", True), error
            assert error["retry_after_seconds"] > 0
            assert "rate limits that servers share cannot be read" in error["message"]
    for server in servers:
        assert any("answers again" in line for line in server.lines)
        assert not any("p@ss" in line or "p%40ss" in line for line in server.lines)


def test_an_answer_that_one_server_fetched_is_a_hit_at_the_other(
    make_servers: MakeServers, upstream: Upstream
) -> None:
    one, other = make_servers()
    first = answer_of(one.call("pubmed_search", {"query_term": "shared"}))["result"]
    second = answer_of(other.call("pubmed_search", {"query_term": "shared"}))["result"]
    assert first["structuredContent"] == second["structuredContent"]
    assert len(upstream.seen) == 1


RESOURCE, SECRET = "https://carrel.example.org/mcp", "s" * 48


def token_of(name: str) -> str:
    """Returns the token of a principal, valid for days."""
    claims = {"sub": name, "aud": RESOURCE, "exp": int(time.time()) + 10 * 86_400}
    return jwt.encode(claims, SECRET, "HS256")


def bearer_of(name: str) -> dict[str, str]:
    """Returns the header of a principal."""
    return {"authorization": f"Bearer {token_of(name)}"}


def test_a_principal_s_budget_is_one_for_all_replicas(
    make_servers: MakeServers, redis: RedisProcess
) -> None:
    servers = make_servers({"resource": RESOURCE, "calls_per_day": 5}, MCP_AUTH_SECRET_KEY=SECRET)
    token = bearer_of("alice")

    def call(server: HttpServer) -> Any:
        arguments = {"query_term": "the same each time"}
        return answer_of(server.call("pubmed_search", arguments, headers=token))

    answers = [call(servers[number % 2]) for number in range(8)]
    granted = ["result" in one and not one["result"].get("isError") for one in answers]
    assert granted == [True] * 5 + [False] * 3, answers
    redis.kill()
    refused = call(servers[0])
    assert "error" in refused or refused["result"]["isError"], "without Redis no budget is spent"


@pytest.mark.requirement("web:sessions:replicas")
def test_replicas_share_research_sessions_and_large_results(
    make_servers: MakeServers, redis: RedisProcess, tmp_path: Path
) -> None:
    """Redis is killed in between, and loses nothing that an answer has reported."""
    web = {"research": True, "key_file": str(tmp_path / "shared" / "web.key")}
    servers = make_servers({"resource": RESOURCE}, web=web, MCP_AUTH_SECRET_KEY=SECRET)
    alice, elsewhere = (Person(one, token_of("alice"), is_modern=True) for one in servers)
    given = {"search_step": "desk " * 1400, "next_step_needed": True}
    more = {"research_goal": "walls of desks"}
    for number in range(1, 7):
        person = (alice, elsewhere)[number % 2]
        result = person.call("research_step", step_number=number, **given, **more)["result"]
        assert not result.get("isError"), result
        more = {"session_id": result["structuredContent"]["session_id"]}

    def has_all(person: Person) -> bool:
        result = person.call("research_session", **more)["result"]
        return bool(result.get("structuredContent", {}).get("step_count") == 6)

    redis.kill()
    redis.start()
    for person in (alice, elsewhere):
        until(lambda: has_all(person), 20)  # noqa: B023
    link = alice.call("research_export", format="json", **more)["result"]["structuredContent"]
    redis.kill()
    redis.start()
    uri = link["resource"]
    until(lambda: "result" in elsewhere.ask("resources/read", uri=uri), 20)
    [content] = elsewhere.ask("resources/read", uri=uri)["result"]["contents"]
    assert "walls of desks" in content["text"]
    bob = Person(servers[1], token_of("bob"), is_modern=True)
    assert "error" in bob.ask("resources/read", uri=uri)
    assert bob.call("research_session", **more)["result"]["isError"]


@pytest.mark.long("load")
@pytest.mark.requirement("sandbox:limits:pace-replicas")
@pytest.mark.parametrize("wrong", [3600, -3600, 86_400], ids=["ahead", "behind", "a day ahead"])
def test_a_replica_whose_clock_is_wrong_changes_neither_pace_nor_budgets_nor_circuits(
    make_servers: MakeServers, upstream: Upstream, redis: RedisProcess, wrong: float
) -> None:
    identity = {"resource": RESOURCE, "calls_per_day": 12}
    env = {"MCP_AUTH_SECRET_KEY": SECRET, "CARREL_SECRET_EUTILS_API_KEY": "a-key"}
    servers = make_servers(identity, second_ahead=wrong, **env)

    def call(number: int, who: str = "alice") -> Any:
        arguments = {"query_term": f"{who} {number}"}
        server = servers[number % 2]
        answer = answer_of(server.call("pubmed_search", arguments, headers=bearer_of(who)))
        return answer.get("result", {"isError": True, "content": [{"text": json.dumps(answer)}]})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(call, range(16)))
    assert sum(not one.get("isError") for one in answers) == 12, "one budget, of one day"
    assert len(upstream.seen) == 12
    assert most_in(1.0, [one.at for one in upstream.seen]) <= 11
    budgets = redis.command("KEYS", "*calls:*")
    assert len(budgets) == 1
    assert 86_400 < int(redis.command("TTL", budgets[0])) <= 2 * 86_400

    upstream.on("*", lambda _seen: Reply(503))
    for number in range(1, 12, 2):
        call(number, "bob")  # at the replica whose clock is wrong
    before = len(upstream.seen)
    assert "circuit open" in json.dumps(call(0, "carol"))
    assert len(upstream.seen) == before
    circuits = redis.command("KEYS", "*:circuit:*")
    open_until = int(redis.command("HGET", circuits[0], "open_until")) / 1e6
    assert 0 < open_until - time.time() < 120, "by the clock of Redis"


@pytest.mark.alone
@pytest.mark.long("kills")
@pytest.mark.skipif(os.name != "posix", reason="sends SIGSTOP")
def test_a_replica_that_pauses_delays_no_other_and_sends_nothing_late(
    make_servers: MakeServers, upstream: Upstream
) -> None:
    servers = make_servers(CARREL_SECRET_EUTILS_API_KEY="a-key")
    going, paused = servers
    session = paused.initialize()
    load = Load(servers, threads=4)
    until(lambda: len(load.answers) > 10, 30)
    os.kill(paused.process.pid, signal.SIGSTOP)
    try:
        before = len(upstream.seen)
        until(lambda: len(upstream.seen) >= before + 15, 30)
        answered = len(load.answers)
        until(lambda: len(load.answers) >= answered + 10, 30)
    finally:
        os.kill(paused.process.pid, signal.SIGCONT)
    resumed = len(upstream.seen)
    until(lambda: len(upstream.seen) >= resumed + 15, 30)
    load.end()
    assert [one for one in load.answers if one.get("isError")] == []
    assert most_in(1.0, [one.at for one in upstream.seen]) <= 11
    kept = paused.call("pubmed_search", {"query_term": "x"}, session=session)
    assert kept.status_code == 200, "its sessions are there"
    assert going.call("pubmed_search", {"query_term": "x"}, session=session).status_code == 404


def test_a_session_of_another_replica_is_unknown(make_servers: MakeServers) -> None:
    """A client then initializes again, as the protocol says; `deploy/` routes by session."""
    one, other = make_servers()
    session = one.initialize()
    assert one.call("pubmed_search", {"query_term": "x"}, session=session).status_code == 200
    assert other.call("pubmed_search", {"query_term": "x"}, session=session).status_code == 404
    again = other.initialize()
    assert other.call("pubmed_search", {"query_term": "x"}, session=again).status_code == 200
