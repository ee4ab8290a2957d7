"""The requests that a plugin may make: its manifest's rules, narrowed by the operator's grant."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from carrel.exchange import Failure, Headers
from carrel.fetch import failures
from carrel.fetch.url import HTTPS_PORT, Target

from .endpoint import ENDPOINT, Endpoint
from .hosts import PUBLIC_WEB, common_host, matches, parse_declared_host, parse_host_entry

#: Headers that a guest may set; all others are the host's.
GUEST_HEADERS = frozenset({"accept", "accept-language", "content-type"})

# As h11 accepts it: a failure there would reach the plugin without a reason.
_HEADER_VALUE = re.compile(r"(?! )[\x20-\x7e\xa0-\xff]{0,1000}(?<! )")

#: The partition of the built-in plugins, which trust each other.
BUILTIN = ""
_TRAVERSAL = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)")


@dataclass(frozen=True, slots=True)
class Pace:
    """The token bucket of an upstream.

    Attributes:
        interval: seconds between two requests in the long run.
        burst: requests that may be sent at once after a pause.
        upstream: the bucket's name within the plugin's partition; empty for the host's own.
    """

    interval: float = 0.0
    burst: int = 1
    upstream: str = ""


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry of a manifest's `hosts`: a host and its limits.

    Attributes:
        host: a DNS name or `*.name`, as `parse_host_entry` returns it.
        methods: upper case.
        paths: prefixes matched on whole segments; empty for every path.
        concurrency: requests in flight at once.
        cache_seconds: how long a response stays fresh; 0 disables caching.
        robots: whether the host's `robots.txt` decides too, see `carrel.fetch.robots`.
    """

    host: str
    methods: frozenset[str]
    paths: tuple[str, ...] = ()
    pace: Pace = Pace()
    concurrency: int = 8
    cache_seconds: float = 0.0
    robots: bool = False

    @property
    def upstream(self) -> str:
        """The name of this host's bucket, within a partition."""
        return self.pace.upstream or self.host

    def allows_path(self, path: str) -> bool:
        """Whether one of the prefixes covers the path."""
        if not self.paths:
            return True
        if _decodes_to_traversal(path):
            return False
        return covers(self.paths, path)


@dataclass(frozen=True, slots=True)
class HostGrant:
    """One item of `allowed_hosts`: a host and the granted requests.

    Attributes:
        host: a DNS name, `*.name`, or `public-web` for every host.
        methods: those granted; None grants every method that the manifest declares.
        paths: prefixes on whole segments; None grants every path that the manifest declares.
    """

    host: str
    methods: frozenset[str] | None = None
    paths: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """The item in the configuration's syntax."""
        if self.methods is None and self.paths is None:
            return json.dumps(self.host)
        words = [f"host = {json.dumps(self.host)}"]
        if self.methods is not None:
            words.append(f"methods = {json.dumps(sorted(self.methods))}")
        if self.paths is not None:
            words.append(f"paths = {json.dumps(list(self.paths))}")
        return f"{{ {', '.join(words)} }}"


def as_grant(item: str | HostGrant) -> HostGrant:
    """Converts an item to a grant with a normalised host; a name grants the whole host.

    Raises:
        ValueError: the host is no host entry.
    """
    if isinstance(item, str):
        item = HostGrant(item)
    if item.host == PUBLIC_WEB:
        return item
    return dataclasses.replace(item, host=parse_host_entry(item.host))


def narrow(rules: Iterable[HostRule], granted: Sequence[HostGrant]) -> tuple[HostRule, ...]:
    """Returns the manifest's rules ∩ the grant.

    Narrowed rules keep their pace and their bucket.
    """
    narrowed = (_narrow_one(rule, grant) for rule in rules for grant in granted)
    return tuple(rule for rule in narrowed if rule is not None)


def _narrow_one(rule: HostRule, grant: HostGrant) -> HostRule | None:
    host = common_host(rule.host, grant.host)
    methods = rule.methods if grant.methods is None else rule.methods & grant.methods
    paths = _common_paths(rule.paths, grant.paths)
    if host is None or not methods or paths is None:
        return None
    pace = rule.pace
    if host != rule.host:
        pace = dataclasses.replace(pace, upstream=rule.upstream)
    return dataclasses.replace(rule, host=host, methods=methods, paths=paths, pace=pace)


