"""Makes a document of the record of a work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from carrel.records import Work

#: Copies that are free to read and are listed.
_MOST_COPIES: Final = 5


def record_document(work: Work, source: str) -> dict[str, Any]:
    """Returns a document with the record's facts and its abstract.

    Args:
        work: the record.
        source: where it is from, for the statements.
    """
    ids = work.ids.to_json()
    document: dict[str, Any] = {
        "kind": "record",
        "title": work.title,
        "authors": [_person(author) for author in work.authors],
        "language": work.language,
        "identifiers": {
            name: ids[name] for name in ("doi", "arxiv", "pmid", "pmcid", "isbn") if ids.get(name)
        },
        "metadata": [
            {"name": name, "value": value, "from": f"{source} {name}"}
            for name, value in _statements(work)
        ],
        "sections": [_facts(work)],
        "links": [{"href": link.url} for link in work.links],
        "warnings": [
            {
                "code": "record",
                "message": "this is the work's record and abstract; paper_read reads its text",
            }
        ],
        "quality": "partial",
        "quality_reason": "metadata_only",
    }
    if work.abstract:
        paragraphs = [part.strip() for part in work.abstract.split("\n\n") if part.strip()]
        blocks = [{"kind": "paragraph", "text": part} for part in paragraphs]
        document["abstract"] = "\n\n".join(paragraphs)
        document["abstracts"] = [{"sections": [{"level": 1, "blocks": blocks}]}]
    return {name: value for name, value in document.items() if value or name == "identifiers"}


def _person(agent: Any) -> dict[str, Any]:
    members = agent.to_json()
    names = ("family", "given", "literal", "orcid", "affiliations")
    return {name: members[name] for name in names if members.get(name)}


def _statements(work: Work) -> Iterator[tuple[str, str]]:
    stated = {
        "type": work.type,
        "published": work.issued,
        "journal": work.container_title,
        "publisher": work.publisher,
        "volume": work.volume,
        "issue": work.issue,
        "pages": work.pages,
        "url": work.url,
    }
    yield from ((name, value) for name, value in stated.items() if value)


def _facts(work: Work) -> dict[str, Any]:
    words = {name: value for name, value in _statements(work) if name != "url"}
    items = [f"{name.capitalize()}: {value}" for name, value in words.items()]
    items += [
        f"{kind.upper() if kind != 'arxiv' else 'arXiv'}: {value}"
        for kind, value in work.ids.to_json().items()
        if isinstance(value, str)
    ]
    if work.subjects:
        items.append(f"Subjects: {', '.join(work.subjects[:20])}")
    if work.cited_by_count is not None:
        items.append(f"Cited by: {work.cited_by_count}")
    items += [f"Free to read: {copy.url}" for copy in work.open_copies[:_MOST_COPIES]]
    block = {"kind": "list", "items": [{"text": " ".join(item.split())} for item in items]}
    return {"level": 1, "heading": "Record", "blocks": [block]}
