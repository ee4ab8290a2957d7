"""Rules for the downloads of a feature of the host: from which hosts, at what pace, with which key.

A feature such as papers downloads files that no plugin asked for. It states its hosts as data, and
gets what plugins get: policy, pace, redirects that are checked, and secrets that are redacted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from carrel.credentials import find_secret, variable
from carrel.errors import ConfigError
from carrel.fetch.identity import Secret
from carrel.fetch.policy.hosts import matches
from carrel.fetch.policy.rules import HostRule, Pace, Policy
from carrel.fetch.url import UrlFault, parse_url

from .pace import builtin_rules


@dataclass(frozen=True, slots=True)
class AttachedKey:
    """A key that the host attaches to requests.

    Attributes:
        name: of the secret.
        value: the key itself, in no repr.
        hosts: that it is sent to.
        header: the header that carries it; None for a query parameter.
        scheme: the word before it in the header.
        query: the query parameter that carries it; None for a header.
    """

    name: str
    value: str = field(repr=False)
    hosts: tuple[str, ...]
    header: str | None = None
    scheme: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class DownloadRule:
    """The hosts that a feature may download from.

    Attributes:
        name: for messages and the request log.
        title: for people who wait.
        partition: whose connections, circuits and pace the downloads share: the feature's name.
        hosts: names, or `*.name`.
        interval: seconds between two downloads of the partition.
        at_once: downloads from one host at once.
        key: attached to requests; None without one.
    """

    name: str
    title: str
    partition: str
    hosts: tuple[str, ...]
    interval: float
    at_once: int
    key: AttachedKey | None = None

    def policy(self) -> Policy:
        """Returns the policy.

        A host that a built-in plugin asks too, such as arXiv's, keeps that plugin's pace as well.
        """
        pace = Pace(self.interval, 1, "downloads")
        methods = frozenset({"GET"})
        return Policy(
            self.name,
            [HostRule(host, methods, pace=pace, concurrency=self.at_once) for host in self.hosts],
            partition=self.partition,
            upstream_rules=builtin_rules(),
            title=self.title,
        )

    def secrets(self) -> tuple[Secret, ...]:
        """Returns the key as the fetch layer attaches it."""
        key = self.key
        if key is None:
            return ()
        return (
            Secret(
                key.name,
                key.value,
                key.hosts,
                query=key.query,
                header=key.header,
                scheme=key.scheme,
            ),
        )


def host_of(url: str) -> str | None:
    """Returns the host of a URL that can be fetched; None for any other."""
    target = parse_url(url)
    return None if isinstance(target, UrlFault) else target.host


def covers(entry: str, host: str) -> bool:
    """Whether a host entry, a name or `*.name`, covers a host."""
    return matches(entry, host)


def find_key(feature: str, name: str, env: Mapping[str, str] | None = None) -> str | None:
    """Returns a key of a feature; None if it is not set.

    Args:
        feature: the feature's name in variables and in the keyring.
        name: of the key.
        env: the environment; that of the process when None.

    Raises:
        ConfigError: it has a space or a character that no request carries.
    """
    key = find_secret(feature, name, env=env)
    if key and re.search(r"[^\x21-\x7e]", key):
        raise ConfigError([f"{key_variable(feature, name)}: a key has no spaces and only ASCII"])
    return key


def key_variable(feature: str, name: str) -> str:
    """Returns the environment variable of a key."""
    return variable(feature, name)
