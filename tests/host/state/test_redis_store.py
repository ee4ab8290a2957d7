"""Tests the store in Redis: kills, frozen and full servers, passwords, TLS, hostile keys."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Sized
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from carrel.config import Config
from carrel.errors import StateError
from carrel.state import KeyValueStore, StoreLimits, examine_store, open_store, store_health
from carrel.state.redis_server import RedisServer, Script, acquire_server, release_server
from carrel.state.redis_settings import RedisSettings
from carrel.state.redis_store import RedisStore
from support.fetch_harness import until
from support.redis_process import LOADS_SLOWLY, PASSWORD, RedisProcess, free_port

pytestmark = pytest.mark.long("replicas")


@pytest.fixture
def own_process(tmp_path: Path) -> Iterator[RedisProcess]:
    """Returns a server that the test may break."""
    with RedisProcess(tmp_path / "redis") as process:
        yield process


def opened(settings: RedisSettings, **limits: int) -> tuple[RedisServer, RedisStore]:
    server = RedisServer(settings)
    return server, RedisStore(server, "tests", StoreLimits(**limits))  # type: ignore[arg-type]


def test_namespaces_and_prefixes_do_not_see_each_other(redis_settings: RedisSettings) -> None:
    server = RedisServer(redis_settings)
    one, other = (RedisStore(server, name, StoreLimits()) for name in ("one", "other"))
    one.put("a", b"1")
    assert (other.get("a"), other.keys("")) == (None, [])
    server.close()


@pytest.mark.requirement("sandbox:apart:redis-keys")
@pytest.mark.parametrize("name", ["one:entry:a", ":sizes", "../one", "*", "one\r\nDEL x\r\n"])
def test_a_key_cannot_leave_its_namespace(redis_settings: RedisSettings, name: str) -> None:
    server = RedisServer(redis_settings)
    one, other = (RedisStore(server, each, StoreLimits()) for each in ("one", "one2"))
    one.put("a", b"1")
    other.put(name, b"evil")
    assert (one.get("a"), one.keys(""), other.keys("")) == (b"1", ["a"], [name])
    assert one.increment("n", 1, limit=9, seconds=60) == 1
    server.close()


def test_every_key_begins_with_the_prefix(
    redis_settings: RedisSettings, redis_process: RedisProcess
) -> None:
    server, store = opened(redis_settings)
    before = set(redis_process.command("KEYS", "*"))
    store.put("a", b"1", seconds=60)
    store.increment("n", 1, limit=9, seconds=60)
    new = set(redis_process.command("KEYS", "*")) - before
    assert new
    assert all(key.startswith(redis_settings.prefix.encode() + b":") for key in new)
    server.close()


def test_entries_expire_in_the_server_itself(
    redis_settings: RedisSettings, redis_process: RedisProcess
) -> None:
    server, store = opened(redis_settings)
    store.put("a", b"1", seconds=60)
    key = server.key("state", "tests", "entry", "a")
    assert 59_000 < int(redis_process.command("PTTL", key)) <= 60_000
    server.close()


def test_the_clock_is_the_server_s_whatever_the_machine_s_says(
    redis_settings: RedisSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, store = opened(redis_settings)
    real = time.time()
    monkeypatch.setattr(time, "time", lambda: real + 3600)
    server_time = store.clock()
    assert server_time is not None
    assert abs(server_time - real) < 60
    server.close()


def test_a_server_that_never_heard_a_script_learns_it(
    redis_settings: RedisSettings, redis_process: RedisProcess
) -> None:
    server, store = opened(redis_settings)
    redis_process.command("SCRIPT", "FLUSH")
    store.put("a", b"1")
    redis_process.command("SCRIPT", "FLUSH")
    assert store.increment("n", 1, limit=9, seconds=60) == 1
    server.close()


def wait_for_more(acknowledged: Sized) -> None:
    wanted = len(acknowledged) + 50
    until(lambda: len(acknowledged) >= wanted, 20)


def test_a_killed_server_loses_no_acknowledged_entry(own_process: RedisProcess) -> None:
    """Threads write all the time; the server is killed and started again three times."""
    settings = own_process.settings(timeout_seconds=2.0)
    server, store = opened(settings, max_entries=10**6)
    acknowledged: dict[str, bytes] = {}
    counted = [0] * 4
    ended = threading.Event()

    def work(number: int) -> None:
        at = 0
        while not ended.is_set():
            at += 1
            key, value = f"{number}/{at}", b"%d" % at * 10
            try:
                store.put(key, value)
                acknowledged[key] = value
                if store.increment("count", 1, limit=10**9, seconds=600) is not None:
                    counted[number] += 1
            except StateError as fault:
                assert fault.retryable, fault.message
                time.sleep(0.005)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        wait_for_more(acknowledged)
        own_process.kill()
        time.sleep(0.05)
        own_process.start()
    wait_for_more(acknowledged)
    ended.set()
    for thread in threads:
        thread.join()
    assert all(store.get(key) == value for key, value in acknowledged.items())
    count = int(store.get("count") or b"0")
    # An increment whose answer was lost may have counted; at most one a thread and kill.
    assert sum(counted) <= count <= sum(counted) + 12
    server.close()


def test_calls_fail_at_once_while_the_server_is_gone(
    own_process: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    server, store = opened(own_process.settings())
    store.put("a", b"1")
    own_process.kill()
    with caplog.at_level(logging.WARNING, "carrel.state"):
        with pytest.raises(StateError) as caught:
            store.get("a")
        started = time.monotonic()
        faults = 0
        while time.monotonic() < started + 0.5:
            with pytest.raises(StateError):
                store.get("a")
            faults += 1
    assert faults > 500, "most calls do not try to connect"
    fault = caught.value
    assert (fault.error_code, fault.retryable, fault.action) == (
        "storage", True, "retry_after_delay",
    )  # fmt: skip
    assert 0 < (fault.retry_after_seconds or 0) <= 5
    assert f"redis://127.0.0.1:{own_process.port}/0" in fault.message
    assert len(caplog.records) == 1
    own_process.start()
    until(lambda: works(store), 10)
    assert store.get("a") == b"1"
    assert "answers again" in caplog.text
    server.close()


def works(store: KeyValueStore) -> bool:
    try:
        store.put("probe", b"1")
    except StateError:
        return False
    return True


def test_a_frozen_server_costs_one_timeout_and_not_one_a_call(own_process: RedisProcess) -> None:
    server, store = opened(own_process.settings(timeout_seconds=0.3))
    store.put("a", b"1")
    own_process.freeze()
    started = time.monotonic()
    with pytest.raises(StateError, match=r"no answer within 0\.3 s"):
        store.get("a")
    first = time.monotonic() - started
    assert 0.25 < first < 2
    started = time.monotonic()
    for _ in range(100):
        with pytest.raises(StateError):
            store.get("a")
    assert time.monotonic() - started < 1.5
    own_process.thaw()
    until(lambda: works(store), 10)
    assert store.get("a") == b"1"
    server.close()


def test_a_wrong_password_is_named_and_never_shown(
    redis_settings: RedisSettings, redis_process: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for password, expected in (("hush-hush", "was refused"), (None, "was refused")):
        server, store = opened(redis_process.settings(password=password))
        with pytest.raises(StateError, match=expected) as caught:
            store.put("a", b"1")
        assert "correct them" in caught.value.message
        assert "hush" not in caught.value.message + caplog.text
        assert PASSWORD not in caught.value.message + caplog.text
        server.close()


def test_a_corrected_password_file_is_used_without_a_restart(
    redis_process: RedisProcess, tmp_path: Path
) -> None:
    path = tmp_path / "password"
    path.write_text("wrong", "utf-8")
    server, store = opened(redis_process.settings(password=None, password_file=path))
    with pytest.raises(StateError):
        store.put("a", b"1")
    path.write_text(PASSWORD, "utf-8")
    until(lambda: works(store), 10)
    server.close()


def test_a_missing_password_file_is_a_typed_error(
    redis_process: RedisProcess, tmp_path: Path
) -> None:
    settings = redis_process.settings(password=None, password_file=tmp_path / "none")
    server, store = opened(settings)
    with pytest.raises(StateError, match="No such file"):
        store.get("a")
    server.close()


def test_an_address_where_nothing_listens_is_named(redis_settings: RedisSettings) -> None:
    server, store = opened(RedisSettings("127.0.0.1", 1))
    with pytest.raises(StateError, match=r"redis://127\.0\.0\.1:1/0: no connection: .*refused"):
        store.get("a")
    server.close()


def test_a_full_server_refuses_and_keeps_what_it_has(tmp_path: Path) -> None:
    with RedisProcess(tmp_path, options={"maxmemory": "4mb"}) as process:
        server, store = opened(process.settings())
        store.put("before", b"x" * 1000)
        kept: list[str] = []

        def fill() -> None:
            for number in range(1000):
                store.put(f"{number}", b"y" * 50_000)
                kept.append(f"{number}")

        def count() -> None:
            for number in range(100_000):
                store.increment(f"n{number}", 1, limit=9, seconds=600)

        with pytest.raises(StateError, match="the server's memory is full") as caught:
            fill()
        assert "maxmemory" in caught.value.message
        assert kept
        assert store.get("before") == b"x" * 1000
        assert all(store.get(key) == b"y" * 50_000 for key in kept)
        assert len(store.keys("")) == len(kept) + 1
        with pytest.raises(StateError, match="the server's memory is full"):
            count()
        assert store.increment("n0", -1, limit=9, seconds=60) == 0
        for key in kept:
            assert store.delete(key)
        store.put("after", b"y" * 50_000)
        assert store.get("before") == b"x" * 1000
        server.close()


def test_health_tells_a_full_server_from_one_that_is_gone(tmp_path: Path) -> None:
    with RedisProcess(tmp_path / "redis", options={"maxmemory": "3mb"}) as process:
        config = Config(cache_dir=tmp_path, data_dir=tmp_path, store=process.settings())
        assert store_health(config) is None
        server = RedisServer(process.settings())

        def fill() -> None:
            for number in range(1000):
                server.command("SET", f"filler{number}", b"x" * 10_000)

        with pytest.raises(StateError, match="memory is full"):
            fill()
        fault = store_health(config)
        assert fault is not None
        assert fault.is_full
        assert "memory is full" in examine_store(config)["problem"]
        process.kill()
        fault = store_health(config)
        assert fault is not None
        assert not fault.is_full
        server.close()


def test_tls_is_checked_against_the_named_authority(tmp_path: Path) -> None:
    with RedisProcess(tmp_path / "one", tls=True) as process:
        server, store = opened(process.settings())
        store.put("a", b"1")
        assert store.get("a") == b"1"
        server.close()
        # The system's authorities did not sign the certificate.
        server, store = opened(process.settings(ca_bundle=None))
        with pytest.raises(StateError, match="its certificate is not trusted"):
            store.get("a")
        server.close()
        # The certificate is for 127.0.0.1.
        server, store = opened(process.settings(host="localhost"))
        with pytest.raises(StateError, match="its certificate is for another name"):
            store.get("a")
        server.close()
        # Without TLS.
        server, store = opened(process.settings(tls=False, ca_bundle=None))
        with pytest.raises(StateError):
            store.get("a")
        server.close()


def test_an_expired_certificate_is_named(tmp_path: Path) -> None:
    with RedisProcess(tmp_path, tls=True) as process:
        process.renew_certificate(not_after=datetime.now(UTC) - timedelta(days=1))
        server, store = opened(process.settings())
        with pytest.raises(StateError, match="its certificate has expired; renew it"):
            store.get("a")
        server.close()


@pytest.mark.parametrize("content", [b"", b"no certificate", b"\x30\x82\x01\x0a"])
def test_a_file_of_authorities_that_has_none_is_named(tmp_path: Path, content: bytes) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(content)
    with RedisProcess(tmp_path / "redis", tls=True) as process:
        server, store = opened(process.settings(ca_bundle=bundle))
        with pytest.raises(StateError, match=r"store\.ca_bundle has no certificate"):
            store.get("a")
        server.close()


def test_a_server_that_requires_a_certificate_of_its_clients_says_what_to_set(
    tmp_path: Path,
) -> None:
    """That is Redis's default. It ends the connection, mostly before its reason is read."""
    with RedisProcess(tmp_path, tls=True) as process:
        process.command("CONFIG", "SET", "tls-auth-clients", "yes")
        server, store = opened(process.settings())
        with pytest.raises(StateError, match="with tls-auth-clients no"):
            store.get("a")
        server.close()


