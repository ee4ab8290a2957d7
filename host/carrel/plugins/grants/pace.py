"""The pace at a host: the manifest's, the operator's, and the upstream's rule.

The built-in plugins' manifests have the rules of their upstreams. A request of another plugin to
one of these hosts passes their token bucket as well as its own: it cannot get the shared address
blocked, and its pace and its failures slow no other plugin. The operator may slow any plugin down,
and speed it up to that rule; beyond the rule only with `ignore_upstream_rule`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import TYPE_CHECKING

from carrel.fetch.policy.endpoint import ENDPOINT
from carrel.fetch.policy.hosts import common_host
from carrel.fetch.policy.manifest import read_policy
from carrel.fetch.policy.rules import HostRule, Pace
from carrel.plugins.sources.source import MANIFEST_SECTION, builtin_names, read_source
from carrel.runtime.sections import custom_section

if TYPE_CHECKING:
    from carrel.config import PaceGrant, PluginConfig


def paced(entry: PluginConfig, rule: HostRule) -> HostRule:
    """Returns the rule with the plugin's effective pace."""
    override = _override(entry, rule.host)
    if entry.is_builtin and override is None:
        return rule
    floors = [rule] if entry.is_builtin else _floors(rule.host)
    if override is not None:
        pace = Pace(override.interval_ms / 1000, override.burst, rule.upstream)
        rule = dataclasses.replace(rule, pace=pace)
        if override.ignore_upstream_rule:
            return rule
    for floor in floors:
        rule = _no_quicker(rule, floor)
    return rule


def upstream_rules(entry: PluginConfig) -> tuple[HostRule, ...]:
    """Returns the built-in plugins' rules that also apply to the plugin's requests."""
    if entry.is_builtin:
        return ()
    return tuple(
        rule
        for rule in builtin_rules()
        if (override := _override(entry, rule.host)) is None or not override.ignore_upstream_rule
    )


def _override(entry: PluginConfig, host: str) -> PaceGrant | None:
    """Returns the operator's pace for a host: by its name, or else by a wildcard."""
    covering = [name for name in entry.pace if common_host(name, host) == host]
    return entry.pace[min(covering, key=lambda name: name.startswith("*"))] if covering else None


def _no_quicker(rule: HostRule, floor: HostRule) -> HostRule:
    pace = Pace(
        max(rule.pace.interval, floor.pace.interval),
        min(rule.pace.burst, floor.pace.burst),
        rule.upstream,
    )
    return dataclasses.replace(
        rule, pace=pace, concurrency=min(rule.concurrency, floor.concurrency)
    )


def _floors(host: str) -> list[HostRule]:
    return [rule for rule in builtin_rules() if common_host(rule.host, host) is not None]


@functools.cache
def builtin_rules() -> tuple[HostRule, ...]:
    """Returns the hosts of the built-in plugins, each with its pace without a key."""
    rules: list[HostRule] = []
    for name in builtin_names():
        section = custom_section(read_source(name, f"builtin:{name}").wasm, MANIFEST_SECTION)
        assert section is not None, "built-in components carry their manifest"
        policy, _ = read_policy(json.loads(section), granted=None, provided={})
        rules += [rule for rule in policy.rules if rule.host != ENDPOINT]
    return tuple(rules)
