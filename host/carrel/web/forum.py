"""Says how a post was received: votes, comments, its date and author."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from carrel.text.printable import printable

from .metadata import published, shown_name

#: Votes below which their number says little.
_FEW: Final = 20
#: A host's name and those below it → the platform.
_PLATFORMS: Final = {
    "reddit.com": "reddit",
    "news.ycombinator.com": "hackernews",
    "stackoverflow.com": "stackexchange",
    "stackexchange.com": "stackexchange",
    "superuser.com": "stackexchange",
    "serverfault.com": "stackexchange",
    "askubuntu.com": "stackexchange",
    "mathoverflow.net": "stackexchange",
    "lobste.rs": "lobsters",
}
#: Kinds of interaction, and counts, of schema.org → the member of an answer.
_ACTIONS: Final = {"likeaction": "upvotes", "voteaction": "upvotes", "commentaction": "comments"}
_COUNTS: Final = {"upvotecount": "upvotes", "commentcount": "comments", "answercount": "comments"}
_KINDS: Final = re.compile(r"json-ld (?:DiscussionForumPosting|SocialMediaPosting|Question)\.")


def forum_signals(
    document: Mapping[str, Any], url: str, stated: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Returns how a post was received; None if the page is not one, or says nothing.

    Args:
        document: of the page's reader.
        url: the page's address.
        stated: what the plugin for the site says; None if the page itself was read.
    """
    found = _of_plugin(stated) if stated is not None else _of_page(document, url)
    if found is None:
        return None
    if found.get("upvotes", _FEW) < _FEW:
        found["credibility_note"] = (
            f"fewer than {_FEW} votes: a handful of accounts can decide such a number"
        )
    return found


def _of_plugin(stated: Mapping[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] = {"platform": printable(str(stated.get("platform", "")), 50)}
    for name in ("upvotes", "comments"):
        value = stated.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            found[name] = value
    for name in ("date_published", "author_name"):
        value = stated.get(name)
        if isinstance(value, str) and value:
            found[name] = printable(value, 200)
    return found if found["platform"] else None


def _of_page(document: Mapping[str, Any], url: str) -> dict[str, Any] | None:
    """Returns what a page's JSON-LD states by schema.org's `interactionStatistic`."""
    statements = [
        statement
        for statement in document.get("metadata", ())
        if _KINDS.match(str(statement.get("from", "")))
    ]
    if not statements:
        return None
    found: dict[str, Any] = {"platform": _platform(url), **_counts(statements)}
    if len(found) == 1:
        return None
    date = published(document)
    if date:
        found["date_published"] = date
    authors = [name for author in document.get("authors", ()) if (name := shown_name(author))]
    if authors:
        found["author_name"] = authors[0]
    return found


def _counts(statements: list[Mapping[str, Any]]) -> dict[str, int]:
    """Returns votes and comments: of a post itself, not of its comments."""
    counts: dict[str, int] = {}
    kind = ""
    for statement in statements:
        path, value = str(statement["from"]).lower(), str(statement.get("value", ""))
        depth, name = path.count("."), path.rsplit(".", 1)[-1]
        if name == "interactiontype":
            kind = value.rsplit("/", 1)[-1].lower()
        elif not (value.isascii() and value.isdigit()):
            continue
        elif name == "userinteractioncount" and depth == 2 and kind in _ACTIONS:
            counts.setdefault(_ACTIONS[kind], int(value[:15]))
        elif depth == 1 and name in _COUNTS:
            counts.setdefault(_COUNTS[name], int(value[:15]))
    return counts


def _platform(url: str) -> str:
    host = urlsplit(url).hostname or ""
    for name, platform in _PLATFORMS.items():
        if host == name or host.endswith(f".{name}"):
            return platform
    return host.removeprefix("www.")