def test_a_server_that_loads_its_data_is_waited_for(tmp_path: Path) -> None:
    with RedisProcess(tmp_path, options=LOADS_SLOWLY) as process:
        server, store = opened(process.settings())
        for number in range(200):
            store.put(f"{number}", os.urandom(1000))
        process.rewrite_log()
        process.kill()
        process.start(wait=False)
        seen: set[str] = set()

        def answers() -> bool:
            try:
                return store.get("0") is not None
            except StateError as fault:
                assert fault.retryable
                seen.add(fault.reason)
                return False

        until(answers, 20)
        assert "the server is loading its data" in seen
        server.close()


def test_a_replica_and_a_server_of_a_cluster_are_named(tmp_path: Path) -> None:
    with RedisProcess(tmp_path / "replica") as process:
        process.command("REPLICAOF", "127.0.0.1", "1")
        server, store = opened(process.settings())
        with pytest.raises(StateError, match="is a read-only replica; name the primary"):
            store.put("a", b"1")
        server.close()
    options = {"cluster-enabled": "yes", "cluster-port": str(free_port())}
    with RedisProcess(tmp_path / "cluster", options=options) as process:
        server, store = opened(process.settings())
        expected = "is one of a cluster; name one of its own"
        with pytest.raises(StateError, match=expected):
            store.put("a", b"1")
        process.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        until(lambda: b"cluster_state:ok" in process.command("CLUSTER", "INFO"))
        time.sleep(0.2)  # until it is tried again
        with pytest.raises(StateError, match=expected):
            store.put("a", b"1")
        server.close()


