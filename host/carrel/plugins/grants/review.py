"""Compares a manifest with the grant, item by item: requested, granted, refused.

The values come from where calls get them: the effective policy, the entry's rules for tools and
secrets, and the effective limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import limit_grant
from carrel.fetch.policy.endpoint import ENDPOINT
from carrel.fetch.policy.hosts import PUBLIC_WEB, common_host
from carrel.fetch.policy.rules import HostGrant, HostRule, Policy, narrow

from .access import effective_policy
from .limits import call_limits

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.plugins.manifests.manifest import Manifest


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One item that a plugin requests.

    Attributes:
        kind: `host`, `pace`, `secret`, `tool`, `limit`, `lookup`, `role`, `resource` or `prompt`.
        name: which one.
        asked: the manifest's value; empty without one.
        granted: the granted value; empty for none.
        refused: the requested value that is not granted; empty for none.
        grant: the configuration that would grant it, or that can change it.
    """

    kind: str
    name: str
    asked: str
    granted: str
    refused: str = ""
    grant: str = ""


def review(config: Config, entry: PluginConfig, manifest: Manifest) -> list[ReviewItem]:
    """Compares everything that the manifest requests with the entry's grant.

    Raises:
        ConfigError: an entry of the grant is refused.
    """
    policy, _ = effective_policy(config, entry, manifest)
    return [
        *(_host(entry, policy, rule) for rule in policy.rules),
        *_public_web(entry, policy, manifest),
        *_paces(entry, policy, manifest),
        *_secrets(entry, manifest),
        *_tools(entry, manifest),
        *_reserved(entry, manifest),
        *_limits(config, entry, manifest),
    ]


def in_vain(entry: PluginConfig, manifest: Manifest) -> list[str]:
    """Returns what is granted and not requested, in the configuration's words."""
    prefix = f"plugins.{entry.name}.runtime_config"
    hosts = [rule.host for rule in manifest.hosts]
    if manifest.public_web:
        hosts.append(PUBLIC_WEB)
    granted = [
        grant if isinstance(grant, str) else grant.host for grant in entry.allowed_hosts or ()
    ]
    lines = [f"{prefix}.allowed_hosts: {host}" for host in _strange(granted, hosts)]
    lines += [
        f"{prefix}.pace: {host}"
        for host in entry.pace
        if not any(common_host(host, declared) == declared for declared in hosts)
    ]
    lines += [
        f"{prefix}.secrets: {name}" for name in entry.secrets or () if name not in manifest.secrets
    ]
    return lines


def limits_of(config: Config, entry: PluginConfig, manifest: Manifest) -> dict[str, float]:
    """Returns the limits of the plugin's calls, by the names of `Limits`."""
    limits = call_limits(
        manifest,
        overrides={**config.limits, **entry.limits},
        builtin=entry.is_builtin,
        is_module=manifest.contract.startswith("hyper-mcp"),
    )
    return limits._asdict()


def _strange(granted: Iterable[str], declared: list[str]) -> list[str]:
    return [
        host
        for host in granted
        if not any(common_host(host, declared_host) is not None for declared_host in declared)
    ]


def _host(entry: PluginConfig, policy: Policy, rule: HostRule) -> ReviewItem:
    if rule.host == ENDPOINT:
        return _endpoint(entry, rule)
    granted = (rule,) if policy.granted is None else narrow([rule], policy.granted)
    refused = ["everything"] if not granted else []
    if granted and rule.host not in {grant.host for grant in granted}:
        refused.append("other names")
    methods = set[str]().union(*(grant.methods for grant in granted))
    if granted and (missing := rule.methods - methods):
        refused.append(", ".join(sorted(missing)))
    if granted and not any(grant.paths == rule.paths for grant in granted):
        refused.append("other paths")
    setting = f"plugins.{entry.name}.runtime_config.allowed_hosts"
    return ReviewItem(
        "host",
        rule.host,
        _requests(rule),
        "; ".join(
            _requests(grant) if grant.host == rule.host else f"{grant.host}: {_requests(grant)}"
            for grant in granted
        ),
        ", ".join(refused),
        f"{setting} += {HostGrant(rule.host)}" if refused else "",
    )


def _endpoint(entry: PluginConfig, rule: HostRule) -> ReviewItem:
    """Returns the operator's own server, which is granted by configuring its URL."""
    requested = f"{_requests(rule)} of the operator's own server"
    grant = f'plugins.{entry.name}.runtime_config.endpoint = "https://…"'
    if entry.endpoint is None:
        return ReviewItem("host", rule.host, requested, "", "everything", grant)
    return ReviewItem("host", rule.host, requested, f"{entry.endpoint.url}: {_requests(rule)}")


