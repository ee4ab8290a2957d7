"""Converts between the record of a work and the entry of the paper store.

The store's format has one text for each author and Crossref's words for types. What it has no name
for is in the table `[carrel]`: family names, the whole date, identifiers of further registries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from carrel.records import Agent, Id, IdFault, Ids, Work, parse_id

from .entry import PaperEntry

#: CSL type → Crossref's.
_TYPES: Final[Mapping[str, str]] = {
    "article-journal": "journal-article",
    "article-magazine": "journal-article",
    "article-newspaper": "journal-article",
    "article": "posted-content",
    "book": "book",
    "chapter": "book-chapter",
    "dataset": "dataset",
    "entry-encyclopedia": "reference-entry",
    "paper-conference": "proceedings-article",
    "report": "report",
    "review": "peer-review",
    "standard": "standard",
    "thesis": "dissertation",
}
#: CSL types that Crossref's words do not distinguish from articles in journals.
_NEWS: Final = frozenset({"article-magazine", "article-newspaper"})
#: Crossref's type → CSL's.
_CSL_TYPES: Final[Mapping[str, str]] = {
    **{theirs: ours for ours, theirs in _TYPES.items() if ours not in _NEWS},
    "book-part": "chapter",
    "book-section": "chapter",
    "edited-book": "book",
    "monograph": "book",
    "preprint": "article",
    "proceedings": "book",
    "reference-book": "book",
}
_OTHER, _CSL_OTHER = "other", "document"

_ISSUED = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_ISSN = re.compile(r"\d{4}-\d{3}[\dX]")
_ISBN = re.compile(r"\d{9}[\dX]|\d{13}")
#: Words of organisations, which have no family name.
_ORGANISATION = re.compile(
    r"\b(?:collaboration|consortium|committee|group|team|network|initiative|project|society"
    r"|association|institute|university|organi[sz]ation|investigators|partnership)\b",
    re.IGNORECASE,
)
#: Words between given and family name that belong to the latter.
_PARTICLES: Final = frozenset({
    "af", "al", "ben", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos",
    "du", "el", "la", "le", "ten", "ter", "van", "vom", "von", "zu", "zum", "zur",
})  # fmt: skip


def entry_of(work: Work, *, fetched: Mapping[str, Any] | None = None) -> PaperEntry:
    """Returns the entry that says of a work what its record says.

    Args:
        work: the record.
        fetched: members of the table `[doiget]`, such as `source` and `license`.
    """
    own: dict[str, Any] = {}
    for name in ("pmid", "pmcid", "openalex", "s2"):
        value = getattr(work.ids, name)
        if value:
            own[name] = value
    if work.issued and len(work.issued) > 4:
        own["issued"] = work.issued
    if work.language:
        own["language"] = work.language
    if work.article_number:
        own["article_number"] = work.article_number
    if work.authors:
        own["families"] = [agent.family or "" for agent in work.authors]
    table = dict(fetched or {})
    if work.oa_status and "oa_status" not in table:
        table["oa_status"] = work.oa_status
    title = work.title or ""
    return PaperEntry(
        title=f"{title}: {work.subtitle}" if work.subtitle else title,
        authors=tuple(_name(agent) for agent in work.authors),
        year=int(work.issued[:4]) if work.issued else None,
        doi=work.ids.doi,
        arxiv_id=work.ids.arxiv,
        arxiv_categories=work.subjects if work.source == "arxiv" else (),
        abstract=work.abstract,
        venue=work.container_title,
        volume=work.volume,
        issue=work.issue,
        pages=work.pages or work.article_number,
        keywords=() if work.source == "arxiv" else work.subjects,
        type=_TYPES.get(work.type, _OTHER),
        publisher=work.publisher,
        issn=next(iter(work.ids.issn), None),
        isbn=next(iter(work.ids.isbn), None),
        url=work.url,
        fetched=table,
        own=own,
    )


def work_of(entry: PaperEntry) -> Work:
    """Returns the record of a paper, made from its entry."""
    own = entry.own
    issued = own.get("issued")
    if not (isinstance(issued, str) and _ISSUED.fullmatch(issued)):
        issued = f"{entry.year:04}" if entry.year is not None and 0 < entry.year < 10_000 else None
    elif entry.year is not None and int(issued[:4]) != entry.year:
        issued = f"{entry.year:04}"
    return Work(
        ids=_ids(entry),
        type=_CSL_TYPES.get(entry.type or "", _CSL_OTHER),
        source_type=entry.type or None,
        title=entry.title or None,
        abstract=entry.abstract or None,
        authors=tuple(_authors(entry)),
        container_title=entry.venue or None,
        publisher=entry.publisher or None,
        issued=issued,
        volume=entry.volume or None,
        issue=entry.issue or None,
        pages=entry.pages if entry.pages and entry.pages != own.get("article_number") else None,
        article_number=_text(own, "article_number"),
        language=_text(own, "language"),
        subjects=tuple(
            subject for subject in (*entry.arxiv_categories, *entry.keywords) if subject
        ),
        url=entry.url or None,
        oa_status=_text(entry.fetched, "oa_status"),
        source=_text(entry.fetched, "source") or "unknown",
    )


def _ids(entry: PaperEntry) -> Ids:
    found: dict[str, Any] = {identifier.type: identifier.id for identifier in reversed(entry.ids)}
    # arXiv's own DOI is an arXiv identifier to us, and is exported as it is stored.
    if entry.doi and "doi" not in found and entry.doi.lower().startswith("10.48550/"):
        found["doi"] = entry.doi
    for name in ("openalex", "s2"):
        if value := _text(entry.own, name):
            found[name] = value
    return Ids(
        **found,
        issn=(entry.issn,) if entry.issn and _ISSN.fullmatch(entry.issn) else (),
        isbn=(entry.isbn,) if entry.isbn and _ISBN.fullmatch(entry.isbn) else (),
    )


def _name(agent: Agent) -> str:
    if agent.literal:
        return agent.literal
    return " ".join(part for part in (agent.given, agent.family) if part)


def _authors(entry: PaperEntry) -> list[Agent]:
    families = entry.own.get("families")
    if not isinstance(families, list | tuple) or len(families) != len(entry.authors):
        families = [None] * len(entry.authors)
    return [
        _agent(name, family)
        for name, family in zip(entry.authors, families, strict=True)
        if name.strip()
    ]


def _agent(name: str, family: object) -> Agent:
    """Returns an author by family and given name, or as a literal if it has no family name.

    Args:
        name: as the entry has it.
        family: the family name that its source gave; '' for none, None if it is not known.
    """
    name = " ".join(name.split())
    if isinstance(family, str):
        if not family:
            return Agent(literal=name)
        if name == family or name.endswith(f" {family}"):
            return Agent(family=family, given=name[: -len(family)].strip() or None)
    if _ORGANISATION.search(name):
        return Agent(literal=name)
    before, comma, after = name.partition(",")
    if comma and after.strip():
        return Agent(family=before.strip(), given=after.strip())
    words = name.split()
    if len(words) < 2:
        return Agent(literal=name)
    start = len(words) - 1
    while start > 1 and words[start - 1] in _PARTICLES:
        start -= 1
    return Agent(family=" ".join(words[start:]), given=" ".join(words[:start]))


def _text(table: Mapping[str, Any], name: str) -> str | None:
    value = table.get(name)
    return value if isinstance(value, str) and value else None


def reference_of(work: Work) -> Id | None:
    """Returns the identifier to store a work under: DOI, else arXiv, else PMID, else PMCID."""
    for text in (work.ids.doi, work.ids.arxiv, work.ids.pmid, work.ids.pmcid):
        if text:
            try:
                return parse_id(text)
            except IdFault:
                continue
    return None