class Switch:
    """A port whose connections lead to one server, and later ones to another."""

    def __init__(self, port: int) -> None:
        self.target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            self._sockets += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=pair, daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> None:
        for one in self._sockets:
            one.close()


def test_a_server_that_takes_over_is_found_while_the_former_one_still_answers(
    tmp_path: Path,
) -> None:
    with RedisProcess(tmp_path / "one") as one, RedisProcess(tmp_path / "other") as other:
        switch = Switch(one.port)
        server, store = opened(one.settings(port=switch.port))
        store.put("a", b"1")
        one.command("REPLICAOF", "127.0.0.1", str(other.port))
        switch.target = other.port
        with pytest.raises(StateError, match="is a read-only replica"):
            store.put("a", b"2")
        until(lambda: works(store), 10)
        store.put("a", b"3")
        assert other.command("GET", server.key("state", "tests", "entry", "a")) == b"3"
        server.close()
        switch.close()


def test_another_program_s_keys_are_no_crash(
    redis_settings: RedisSettings, redis_process: RedisProcess
) -> None:
    server, store = opened(redis_settings)
    redis_process.command("LPUSH", server.key("state", "tests", "entry", "a"), "1")
    with pytest.raises(StateError, match=r"the server refuses: .*WRONGTYPE"):
        store.get("a")
    assert store.delete("a")
    store.put("a", b"1")
    assert store.get("a") == b"1"
    server.close()


