"""Names the kind of source that a page is: what it is, how much authority that has, its subject.

Three things decide, in this order: what the page states about itself where it cannot state it for
others (a journal, a discussion), the lists of `sources.toml`, and the usual names of hosts. The
bands say what kind of source it is, never that it is right.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

SOURCE_TYPES: Final = (
    "peer_reviewed", "official_docs", "government", "news_publication", "blog", "forum", "wiki",
    "social_media", "unknown",
)  # fmt: skip
AUTHORITY_TIERS: Final = ("high", "medium", "low")
CATEGORIES: Final = ("academic", "legal", "medical", "financial", "technical", "general")

#: Types of things by schema.org, in lower case → the kind of source.
_TYPES: Final = {
    "scholarlyarticle": "peer_reviewed",
    "medicalscholarlyarticle": "peer_reviewed",
    "newsarticle": "news_publication",
    "reportagenewsarticle": "news_publication",
    "discussionforumposting": "forum",
    "qapage": "forum",
    "blogposting": "blog",
    "apireference": "official_docs",
    "socialmediaposting": "social_media",
}
#: The type of a statement's thing, as in `json-ld NewsArticle.headline`.
_TYPE: Final = re.compile(r"(?:json-ld|microdata) ([A-Za-z]+)\.")
#: Names of programs that make forums, wikis and blogs, in the statement `generator`.
_GENERATORS: Final = (
    ("discourse", "forum"), ("phpbb", "forum"), ("vbulletin", "forum"), ("xenforo", "forum"),
    ("mediawiki", "wiki"), ("dokuwiki", "wiki"), ("ghost", "blog"), ("jekyll", "blog"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageClass:
    """The class of a page as a source.

    Attributes:
        type: one of `SOURCE_TYPES`.
        authority: one of `AUTHORITY_TIERS`.
        category: one of `CATEGORIES`.
    """

    type: str
    authority: str
    category: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the lists."""

    kind: str
    category: str
    authority: str | None


@lru_cache(maxsize=1)
def _data() -> tuple[dict[str, _Entry], list[tuple[re.Pattern[str], _Entry]], dict[str, str]]:
    data = tomllib.loads(files(__package__).joinpath("sources.toml").read_text("utf-8"))
    hosts: dict[str, _Entry] = {}
    for group in data["group"]:
        entry = _Entry(group["kind"], group["category"], group.get("authority"))
        hosts |= dict.fromkeys(group["hosts"], entry)
    names = [
        (re.compile(row["pattern"]), _Entry(row["kind"], row["category"], row.get("authority")))
        for row in data["name"]
    ]
    return hosts, names, data["authority"]


def classify(url: str, document: Mapping[str, Any], *, is_scholarly: bool = False) -> PageClass:
    """Returns the kind of source that a page is.

    Args:
        url: of the page, after redirects.
        document: of its reader; empty for a source that was not read.
        is_scholarly: whether it is the record of a published work.
    """
    hosts, names, bands = _data()
    parts = urlsplit(url)
    host, path = parts.hostname or "", parts.path
    entry = _listed(hosts, host, path) or _named(names, host)
    stated = _stated(document)
    kind = entry.kind if entry is not None else "unknown"
    if is_scholarly or (stated == "peer_reviewed" and (entry is None or _may_publish(entry))):
        kind = "peer_reviewed"
    elif kind == "unknown" and entry is None:
        kind = stated or ("official_docs" if _is_docs(path, document) else "unknown")
    category = entry.category if entry is not None else "general"
    if kind == "peer_reviewed" and category == "general":
        category = "academic"
    if kind == "official_docs" and category == "general":
        category = "technical"
    authority = bands[kind]
    if entry is not None and entry.authority is not None and kind == entry.kind:
        authority = entry.authority
    return PageClass(kind, authority, category)


def _may_publish(entry: _Entry) -> bool:
    """Whether pages of such a site may be articles of journals: not posts, not news."""
    return entry.kind in {"peer_reviewed", "government"} or (
        entry.kind == "unknown" and entry.authority is None
    )


def _listed(hosts: Mapping[str, _Entry], host: str, path: str) -> _Entry | None:
    labels = host.split(".")
    first = path.split("/")[1] if "/" in path else ""
    for start in range(len(labels) - 1):
        name = ".".join(labels[start:])
        found = hosts.get(f"{name}/{first}") or hosts.get(name)
        if found is not None:
            return found
    return None


def _named(names: list[tuple[re.Pattern[str], _Entry]], host: str) -> _Entry | None:
    return next((entry for pattern, entry in names if pattern.fullmatch(host)), None)


def _stated(document: Mapping[str, Any]) -> str | None:
    """Returns the kind of source that a page states."""
    if document.get("kind") == "forum":
        return "forum"
    statements = document.get("metadata", ())
    tags = {str(statement.get("from", "")).lower() for statement in statements}
    if {"meta citation_journal_title", "meta citation_issn"} & tags:
        return "peer_reviewed"
    for statement in statements:
        if statement.get("name") == "generator":
            program = str(statement.get("value", "")).lower()
            for name, kind in _GENERATORS:
                if program.startswith(name):
                    return kind
    for tag in sorted(tags):
        found = _TYPE.match(tag)
        if found is not None and found[1] in _TYPES:
            return _TYPES[found[1]]
    return None


def _is_docs(path: str, document: Mapping[str, Any]) -> bool:
    return document.get("kind") == "documentation" and bool(
        re.match(
            r"/(?:[a-z]{2}(?:-[a-z]{2})?/)?(?:docs?|documentation|reference|manual|api)/", path
        )
    )
