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
    """Returns what a result says is missing; of another result, nothing."""
    missing = [
        (str(identifier), reason)
        for member, reason in _MEMBERS.items()
        for identifier in _texts(result.get(member))
    ]
    items = [one for one in _objects(result.get("items")) if {"given", "outcome"} <= one.keys()]
    if items:  # of `work_lookup`
        lost = [one for one in items if one["outcome"] != "found"]
        missing += [(str(one["given"]), why_not_found(one)) for one in lost]
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
    asked = dict.fromkeys(str(step.get("source")) for step in steps)
    return f"not found by {', '.join(asked)}" if asked else "not found"


def _texts(value: object) -> list[object]:
    return [one for one in value if isinstance(one, (str, int))] if isinstance(value, list) else []


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