def test_a_user_of_the_access_control_list_needs_only_its_own_keys(
    redis_process: RedisProcess, tmp_path: Path
) -> None:
    """The rule is that of docs/how-to/deploy.md."""
    rule = "on >pw ~mine:* +@all -@dangerous +info"
    redis_process.command("ACL", "SETUSER", "limited", *rule.split())
    settings = redis_process.settings(username="limited", password="pw", prefix="mine")
    config = Config(cache_dir=tmp_path, data_dir=tmp_path, store=settings)
    store = open_store(config, "tests", StoreLimits(max_entries=2, evict=True))
    for key in "abc":
        store.put(key, b"1", seconds=60)
    assert store.increment("c", 1, limit=9, seconds=60) == 2
    assert store.keys("") == ["b", "c"]
    store.close()
    report = examine_store(config)
    assert "problem" not in report
    assert report["version"]
    server, other = opened(redis_process.settings(username="limited", password="pw"))
    with pytest.raises(
        StateError, match="the user may not do this; allow it scripts, and the keys"
    ):
        other.put("a", b"1")
    server.close()


def test_the_owner_with_the_most_bytes_loses_its_entries(redis_settings: RedisSettings) -> None:
    """A file of its own limits each owner; in Redis all share one namespace."""
    server = RedisServer(redis_settings)
    store = RedisStore(server, "shared", StoreLimits(max_bytes=1000, evict=True))
    store.put("ann/1", b"x" * 95, seconds=60)
    for number in range(30):
        store.put(f"bob/{number:02}", b"x" * 94, seconds=600)
    assert store.keys("ann/") == ["ann/1"]
    assert store.keys("bob/") == [f"bob/{number:02}" for number in range(21, 30)]
    for number in range(2, 9):
        store.put(f"ann/{number}", b"x" * 95, seconds=60)
    assert (len(store.keys("ann/")), len(store.keys("bob/"))) == (5, 5), "each has half"
    for key in store.keys(""):
        store.delete(key)
    assert server.command("KEYS", server.key("state", "shared") + "*") == [
        (server.key("state", "shared") + ":used").encode()
    ], "nothing is left of an owner without entries"
    server.close()


