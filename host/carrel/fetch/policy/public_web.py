"""The grant of the public web: requests to any host with a public name, within fixed limits.

A manifest asks for it (`public_web`) and the operator grants it (`allowed_hosts = "public-web"`);
both are needed. Every other check of a request remains: https on port 443 or one that the operator
lists, no address in place of a name, no special address behind a name, every redirect checked
again.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrel.exchange import Failure
from carrel.fetch import failures
from carrel.fetch.url import HTTPS_PORT, Target

from .hosts import parse_host_entry
from .rules import HostRule, Pace


@dataclass(frozen=True, slots=True)
class PublicWeb:
    """The rule for every host of the public web. Each host has its own pace and concurrency.

    Attributes:
        methods: upper case.
        blocked: hosts that are refused, with all names below them; `*.name` covers those below.
        ports: hosts with a port other than 443 that are allowed, as `name:port`.
        interval: seconds between two requests to one host in the long run.
        burst: requests to one host that may be sent at once after a pause.
        concurrency: requests to one host in flight at once.
        cache_seconds: how long a response stays fresh; 0 disables caching.
        robots: whether `robots.txt` of each host is honoured; False for a person's single request.
    """

    methods: frozenset[str] = frozenset({"GET", "HEAD"})
    blocked: tuple[str, ...] = ()
    ports: frozenset[str] = frozenset()
    interval: float = 1.0
    burst: int = 4
    concurrency: int = 2
    cache_seconds: float = 0.0
    robots: bool = True

    def check(self, plugin: str, method: str, target: Target) -> HostRule | Failure:
        """Returns the rule for a request, or why it is refused."""
        entry = self._blocking(target.host)
        if entry is not None:
            return failures.denied(
                target.url,
                "host_blocked",
                f"{target.host} is on the operator's block list",
                grant=f'web.blocked_hosts -= "{entry}"',
            )
        try:
            host = parse_host_entry(target.host)
        except ValueError as fault:
            return failures.denied(target.url, "local_name", f"{target.host}: {fault}")
        if target.port != HTTPS_PORT and target.authority not in self.ports:
            return failures.denied(
                target.url,
                "port_not_allowed",
                "the URL names a port other than 443, which is not listed",
                grant=f'web.ports += "{target.authority}"',
            )
        if method not in self.methods:
            return failures.denied(
                target.url,
                "method_not_allowed",
                f"the manifest of {plugin} does not ask for this method on the public web; "
                "no grant can allow it",
            )
        return HostRule(
            host,
            self.methods,
            pace=Pace(self.interval, self.burst),
            concurrency=self.concurrency,
            cache_seconds=self.cache_seconds,
            robots=self.robots,
        )

    def _blocking(self, host: str) -> str | None:
        """Returns the entry of the block list that covers a host."""
        for entry in self.blocked:
            name = entry.removeprefix("*.")
            if host.endswith(f".{name}") or host == entry:
                return entry
        return None