def _common_paths(
    declared: tuple[str, ...], granted: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Returns the prefixes that both cover; empty is every path, None is none."""
    if not granted:
        return declared if granted is None else None
    if not declared:
        return granted
    common = [path for path in declared if covers(granted, path)]
    common += [path for path in granted if path not in common and covers(declared, path)]
    return tuple(common) or None


def covers(prefixes: Iterable[str], path: str) -> bool:
    """Whether one of the prefixes is the path or an ancestor of it, on whole segments."""
    return any(
        path == prefix or path.startswith(prefix if prefix[-1] == "/" else f"{prefix}/")
        for prefix in prefixes
    )


class AnyHostRule(Protocol):
    """Decides on requests to hosts that no rule names; see `public_web`."""

    def check(self, plugin: str, method: str, target: Target) -> HostRule | Failure:
        """Returns the rule for a request of a plugin, or why it is refused."""
        ...


class Policy:
    """The requests that one plugin may make: manifest ∩ grant.

    Args:
        plugin: its name in the configuration, for messages and grants.
        rules: the manifest's hosts.
        granted: what the operator grants; None grants what the manifest declares.
        partition: isolates state: connections, cached responses, pace, circuit breakers and
            coalesced requests are shared within a partition only. Empty for the built-in plugins;
            each other plugin has its own.
        upstream_rules: rules of the built-in plugins, which apply to other partitions too.
        title: the source's name for people; empty when the manifest has none.
        public_web: the rule for every other host, if the manifest asks for it. Only an explicit
            grant allows it: `granted` of None does not.
        endpoint: where the operator's own server is, if the manifest declares one; it is granted by
            saying where it is.
        trace_hosts: host entries that are sent the header `traceparent`.

    Attributes:
        rules: as declared.
        asks_public_web: whether the manifest asks for the public web.
        public_web: the rule if it is granted; None if not.
        endpoint: as given; None if the manifest declares none.
        effective: as declared and granted; what `check` allows is exactly this.

    Raises:
        ValueError: an entry of rules or grant is not a host entry.
    """

    def __init__(
        self,
        plugin: str,
        rules: Sequence[HostRule],
        granted: Sequence[str | HostGrant] | None = None,
        *,
        partition: str = BUILTIN,
        upstream_rules: Sequence[HostRule] = (),
        title: str = "",
        public_web: AnyHostRule | None = None,
        endpoint: Endpoint | None = None,
        trace_hosts: Sequence[str] = (),
    ) -> None:
        self.trace_hosts = tuple(trace_hosts)
        self.plugin = plugin
        self.title = title
        self.partition = partition
        self._upstream_rules = tuple(upstream_rules) if partition else ()
        # Exact names first: they are more specific than wildcards.
        self.rules = tuple(sorted(rules, key=lambda rule: rule.host.startswith("*")))
        for rule in self.rules:
            if parse_declared_host(rule.host) != rule.host:
                raise ValueError(f"{rule.host!r} is not in lower case")
        self.granted = None if granted is None else tuple(map(as_grant, granted))
        own = tuple(rule for rule in self.rules if rule.host == ENDPOINT)
        others = tuple(rule for rule in self.rules if rule.host != ENDPOINT)
        self.effective = others if self.granted is None else narrow(others, self.granted)
        self.endpoint = endpoint if own else None
        if self.endpoint is not None:
            self.effective += own
        self.asks_public_web = public_web is not None
        granted_hosts = {grant.host for grant in self.granted or ()}
        self.public_web = public_web if PUBLIC_WEB in granted_hosts else None

    def check(self, method: str, target: Target) -> HostRule | Failure:
        """Returns the rule that allows the request, or a denial with the grant that would."""
        for rule in self.effective:
            if (
                target.port == HTTPS_PORT
                and matches(rule.host, target.host)
                and method in rule.methods
                and rule.allows_path(target.path)
            ):
                return rule
        if self.public_web is not None:
            return self.public_web.check(self.plugin, method, target)
        return self._undeclared(method, target) or self._ungranted(method, target)

    def continues_trace(self, host: str) -> bool:
        """Whether the operator lets a host see the trace of the call."""
        return any(matches(pattern, host) for pattern in self.trace_hosts)

    def upstream_name(self, rule: HostRule) -> str:
        """The rule's name for its upstream, for metrics; one for all hosts of the public web."""
        return rule.upstream if rule in self.effective else PUBLIC_WEB

    def bucket(self, rule: HostRule) -> str:
        """The name of a rule's token bucket.

        It includes the partition, so a manifest cannot name another plugin's bucket.
        """
        return f"plugin/{self.partition}/{rule.upstream}" if self.partition else rule.upstream

    def shared_buckets(self, rule: HostRule) -> tuple[str, ...]:
        """The names of the further buckets that requests under a rule pass."""
        shared = [
            candidate
            for candidate in self._upstream_rules
            if common_host(candidate.host, rule.host)
        ]
        return tuple(sorted({upstream_rule.upstream for upstream_rule in shared}))

    def shared_rule(self, host: str) -> HostRule | None:
        """The built-in plugins' rule for a host, which applies to every partition."""
        rules = [rule for rule in self._upstream_rules if matches(rule.host, host)]
        if not rules:
            return None
        slowest = max(rules, key=lambda rule: rule.pace.interval)
        concurrency = min(rule.concurrency for rule in rules)
        return dataclasses.replace(slowest, concurrency=concurrency)

    def _undeclared(self, method: str, target: Target) -> Failure | None:
        """Denies a request that the manifest does not declare, so no grant can allow it."""
        rules = [rule for rule in self.rules if matches(rule.host, target.host)]
        if rules and target.host == ENDPOINT and self.endpoint is None:
            return self._endpoint_missing(target)
        manifest = f"the manifest of {self.plugin} does not declare"
        if not rules and self.asks_public_web:
            return self._public_web_missing(target)
        if not rules:
            return failures.denied(
                target.url,
                "host_not_declared",
                f"{manifest} {target.host}; no grant can allow it",
            )
        if not self._grants_of(target.host):
            return None  # the missing grant is reported first: the operator can add it
        rules = [rule for rule in rules if method in rule.methods]
        if not rules:
            return failures.denied(
                target.url,
                "method_not_allowed",
                f"{manifest} this method for {target.host}; no grant can allow it",
            )
        if not any(rule.allows_path(target.path) for rule in rules):
            return failures.denied(
                target.url,
                "path_not_allowed",
                f"{manifest} this path of {target.host}; no grant can allow it",
            )
        return None

    def _endpoint_missing(self, target: Target) -> Failure:
        """Denies a request to the operator's own server while it is not known where that is."""
        return failures.denied(
            target.url,
            "host_not_granted",
            f"{self.plugin} asks a server of the operator's own, and none is configured",
            grant=f'plugins.{self.plugin}.runtime_config.endpoint = "https://…"',
        )

    def _public_web_missing(self, target: Target) -> Failure:
        """Denies a request to an undeclared host of a plugin that asks for the public web."""
        setting = f"plugins.{self.plugin}.runtime_config.allowed_hosts"
        return failures.denied(
            target.url,
            "host_not_granted",
            f"{self.plugin} asks for the public web and is not granted it",
            grant=f'{setting} += "{PUBLIC_WEB}"',
        )

    def _ungranted(self, method: str, target: Target) -> Failure:
        """Denies a request that is declared and not granted; names the missing grant."""
        grants = self._grants_of(target.host)
        missing, reason, what = HostGrant(target.host), "host_not_granted", target.host
        if grants and not any(grant.methods is None or method in grant.methods for grant in grants):
            missing = HostGrant(target.host, methods=frozenset({method}))
            reason, what = "method_not_allowed", f"this method for {target.host}"
        elif grants:
            missing = HostGrant(target.host, frozenset({method}), paths=(target.path,))
            reason, what = "path_not_allowed", f"this path of {target.host}"
        return failures.denied(
            target.url,
            reason,
            f"{self.plugin} is not granted {what}",
            grant=f"plugins.{self.plugin}.runtime_config.allowed_hosts += {missing}",
        )

    def _grants_of(self, host: str) -> list[HostGrant]:
        if self.granted is None or host == ENDPOINT:
            return [HostGrant(host)]
        return [grant for grant in self.granted if matches(grant.host, host)]


def check_headers(url: str, headers: Headers) -> Failure | None:
    """Returns why a guest's headers are refused; None if they are allowed."""
    seen = set()
    for name, value in headers:
        lower = name.lower()
        if lower not in GUEST_HEADERS or lower in seen:
            return failures.denied(
                url,
                "header_not_allowed",
                f"a plugin sets each of {', '.join(sorted(GUEST_HEADERS))} at most once, "
                "and no other header",
            )
        seen.add(lower)
        if not _HEADER_VALUE.fullmatch(value):
            return failures.denied(
                url,
                "header_not_allowed",
                f"the value of {lower} has control characters, a blank at an end, or more than "
                "1000 characters",
            )
    return None


def _decodes_to_traversal(path: str) -> bool:
    """Whether a server that decodes the path, even twice, would leave the prefix."""
    if "%" not in path:
        return False
    from urllib.parse import unquote

    once = unquote(path)
    return bool(_TRAVERSAL.search(once) or _TRAVERSAL.search(unquote(once)))
