"""An operator's grant of a host, and what is left of a manifest's rules under it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .hosts import matches, parse_host_entry

if TYPE_CHECKING:
    from .rules import HostRule


@dataclass(frozen=True, slots=True)
class HostGrant:
    """One item of `allowed_hosts`: a host, and which requests to it are granted.

    Attributes:
        host: a DNS name or `*.name`.
        methods: those granted; None grants every method that the manifest declares.
        paths: prefixes on whole segments; None grants every path that the manifest declares.
    """

    host: str
    methods: frozenset[str] | None = None
    paths: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """The item in the configuration's own words."""
        if self.methods is None and self.paths is None:
            return json.dumps(self.host)
        words = [f"host = {json.dumps(self.host)}"]
        if self.methods is not None:
            words.append(f"methods = {json.dumps(sorted(self.methods))}")
        if self.paths is not None:
            words.append(f"paths = {json.dumps(list(self.paths))}")
        return f"{{ {', '.join(words)} }}"


def as_grant(item: str | HostGrant) -> HostGrant:
    """The grant of a whole host by its name, or the grant itself, its host as it is compared.

    Raises:
        ValueError: the host is no host entry.
    """
    if isinstance(item, str):
        return HostGrant(parse_host_entry(item))
    return dataclasses.replace(item, host=parse_host_entry(item.host))


def narrow(rules: Iterable[HostRule], granted: Sequence[HostGrant]) -> tuple[HostRule, ...]:
    """The manifest's rules ∩ the grant: what may be asked, and nothing else.

    Each rule keeps its pace and its bucket, however narrow it becomes.
    """
    kept = (_narrow_one(rule, grant) for rule in rules for grant in granted)
    return tuple(rule for rule in kept if rule is not None)


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


def common_host(one: str, other: str) -> str | None:
    """The narrower of two host entries where they overlap; None where they do not."""
    if one == other or (not one.startswith("*") and matches(other, one)):
        return one
    return other if not other.startswith("*") and matches(one, other) else None


def _common_paths(
    declared: tuple[str, ...], granted: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """The prefixes that both cover; empty is every path, None is none."""
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
