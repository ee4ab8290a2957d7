"""Tests the Redis containers: their commands and probes, with a real server and client."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from carrel.config import load_config
from carrel.state import StoreLimits
from carrel.web.artifacts.store import _STORE_BYTES as ARTIFACT_BYTES
from carrel.web.research.sessions.store import _STORE_BYTES as SESSION_BYTES
from support.deployed_redis import DeployedRedis
from support.fetch_harness import until
from support.redis_process import LOADS_SLOWLY, PASSWORD, RedisProcess, free_port

DEPLOY = Path(__file__).parents[2] / "deploy"

pytestmark = [
    pytest.mark.long("replicas"),
    pytest.mark.skipif(sys.platform != "linux", reason="the containers are Linux's"),
]


def _in_compose() -> dict[str, Any]:
    loaded = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    service: dict[str, Any] = loaded["services"]["redis"]
    return service


def _in_kubernetes() -> dict[str, Any]:
    documents = yaml.safe_load_all((DEPLOY / "kubernetes/redis.yaml").read_text("utf-8"))
    [workload] = [one for one in documents if one["kind"] == "StatefulSet"]
    [container] = workload["spec"]["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container


COMMANDS = {"compose": _in_compose()["command"][-1], "kubernetes": _in_kubernetes()["args"][-1]}
LIVENESS, READINESS = (
    _in_kubernetes()[f"{name}Probe"]["exec"]["command"][-1] for name in ("liveness", "readiness")
)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_the_container_s_first_process_is_redis_and_ends_in_order(
    command: str, tmp_path: Path
) -> None:
    """A container engine signals the first process, and kills all of them later."""
    password = "0f" * 32
    port = free_port()
    deployed = DeployedRedis(tmp_path, port, password)
    process = deployed.start(command)
    try:
        until(lambda: deployed.succeeds(READINESS), 20)
        client = redis.Redis("127.0.0.1", port, password=password, decode_responses=True)
        settings = client.config_get("appendonly", "appendfsync", "maxmemory-policy")
        assert settings == {
            "appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction",
        }  # fmt: skip
        client.close()
        assert b"redis-server" in Path(f"/proc/{process.pid}/cmdline").read_bytes()
        assert password.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
        process.terminate()
        assert process.wait(20) == 0
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def test_a_redis_that_loads_its_data_lives_and_is_not_ready(tmp_path: Path) -> None:
    with RedisProcess(tmp_path / "data", options=LOADS_SLOWLY) as process:
        for number in range(200):
            process.command("SET", f"{number}", os.urandom(1000).hex())
        process.rewrite_log()
        process.kill()
        process.start(wait=False)
        deployed = DeployedRedis(tmp_path, process.port, PASSWORD)
        until(lambda: deployed.succeeds(LIVENESS), 3)
        assert not deployed.succeeds(READINESS), "it loads for four seconds"
        until(lambda: deployed.succeeds(READINESS), 20)
        assert deployed.succeeds(LIVENESS)


def test_a_redis_that_refuses_the_password_is_not_ready(tmp_path: Path) -> None:
    with RedisProcess(tmp_path / "data") as process:
        deployed = DeployedRedis(tmp_path, process.port, "another")
        assert not deployed.succeeds(READINESS)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_redis_has_memory_for_all_that_carrel_may_keep(command: str) -> None:
    """Otherwise a cache that is as large as it may be leaves no room for sessions and budgets."""
    cached = load_config(DEPLOY / "carrel.toml", {"HOME": "/"}).fetch.cache_max_bytes
    kept = cached + ARTIFACT_BYTES + SESSION_BYTES + StoreLimits().max_bytes
    [megabytes] = re.findall(r"maxmemory (\d+)mb\n", command)
    assert int(megabytes) * 2**20 >= 1.3 * kept
    assert _in_compose()["mem_limit"] == "2g"
    assert _in_kubernetes()["resources"]["limits"]["memory"] == "2Gi"
    assert 1.3 * int(megabytes) * 2**20 <= 2 * 2**30, "the log is written anew by a second process"