def test_users_of_one_server_share_its_connections(redis_settings: RedisSettings) -> None:
    one, other = acquire_server(redis_settings), acquire_server(redis_settings)
    assert one is other
    release_server(one)
    assert other.command("PING")
    release_server(other)
    with pytest.raises(StateError, match="closed"):
        other.command("PING")
    release_server(other)
    third = acquire_server(redis_settings)
    assert third is not one
    release_server(third)


def test_a_call_without_a_free_connection_is_no_failure_of_the_server(
    redis_settings: RedisSettings,
) -> None:
    server, store = opened(replace(redis_settings, timeout_seconds=0.2))
    store.put("a", b"1")
    assert server._client is not None
    pool = server._client.connection_pool
    taken = [pool.get_connection() for _ in range(64)]
    with pytest.raises(StateError, match="all connections are in use") as caught:
        store.get("a")
    assert caught.value.retryable
    for connection in taken:
        pool.release(connection)
    assert store.get("a") == b"1"
    server.close()


def test_an_unknown_answer_is_quoted_without_control_characters(
    redis_settings: RedisSettings,
) -> None:
    server = RedisServer(redis_settings)
    script = Script("return redis.error_reply('ODD one\\027[31m two')")
    with pytest.raises(StateError, match=r"the server refuses: .*one\?\[31m two"):
        server.run(script, (), ())
    server.close()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("OOM command not allowed when used memory > 'maxmemory'.", "memory is full; raise"),
        ("READONLY You can't write against a read only replica.", "read-only replica; name"),
        ("MISCONF Redis is configured to save RDB snapshots.", "cannot write to its disk"),
    ],
)
def test_an_error_within_a_script_is_worded_as_redis_6_2_sends_it(
    redis_settings: RedisSettings, error: str, expected: str
) -> None:
    server = RedisServer(redis_settings)
    sent = f"ERR Error running script (call to f_{'d' * 40}): @user_script:30: -{error}"
    with pytest.raises(StateError, match=expected) as caught:
        server.run(Script(f"return redis.error_reply({json.dumps(sent)})"), (), ())
    assert caught.value.is_full is error.startswith("OOM")
    server.close()


def test_the_configuration_opens_the_store_and_examines_it(
    redis_settings: RedisSettings, tmp_path: Path
) -> None:
    config = Config(cache_dir=tmp_path, data_dir=tmp_path, store=redis_settings)
    store = open_store(config, "sessions")
    store.put("a", b"1")
    other = open_store(config, "sessions")
    assert other.get("a") == b"1"
    store.close()
    with pytest.raises(StateError, match="the store is closed"):
        store.get("a")
    assert other.get("a") == b"1"
    other.close()
    assert store_health(config) is None
    report = examine_store(config)
    assert report["where"] == redis_settings.address
    assert (report["kind"], report["password"], report["version"][:1] > "0") == (
        "redis",
        True,
        True,
    )
    assert "problem" not in report
    assert PASSWORD not in str(report)
    assert list(tmp_path.iterdir()) == []


def test_the_examination_gives_advice(tmp_path: Path) -> None:
    options = {"maxmemory": "50mb", "maxmemory-policy": "allkeys-lru"}
    with RedisProcess(tmp_path / "redis", options=options) as process:
        process.command("CONFIG", "SET", "appendonly", "no")
        config = Config(cache_dir=tmp_path, data_dir=tmp_path, store=process.settings())
        policy, log = examine_store(config)["advice"]
        assert "maxmemory-policy is allkeys-lru" in policy
        assert "set appendonly yes" in log


def test_health_says_that_the_server_is_gone(tmp_path: Path) -> None:
    config = Config(cache_dir=tmp_path, data_dir=tmp_path, store=RedisSettings("127.0.0.1", 1))
    assert "redis://127.0.0.1:1/0: no connection" in str(store_health(config))
    assert "no connection" in str(examine_store(config)["problem"])
