"""Finds what replaces a preprint: the DOI of its publication, or a newer version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from carrel.library.items import custom_of
from carrel.records.ids import arxiv_version, fold_doi, without_version

from .findings import Finding

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.records import MergedWork

#: Prefixes of DOIs of preprint servers.
_PREPRINTS: Final = (
    "10.48550/", "10.1101/", "10.64898/", "10.21203/", "10.31234/", "10.31219/", "10.31235/",
    "10.26434/", "10.20944/", "10.2139/", "10.5281/", "10.36227/", "10.22541/", "10.12688/",
    "10.14293/", "10.35542/", "10.51094/", "10.32388/",
)  # fmt: skip
#: Relations of a preprint to what was published of it, as sources spell them.
_PUBLISHED_AS: Final = frozenset({"is-preprint-of", "ispreprintof", "is-version-of-record"})


def is_preprint_doi(doi: str) -> bool:
    """Returns whether a DOI is one that a preprint server registered."""
    return fold_doi(doi).startswith(_PREPRINTS)


def version_finding(item: Item, merged: MergedWork) -> Finding | None:
    """Returns the newer form of a preprint, with the sources that know it."""
    work = merged.work
    own = str(item.get("DOI") or "")
    arxiv = str(custom_of(item).get("arxiv_id") or "")
    is_preprint = is_preprint_doi(own) if own else bool(arxiv)
    if not is_preprint and work.type not in {"article", "preprint"}:
        return None
    published = [
        (relation.id, record.source)
        for record in merged.records
        for relation in record.relations
        if relation.id_type.lower() == "doi"
        and relation.type.lower().replace("_", "-") in _PUBLISHED_AS
    ]
    published += [
        (record.ids.doi, record.source)
        for record in merged.records
        if record.ids.doi is not None
        and is_preprint
        and not is_preprint_doi(record.ids.doi)
        and fold_doi(record.ids.doi) != fold_doi(own)
    ]
    if published:
        doi = fold_doi(published[0][0])
        sources = tuple(
            dict.fromkeys(source for candidate, source in published if fold_doi(candidate) == doi)
        )
        return Finding(
            "version_changed",
            f"published as {published[0][0]}, according to {', '.join(sources)}",
            sources,
            {"new_doi": published[0][0]},
        )
    return _newer_version(arxiv, merged)


def _newer_version(arxiv: str, merged: MergedWork) -> Finding | None:
    """Returns a newer version of an e-print whose reference names one."""
    own = arxiv_version(arxiv)
    if own is None:
        return None
    newer = [
        (version, record.source)
        for record in merged.records
        if record.ids.arxiv is not None
        and without_version(record.ids.arxiv) == without_version(arxiv)
        and (version := arxiv_version(record.ids.arxiv)) is not None
        and version > own
    ]
    if not newer:
        return None
    version, source = max(newer)
    name = f"{without_version(arxiv)}v{version}"
    return Finding(
        "version_changed",
        f"a newer version is {name}, according to {source}",
        (source,),
        {"new_version": name},
    )
