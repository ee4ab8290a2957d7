"""Reads members of CSL-JSON items for people and models: names, year, one-line descriptions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from carrel.bibliography import Item

#: Authors of a reference that a list shows.
_SHOWN_AUTHORS: Final = 5
#: Members of an item that a list shows as they are.
_PLAIN: Final = ("id", "type", "title", "container-title", "DOI", "PMID", "PMCID", "ISBN")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")


def custom_of(item: Item) -> dict[str, Any]:
    """Returns the block `custom`, empty if there is none."""
    custom = item.get("custom")
    return custom if isinstance(custom, dict) else {}


def year_of(item: Item, name: str = "issued") -> int | None:
    """Returns the year of a date variable."""
    date = item.get(name)
    if not isinstance(date, dict):
        return None
    parts = date.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        year = parts[0][0]
        if isinstance(year, int) and not isinstance(year, bool):
            return year
        if isinstance(year, str) and year.strip().lstrip("-").isdigit():
            return int(year)
    found = _YEAR.search(str(date.get("literal") or date.get("raw") or ""))
    return int(found[0]) if found else None


def name_of(person: object) -> str:
    """Returns a name as `Family, Given`."""
    if not isinstance(person, dict):
        return ""
    family = " ".join(
        str(person[name]) for name in ("non-dropping-particle", "family") if person.get(name)
    )
    if not family:
        return str(person.get("literal") or person.get("given") or "")
    given = " ".join(
        str(person[name]) for name in ("given", "dropping-particle") if person.get(name)
    )
    suffix = f", {person['suffix']}" if person.get("suffix") else ""
    return f"{family}, {given}{suffix}" if given else family


def names_of(item: Item, name: str = "author") -> list[str]:
    """Returns the names of a name variable."""
    people = item.get(name)
    return [text for text in map(name_of, people) if text] if isinstance(people, list) else []


def tags_of(item: Item) -> list[str]:
    """Returns the tags."""
    tags = custom_of(item).get("tags")
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def short(item: Item) -> dict[str, Any]:
    """Returns what a list shows of a reference."""
    summary: dict[str, Any] = {
        name: str(item[name]) for name in _PLAIN if isinstance(item.get(name), str | int)
    }
    summary.setdefault("id", "")
    authors = names_of(item) or names_of(item, "editor")
    if authors:
        more = len(authors) - _SHOWN_AUTHORS
        summary["authors"] = authors[:_SHOWN_AUTHORS] + ([f"and {more} more"] if more > 0 else [])
    year = year_of(item)
    if year is not None:
        summary["year"] = year
    arxiv = custom_of(item).get("arxiv_id")
    if isinstance(arxiv, str) and arxiv:
        summary["arxiv"] = arxiv
    tags = tags_of(item)
    if tags:
        summary["tags"] = tags
    if is_superseded(item):
        summary["superseded"] = True
    status = check_status(item)
    if status not in {None, "ok"}:
        summary["check"] = status
    return summary


def is_superseded(item: Item) -> bool:
    """Returns whether another reference replaces this one."""
    return bool(custom_of(item).get("superseded_by"))


def check_status(item: Item) -> str | None:
    """Returns the status that the last check found; None before the first."""
    check = custom_of(item).get("check")
    status = check.get("status") if isinstance(check, dict) else None
    return status if isinstance(status, str) else None


def described(item: Item) -> str:
    """Returns one line that names a reference to a person."""
    authors = names_of(item) or names_of(item, "editor")
    first = authors[0].split(",")[0] + (" et al." if len(authors) > 1 else "") if authors else ""
    year = year_of(item)
    parts = (first, f"({year})" if year is not None else "", str(item.get("title") or "untitled"))
    return " ".join(part for part in parts if part)
