"""Tests the compose file: the specification's schema, and what it must not allow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from carrel.config import load_config

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose.yaml"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(COMPOSE.read_text("utf-8"))
    return loaded


def test_the_file_conforms_to_the_compose_specification() -> None:
    compose_spec = pytest.importorskip("compose_spec", reason="compose-spec is not installed")
    read = compose_spec.PyCompose.from_yaml(COMPOSE.read_text("utf-8"))
    read.validate()
    read.to_spec()
    assert sorted(read.service_names()) == ["carrel", "proxy", "redis"]


@pytest.mark.parametrize("name", ["carrel", "proxy", "redis"])
def test_services_have_no_root_no_capability_and_a_read_only_file_system(
    compose: dict[str, Any], name: str
) -> None:
    service = compose["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["user"].partition(":")[0]) > 0
    assert "mem_limit" in service


def test_only_the_proxy_is_published_and_only_on_loopback(compose: dict[str, Any]) -> None:
    published = {name for name, service in compose["services"].items() if "ports" in service}
    assert published == {"proxy"}
    assert compose["services"]["proxy"]["ports"] == ["127.0.0.1:8000:8080"]
    assert "state" not in compose["services"]["proxy"]["networks"]
    assert compose["services"]["redis"]["networks"] == ["state"]
    assert compose["networks"]["state"]["internal"] is True


def test_the_proxy_and_the_health_check_ask_the_port_that_the_image_serves() -> None:
    image = (DEPLOY / "Containerfile").read_text("utf-8")
    [served] = re.findall(r'^CMD \["serve", "--http", "0\.0\.0\.0:(\d+)"\]$', image, re.MULTILINE)
    proxy = (DEPLOY / "haproxy.cfg").read_text("utf-8")
    assert re.findall(r"^  server-template .* carrel:(\d+) ", proxy, re.MULTILINE) == [served]
    assert re.findall(r"^  bind :(\d+)$", proxy, re.MULTILINE) == ["8080"], "as it is published"
    assert f"EXPOSE {served}\n" in image
    assert f"http://127.0.0.1:{served}/healthz" in image


def test_redis_keeps_what_it_acknowledges(compose: dict[str, Any]) -> None:
    command = compose["services"]["redis"]["command"][-1]
    assert "appendonly yes" in command
    assert "appendfsync always" in command
    assert "maxmemory-policy noeviction" in command
    assert compose["services"]["redis"]["volumes"] == ["redis:/data"]


def test_no_secret_is_in_the_file(compose: dict[str, Any]) -> None:
    assert compose["services"]["carrel"]["environment"]["CARREL_STORE"] == "redis://redis:6379/0"
    assert compose["secrets"] == {"redis_password": {"file": "secrets/redis_password"}}
    tracked = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {"/deploy/secrets/", "/deploy/carrel.env"} <= set(tracked)


def test_the_server_has_longer_to_stop_than_its_calls(compose: dict[str, Any]) -> None:
    server = load_config(DEPLOY / "carrel.toml", {"HOME": "/"}).server
    grace = int(compose["services"]["carrel"]["stop_grace_period"].removesuffix("s"))
    assert grace > server.drain_seconds + server.shutdown_seconds
