"""The hosts that copies of papers are downloaded from, one list for each kind of copy.

The lists are static, in `host_lists.toml`: what a source names as a copy is downloaded only from a
host that is listed there or that the operator added, and every redirect is checked against the same
list.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal

from carrel.plugins.grants.downloads import AttachedKey, DownloadRule, covers

if TYPE_CHECKING:
    from carrel.config import Config

ListKey = Literal["arxiv", "oa-repository", "oa-publisher"]
KEYS: Final[tuple[ListKey, ...]] = ("arxiv", "oa-repository", "oa-publisher")

#: All downloads together: five a second and five at once.
GLOBAL_PER_SECOND: Final = 5.0
GAP_SECONDS: Final = 1 / GLOBAL_PER_SECOND
AT_ONCE: Final = 5
#: The name of the bucket, and of the partition whose connections and circuits downloads share.
PARTITION: Final = "papers"


@lru_cache(maxsize=1)
def _lists() -> dict[str, tuple[str, ...]]:
    data = files(__package__).joinpath("host_lists.toml").read_text("utf-8")
    return {key: tuple(names) for key, names in tomllib.loads(data).items()}


def hosts_of(key: ListKey, config: Config) -> tuple[str, ...]:
    """Returns the entries of a list, with what the operator added."""
    papers = config.papers
    added = {"oa-repository": papers.repository_hosts, "oa-publisher": papers.publisher_hosts}
    return (*_lists()[key], *added.get(key, ()))


def list_of(host: str, config: Config, stated: str | None = None) -> ListKey | None:
    """Returns the list that covers a host; the stated kind of copy decides for resolvers.

    Args:
        host: of a copy's address.
        config: with the operator's hosts.
        stated: `repository` or `publisher`, as a source says.
    """
    if host in _lists()["resolvers"]:
        return "oa-repository" if stated == "repository" else "oa-publisher"
    for key in KEYS:
        if any(covers(entry, host) for entry in hosts_of(key, config)):
            return key
    return None


def is_blocked(host: str) -> bool:
    """Whether a host is on the block list, or a name below one of them."""
    return any(host == name or host.endswith(f".{name}") for name in _lists()["blocked"])


def rule_of(name: str, hosts: Iterable[str], key: AttachedKey | None = None) -> DownloadRule:
    """Returns the rule of downloads from some hosts; all downloads share one pace.

    Args:
        name: of the kind of copy.
        hosts: of the copies; those that only redirect are added, blocked ones left out.
        key: of a publisher's interface.
    """
    names = dict.fromkeys((*_lists()["resolvers"], *hosts))
    return DownloadRule(
        name,
        "the downloads of papers",
        PARTITION,
        tuple(host for host in names if not is_blocked(host)),
        GAP_SECONDS,
        AT_ONCE,
        key,
    )
