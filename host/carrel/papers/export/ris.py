"""Writes works as RIS. Every value is one line, so that none can hold a tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from carrel.records import Agent, Work

from .citation_keys import citation_keys
from .texts import one_line, page_range

#: CSL type → RIS's.
_TYPES: Final = {
    "article-journal": "JOUR",
    "article-magazine": "MGZN",
    "article-newspaper": "NEWS",
    "article": "UNPB",
    "book": "BOOK",
    "chapter": "CHAP",
    "dataset": "DATA",
    "entry-encyclopedia": "ENCYC",
    "paper-conference": "CPAPER",
    "report": "RPRT",
    "software": "COMP",
    "standard": "STAND",
    "thesis": "THES",
    "webpage": "ELEC",
}


def ris(works: Sequence[Work]) -> str:
    """Returns the works as a RIS file; empty for none."""
    return "\n".join(ris_records(works))


def ris_records(works: Sequence[Work]) -> list[str]:
    """Returns the record of each work; their keys differ."""
    keys = citation_keys(works)
    return [_record(work, key) for work, key in zip(works, keys, strict=True)]


def _record(work: Work, key: str) -> str:
    lines = [f"TY  - {_TYPES.get(work.type, 'GEN')}"]
    for tag, value in _fields(work, key):
        line = one_line(value or "")
        if line:
            lines.append(f"{tag}  - {line}")
    return "\n".join(lines) + "\nER  - \n"


def _fields(work: Work, key: str) -> Iterator[tuple[str, str | None]]:
    yield "ID", key
    yield "TI", f"{work.title}: {work.subtitle}" if work.title and work.subtitle else work.title
    for agent in work.authors:
        yield "AU", _name(agent)
    for agent in work.editors:
        yield "ED", _name(agent)
    if work.issued:
        yield "PY", work.issued[:4]
        yield "DA", f"{work.issued.replace('-', '/')}{'/' * (2 - work.issued.count('-'))}/"
    yield "JO" if work.type == "article-journal" else "T2", work.container_title
    yield "VL", work.volume
    yield "IS", work.issue
    if work.pages:
        first, last = page_range(work.pages)
        yield "SP", first
        yield "EP", last
    yield "M1", None if work.pages else work.article_number
    yield "PB", work.publisher
    for number in (*work.ids.issn, *work.ids.isbn):
        yield "SN", number
    yield "DO", work.ids.doi
    yield "AN", f"arXiv:{work.ids.arxiv}" if work.ids.arxiv else work.ids.pmid
    yield "C2", work.ids.pmcid
    yield "UR", work.url
    yield "LA", work.language
    for subject in work.subjects:
        yield "KW", subject
    yield "AB", work.abstract


def _name(agent: Agent) -> str:
    if agent.literal or not agent.family:
        return agent.literal or agent.given or ""
    return f"{agent.family}, {agent.given}" if agent.given else agent.family
