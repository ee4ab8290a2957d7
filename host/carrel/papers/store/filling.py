"""Combines a new record of a paper with the one that is stored: fills gaps, overwrites nothing.

A reserved member that has a value keeps it. The table `[doiget]` describes the stored PDF: once
there is one, records that come without a PDF only fill its gaps. A person's tags, collections and
annotation, and everything that this version does not know, are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .entry import RESERVED, PaperEntry

#: Members of `[doiget]` that a person writes.
_PERSONS: Final = ("tags", "collections", "annotation")
#: What `license` says when no source knew it: no answer, so it replaces none.
UNKNOWN_LICENSE: Final = "unknown"
#: Members of `[carrel]` that describe the stored PDF.
_OF_THE_PDF: Final = ("sha256", "copy_url", "version")


def filled(stored: PaperEntry, new: PaperEntry, *, with_pdf: bool) -> PaperEntry:
    """Returns the stored entry with its gaps filled from `new`.

    Args:
        stored: the entry in the store.
        new: what a source says now.
        with_pdf: whether a PDF is stored together with `new`, so that it describes the PDF.
    """
    with_pdf = with_pdf or stored.pdf_path is None
    members = {
        name: getattr(new, name)
        for name in RESERVED
        if name != "schema_version"
        and _is_gap(getattr(stored, name))
        and not _is_gap(getattr(new, name))
    }
    return stored.changed(
        **members,
        fetched=_fetched(stored.fetched, new.fetched, with_pdf=with_pdf),
        own=_own(stored.own, new.own, with_pdf=with_pdf),
        others={**new.others, **stored.others},
    )


def _fetched(
    stored: Mapping[str, Any], new: Mapping[str, Any], *, with_pdf: bool
) -> dict[str, Any]:
    if not with_pdf:
        present = {key: value for key, value in stored.items() if not _is_gap(value)}
        if present.get("license") == UNKNOWN_LICENSE and not _is_gap(new.get("license")):
            del present["license"]
        return {**stored, **new, **present}
    merged = {**stored, **new}
    if new.get("license", UNKNOWN_LICENSE) == UNKNOWN_LICENSE and not _is_gap(
        stored.get("license")
    ):
        merged["license"] = stored["license"]
    for name in _PERSONS:
        if not _is_gap(stored.get(name)):
            merged[name] = stored[name]
    return merged


def _own(stored: Mapping[str, Any], new: Mapping[str, Any], *, with_pdf: bool) -> dict[str, Any]:
    if not with_pdf:
        return {**new, **stored}
    of_the_pdf = {name: new[name] for name in _OF_THE_PDF if name in new}
    rest = {key: value for key, value in stored.items() if key not in _OF_THE_PDF}
    return {**new, **rest, **of_the_pdf}


def _is_gap(value: Any) -> bool:
    """Returns whether a member has no value; doiget's own example writes an unknown one as ''."""
    return value is None or (isinstance(value, str | tuple | list) and len(value) == 0)