def _public_web(entry: PluginConfig, policy: Policy, manifest: Manifest) -> Iterator[ReviewItem]:
    """Yields the public web, if the manifest asks for it."""
    if not manifest.public_web:
        return
    methods = ", ".join(sorted(manifest.raw["public_web"]["methods"]))
    requested = f"{methods} every public host"
    if policy.public_web is not None:
        yield ReviewItem("host", PUBLIC_WEB, requested, requested)
        return
    grant = f'plugins.{entry.name}.runtime_config.allowed_hosts += "{PUBLIC_WEB}"'
    yield ReviewItem("host", PUBLIC_WEB, requested, "", "everything", grant)


def _requests(rule: HostRule) -> str:
    return f"{', '.join(sorted(rule.methods))} {', '.join(rule.paths) or 'every path'}"


def _paces(entry: PluginConfig, policy: Policy, manifest: Manifest) -> Iterator[ReviewItem]:
    """Yields the pace at each host: declared by the manifest, effective by the policy."""
    declared = {rule.host: rule for rule in manifest.hosts}
    for rule in policy.rules:
        requested = [_pace(declared[rule.host]), _named_bucket(declared[rule.host])]
        yield ReviewItem(
            "pace",
            rule.host,
            ", ".join(filter(None, requested)),
            f"{_pace(rule) or 'any'}, {buckets(policy, rule)}",
            grant=f'plugins.{entry.name}.runtime_config.pace."{rule.host}"',
        )


def buckets(policy: Policy, rule: HostRule) -> str:
    """Describes the token buckets that requests under a rule pass."""
    if not policy.partition:
        return f"bucket {rule.upstream}"
    shared = policy.shared_buckets(rule)
    return " and ".join(["a bucket of its own", *(f"bucket {name}" for name in shared)])


def bucket_lines(config: Config, entry: PluginConfig, manifest: Manifest) -> list[str]:
    """Returns one line for each host: the token buckets that its requests pass.

    Raises:
        ConfigError: an entry of the grant is refused.
    """
    policy, _ = effective_policy(config, entry, manifest)
    return [f"pace at {rule.host}: {buckets(policy, rule)}" for rule in policy.rules]


def _named_bucket(rule: HostRule) -> str:
    return f"bucket {rule.pace.upstream}" if rule.pace.upstream else ""


def _pace(rule: HostRule) -> str:
    if not rule.pace.interval:
        return ""
    burst = f", {rule.pace.burst} at once" if rule.pace.burst > 1 else ""
    return f"one per {rule.pace.interval:g} s{burst}"


def _secrets(entry: PluginConfig, manifest: Manifest) -> Iterator[ReviewItem]:
    for raw in manifest.raw.get("secrets", []):
        name, hosts = raw["name"], ", ".join(raw["hosts"])
        if entry.grants_secret(name):
            yield ReviewItem("secret", name, f"to {hosts}", f"to {hosts}")
        else:
            grant = f'plugins.{entry.name}.runtime_config.secrets += "{name}"'
            yield ReviewItem("secret", name, f"to {hosts}", "", "everything", grant)


def _tools(entry: PluginConfig, manifest: Manifest) -> Iterator[ReviewItem]:
    for tool in manifest.tools:
        grant = entry.grant_of_tool(tool.name)
        yield _shown("tool", manifest.client_name(tool.name), "listed", grant)


def _reserved(entry: PluginConfig, manifest: Manifest) -> Iterator[ReviewItem]:
    """Yields the reserved tools, and what manifests have besides tools."""
    if manifest.lookup is not None:
        identifiers = ", ".join(manifest.lookup.identifiers)
        yield _shown("lookup", identifiers, "asked", entry.grant_of_tool("lookup"))
    for role in manifest.roles.values():
        yield _shown("role", role.name, "asked", entry.grant_of_tool(role.tool))
    for resource in manifest.resources:
        yield _shown("resource", resource.uri, "listed", entry.grant_of_resource(resource.uri))
    for prompt in manifest.raw.get("prompts", []):
        yield _shown("prompt", prompt["name"], "listed", entry.grant_of_prompt(prompt["name"]))


def _shown(kind: str, name: str, word: str, grant: str | None) -> ReviewItem:
    if grant is None:
        return ReviewItem(kind, name, word, word)
    return ReviewItem(kind, name, word, "", "hidden", grant)


def _limits(config: Config, entry: PluginConfig, manifest: Manifest) -> Iterator[ReviewItem]:
    for name, value in limits_of(config, entry, manifest).items():
        requested: Any = manifest.limits.get(name)
        less = requested is not None and requested > value
        yield ReviewItem(
            "limit",
            name,
            "" if requested is None else f"{requested:,}",
            f"{value:,}",
            f"{requested:,}" if less else "",
            limit_grant(entry.name, name),
        )
