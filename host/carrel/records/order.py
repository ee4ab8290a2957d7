"""Defines the precedence of sources, which is fixed, so that a merge does not depend on order.

1. By field: most fields follow `PRECEDENCE`, abstracts and subjects their own lists, because an
index's abstract is complete, while a registry has only what the publisher deposited. 2. Sources
that are in no list come after those that are, by name. 3. Among records of one source, the newest
version of an e-print, and one without a version (which
   means the newest) first; then by their JSON text, which is arbitrary and always the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from .ids import arxiv_version
from .work import Work

#: Indexes that are made of other sources by machine; they come last for every field.
_DERIVED: Final = ("opencitations", "openalex", "semanticscholar", "unpaywall")

#: Indexes of articles and of books that people made, which come before those.
_INDEXED: Final = ("doaj", "openlibrary", *_DERIVED)

#: The registries that DOIs come from, then the indexes, then the repository, then what others gave.
PRECEDENCE: Final = ("crossref", "datacite", "eutils", "europepmc", "arxiv", *_INDEXED)

#: Sources whose records people made or checked: what two of them identify alike is one work.
PRIMARY: Final = frozenset(PRECEDENCE) - frozenset(_DERIVED)

#: field → precedence of sources, if it differs from `PRECEDENCE`.
BY_FIELD: Final[Mapping[str, tuple[str, ...]]] = {
    "abstract": ("eutils", "europepmc", "arxiv", "datacite", "crossref", *_INDEXED),
    "subjects": ("eutils", "europepmc", "arxiv", "datacite", "crossref", *_INDEXED),
    "ids.arxiv": ("arxiv", "datacite", "crossref", "eutils", "europepmc", *_INDEXED),
    "ids.pmid": ("eutils", "europepmc", "crossref", "datacite", "arxiv", *_INDEXED),
    "ids.pmcid": ("eutils", "europepmc", "crossref", "datacite", "arxiv", *_INDEXED),
}


def source_rank(source: str, field: str = "") -> tuple[int, str]:
    """Returns a source's rank for a field; lower comes first."""
    order = BY_FIELD.get(field, PRECEDENCE)
    return (order.index(source) if source in order else len(order)), source


def record_rank(work: Work, field: str = "") -> tuple[tuple[int, str], float]:
    """Returns a record's rank for a field; lower comes first."""
    version = arxiv_version(work.ids.arxiv) if work.ids.arxiv else None
    newest_first = -float("inf") if version is None else -float(version)
    return source_rank(work.source, field), newest_first


def json_text(work: Work) -> str:
    """Returns the record as canonical JSON text, by which records are compared."""
    return canonical(work.to_json())


def canonical(value: Any) -> str:
    """Returns a JSON value as a text that is the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
