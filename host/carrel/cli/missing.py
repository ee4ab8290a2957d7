"""Finds the requested identifiers that no source has, from a call's result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from carrel.text.printable import printable

#: Members that list such identifiers, each with its reason.
_MEMBERS = {
    "not_found_pmids": "not found",
    "not_found": "not found",
    "invalid": "not an identifier",
}


class Missing(NamedTuple):
    """The identifiers that were not found.

    Attributes:
        reasons: each identifier with the reason, in the result's order.
        is_all: whether none was found.
    """

    reasons: list[tuple[str, str]]
    is_all: bool


def find_missing(result: Mapping[str, Any]) -> Missing:
    """Returns what a result lists as missing; empty for other results."""
    missing = [
        (str(identifier), reason)
        for member, reason in _MEMBERS.items()
        for identifier in _texts(result.get(member))
    ]
    items = [item for item in _objects(result.get("items")) if {"given", "outcome"} <= item.keys()]
    if items:  # of `work_lookup`
        lost = [item for item in items if item["outcome"] != "found"]
        missing += [(str(item["given"]), why_not_found(item)) for item in lost]
        return Missing(missing, len(lost) == len(items))
    # The page of a list can be empty where other pages are not.
    found = result.get("total_results") or any(_objects(value) for value in result.values())
    return Missing(missing, is_all=bool(missing) and not found)


def why_not_found(item: Mapping[str, Any]) -> str:
    """Returns why a lookup did not find a work, in one line."""
    error = item.get("error")
    if isinstance(error, dict):
        return printable(str(error.get("message")), 500)
    if item["outcome"] == "not_asked":
        return "no source on offer resolves it"
    steps = [step for step in _objects(item.get("trace")) if step.get("outcome") == "not_found"]
    sources = dict.fromkeys(str(step.get("source")) for step in steps)
    return f"not found by {', '.join(sources)}" if sources else "not found"


def _texts(value: object) -> list[object]:
    return (
        [item for item in value if isinstance(item, (str, int))] if isinstance(value, list) else []
    )


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
