"""The limits of the public web, as the operator set them, for plugins and for the host's tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from carrel.exchange import Failure
from carrel.fetch import failures
from carrel.fetch.policy.hosts import PUBLIC_WEB
from carrel.fetch.policy.public_web import PublicWeb
from carrel.fetch.policy.rules import Policy
from carrel.fetch.url import UrlFault, parse_url

from .pace import builtin_rules

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.fetch.identity import Secret


def public_web(config: Config, *, robots: bool = True) -> PublicWeb:
    """Returns the rule for every host, with the operator's limits.

    Args:
        config: its `web` has the limits.
        robots: False for a person's single request.
    """
    web = config.web
    return PublicWeb(
        blocked=web.blocked_hosts,
        ports=frozenset(web.ports),
        interval=web.interval_ms / 1000,
        concurrency=web.concurrency,
        robots=robots,
    )


def page_url(url: str) -> str | Failure:
    """Returns the https URL of a page in one spelling, without fragment, or why it is refused.

    An http URL becomes https; letters that are not ASCII are percent-encoded, except in the host.
    """
    authority, slash, rest = url.strip().partition("://")[2].partition("/")
    if slash and authority.isascii():
        head = url.strip()[: -len(rest)] if rest else url.strip()
        url = head + "".join(
            character if character.isascii() else quote(character) for character in rest
        )
    target = parse_url(url.strip(), upgrade=True, any_port=True)
    if isinstance(target, UrlFault):
        return failures.denied(url, target.reason, target.message)
    return target.url


@dataclass(frozen=True, slots=True)
class PageRule:
    """Allows the toolset `web` to download any page, if the operator grants the public web.

    It carries no secret, and the sandboxed readers that parse the pages have no network.

    Attributes:
        config: with the grant and the limits.
        by_person: whether one person requests one page, so that `robots.txt` does not apply.
    """

    config: Config
    by_person: bool = False

    def policy(self) -> Policy:
        """Returns the policy; without the grant it refuses everything."""
        granted = [PUBLIC_WEB] if self.config.web.hosts == PUBLIC_WEB else []
        return Policy(
            "web",
            [],
            granted,
            partition="web",
            upstream_rules=builtin_rules(),
            title="",
            public_web=public_web(self.config, robots=not self.by_person),
        )

    def refusal(self, url: str) -> Failure | None:
        """Returns why a page may not be requested; None if it may.

        Args:
            url: from `page_url`.
        """
        target = parse_url(url, any_port=True)
        if isinstance(target, UrlFault):
            return failures.denied(url, target.reason, target.message)
        allowed = self.policy().check("GET", target)
        return allowed if isinstance(allowed, Failure) else None

    def secrets(self) -> tuple[Secret, ...]:
        """Returns none."""
        return ()
