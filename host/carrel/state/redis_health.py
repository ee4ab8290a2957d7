"""Examines a Redis server for an operator."""

from __future__ import annotations

from typing import Any

from carrel.errors import StateError

from .redis_server import RedisServer, acquire_server, release_server
from .redis_settings import RedisSettings

_LOOPBACK = ("localhost", "127.", "::1")


def examine_server(settings: RedisSettings) -> dict[str, Any]:
    """Returns address, version and advice; without a password. Never raises."""
    report: dict[str, Any] = {
        "where": settings.address,
        "prefix": settings.prefix,
        "tls": settings.tls,
        "password": settings.password is not None or settings.password_file is not None,
    }
    advice: list[str] = []
    if not settings.tls and not settings.host.startswith(_LOOPBACK):
        advice.append("the connection is not encrypted; rediss:// is")
    if not report["password"] and not settings.host.startswith(_LOOPBACK):
        advice.append("the server is used without a password")
    try:
        server = acquire_server(settings)
    except StateError:
        return report
    try:
        facts = _facts(server)
    except StateError:
        # Why is the store's own error.
        facts = {}
    finally:
        release_server(server)
    report["version"] = facts.get("valkey_version") or facts.get("redis_version")
    policy = facts.get("maxmemory_policy")
    if policy not in {None, "noeviction"}:
        advice.append(
            f"maxmemory-policy is {policy}, so the server may drop rate limits and sessions; "
            "set it to noeviction"
        )
    if facts.get("aof_enabled") == "0":
        advice.append("the server loses sessions and budgets when it restarts; set appendonly yes")
    if advice:
        report["advice"] = advice
    return report


def _facts(server: RedisServer) -> dict[str, str]:
    """Returns what INFO says; empty if the user may not ask."""
    try:
        answer = server.command("INFO")
    except StateError as fault:
        if "may not" in fault.reason:
            return {}
        raise
    if isinstance(answer, dict):
        return {str(key): str(value) for key, value in answer.items()}
    lines = bytes(answer).decode("utf-8", "replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)
