"""Compares the metadata of a reference with that of the sources.

Titles or authors that are not alike mean that the identifier is another work's; otherwise members
that differ, or that only the sources have, are outdated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from carrel.bibliography import item_from_work
from carrel.library.items import names_of, year_of

from .findings import Finding
from .similarity import authors_alike, same_text, titles_alike
from .versions import is_preprint_doi

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.records import MergedWork

#: CSL variable → the field of a record that it comes from. Only members that a citation prints.
_COMPARED: Final = {
    "title": "title",
    "container-title": "container_title",
    "volume": "volume",
    "issue": "issue",
    "page": "pages",
    "DOI": "ids.doi",
}
#: Other dashes → the hyphen.
_DASHES: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))


def drift_finding(item: Item, merged: MergedWork) -> Finding | None:
    """Returns what differs, with both values and the sources that state the other."""
    theirs = item_from_work(merged.work)
    mismatch = _mismatch(item, theirs, merged)
    if mismatch is not None:
        return mismatch
    fields: list[dict[str, Any]] = []
    for name, field in _COMPARED.items():
        own, stated = item.get(name), theirs.get(name)
        if stated is None or _agrees(name, own, stated):
            continue
        fields.append(_difference(name, own, stated, merged, field))
    own_year, stated_year = year_of(item), year_of(theirs)
    if stated_year is not None and own_year != stated_year:
        fields.append(_difference("issued", own_year, stated_year, merged, "issued"))
    if not fields:
        return None
    names = ", ".join(difference["field"] for difference in fields)
    sources = tuple(dict.fromkeys(name for difference in fields for name in difference["sources"]))
    return Finding(
        "metadata_outdated",
        f"other values at {', '.join(sources)}: {names}",
        sources,
        {"updated_fields": [difference["field"] for difference in fields], "fields": fields},
    )


def _mismatch(item: Item, theirs: Item, merged: MergedWork) -> Finding | None:
    differing = []
    if not titles_alike(str(item.get("title") or ""), str(theirs.get("title") or "")):
        differing.append(_difference("title", item["title"], theirs["title"], merged, "title"))
    own, stated = names_of(item), names_of(theirs)
    if not authors_alike(own, stated):
        differing.append(_difference("author", own[:10], stated[:10], merged, "authors"))
    if not differing:
        return None
    names = " and ".join(difference["field"] for difference in differing)
    sources = tuple(
        dict.fromkeys(name for difference in differing for name in difference["sources"])
    )
    return Finding(
        "metadata_mismatch",
        f"the identifier is that of another work: {names} differ from {', '.join(sources)}",
        sources,
        {"fields": differing},
    )


def _agrees(name: str, own: object, stated: object) -> bool:
    """Returns whether a member needs no change."""
    if own in (None, ""):
        # A reference may leave out what its writer does not want; but a preprint that was
        # published lacks its journal.
        return name == "title"
    if name == "DOI":
        # A preprint's DOI beside the publication's is a version, which is found elsewhere.
        return str(own).lower() == str(stated).lower() or is_preprint_doi(str(own))
    if name == "page":
        return _pages(own) == _pages(stated)
    return same_text(own, stated)


def _pages(value: object) -> tuple[str, str]:
    """Returns first and last page; `123-8` is `123-128`."""
    text = "".join(str(value).translate(_DASHES).split())
    first, _, last = text.partition("-")
    last = last.lstrip("-") or first
    if first.isdigit() and last.isdigit() and len(last) < len(first):
        last = first[: len(first) - len(last)] + last
    return first, last


def _difference(
    name: str, own: object, stated: object, merged: MergedWork, field: str
) -> dict[str, Any]:
    difference: dict[str, Any] = {"field": name, "theirs": stated}
    if own not in (None, ""):
        difference["yours"] = own
    difference["sources"] = list(merged.provenance.get(field, merged.sources))
    return difference
