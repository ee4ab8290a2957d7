"""Reads policy and secrets from a validated manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from carrel.fetch.identity import Secret

from .endpoint import Endpoint
from .hosts import matches, parse_declared_host
from .public_web import PublicWeb
from .rules import BUILTIN, HostGrant, HostRule, Pace, Policy, as_grant


def read_policy(
    manifest: Mapping[str, Any],
    *,
    granted: Sequence[str | HostGrant] | None,
    provided: Mapping[str, str],
    plugin: str | None = None,
    repace: Callable[[HostRule], HostRule] = lambda rule: rule,
    partition: str = BUILTIN,
    upstream_rules: Sequence[HostRule] = (),
    public_web: PublicWeb | None = None,
    endpoint: Endpoint | None = None,
    trace_hosts: Sequence[str] = (),
) -> tuple[Policy, tuple[Secret, ...]]:
    """Reads the manifest's `hosts`, `public_web` and `secrets`.

    Args:
        manifest: what `describe()` returned.
        granted: the operator's host entries; None grants what the manifest declares.
        provided: the values the operator has for secrets, by name; `contact` is the address.
            A declared secret without a value is not attached.
        plugin: the plugin's name in the configuration; the manifest's when None.
        repace: returns a rule with its effective pace; applied last.
        partition: see `Policy`.
        upstream_rules: see `Policy`.
        public_web: the operator's limits of the public web; the defaults when None.
        endpoint: see `Policy`.
        trace_hosts: see `Policy`.

    Raises:
        ValueError: one message with every refused entry and its place.
    """
    faults: list[str] = []
    rules = []
    for index, entry in enumerate(manifest["hosts"]):
        with _collecting(faults, f"hosts[{index}]"):
            rules.append(_read_rule(entry))
    secrets = []
    declared = {rule.host for rule in rules}
    for index, entry in enumerate(manifest.get("secrets", ())):
        with _collecting(faults, f"secrets[{index}]"):
            value = provided.get(entry["name"])
            # A placeholder where there is no value, so that a wrong declaration is reported anyway.
            secret = _read_secret(entry, value or "none", declared)
            if value:
                secrets.append(secret)
                if "pace" in entry:
                    rules = [_at_pace(rule, secret.hosts, entry["pace"]) for rule in rules]
    requested = manifest.get("public_web")
    if requested is not None and manifest.get("secrets"):
        faults.append(
            "public_web: a plugin that has secrets cannot ask for the public web; "
            "take the secrets or public_web out of the manifest"
        )
    for index, text in enumerate(granted or ()):
        with _collecting(faults, f"allowed_hosts[{index}]"):
            as_grant(text)
    if faults:
        raise ValueError("; ".join(faults))
    policy = Policy(
        plugin or manifest["name"],
        [repace(rule) for rule in rules],
        granted,
        partition=partition,
        upstream_rules=upstream_rules,
        title=manifest.get("title", ""),
        public_web=None
        if requested is None
        else _read_public_web(requested, public_web or PublicWeb()),
        endpoint=endpoint,
        trace_hosts=trace_hosts,
    )
    return policy, tuple(secrets)


@contextmanager
def _collecting(faults: list[str], location: str) -> Iterator[None]:
    try:
        yield
    except ValueError as fault:
        faults.append(f"{location}: {fault}")


def _read_secret(entry: Mapping[str, Any], value: str, declared: set[str]) -> Secret:
    hosts = tuple(map(parse_declared_host, entry["hosts"]))
    for host in hosts:
        if host not in declared:
            raise ValueError(f"{host} is not among the declared hosts")
    return Secret(entry["name"], value, hosts, **entry["attach"])


def _read_public_web(requested: Mapping[str, Any], limits: PublicWeb) -> PublicWeb:
    return dataclasses.replace(
        limits,
        methods=frozenset(requested["methods"]),
        cache_seconds=float(requested.get("cache_seconds", 0)),
    )


def _read_rule(entry: Mapping[str, Any]) -> HostRule:
    pace = entry.get("pace", {"interval_ms": 0})
    return HostRule(
        host=parse_declared_host(entry["host"]),
        methods=frozenset(entry["methods"]),
        paths=tuple(entry.get("paths", ())),
        pace=Pace(pace["interval_ms"] / 1000, pace.get("burst", 1), pace.get("upstream", "")),
        concurrency=entry.get("concurrency", 8),
        cache_seconds=float(entry.get("cache_seconds", 0)),
    )


def _at_pace(rule: HostRule, hosts: Sequence[str], pace: Mapping[str, Any]) -> HostRule:
    """Returns the rule with the pace for a set secret, where the secret goes to its host."""
    if not any(rule.host == host or matches(host, rule.host) for host in hosts):
        return rule
    bucket = Pace(pace["interval_ms"] / 1000, pace.get("burst", 1), rule.pace.upstream)
    return dataclasses.replace(rule, pace=bucket)
