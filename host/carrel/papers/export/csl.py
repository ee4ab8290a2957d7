"""Writes works as CSL-JSON, version 1.0.2 of its schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from carrel.records import Agent, Work

from .citation_keys import citation_keys
from .texts import one_line

#: Member of a work → CSL's variable.
_VARIABLES: Final = {
    "container_title": "container-title",
    "publisher": "publisher",
    "volume": "volume",
    "issue": "issue",
    "pages": "page",
    "article_number": "number",
    "language": "language",
    "url": "URL",
    "abstract": "abstract",
}


def csl_json(works: Sequence[Work]) -> str:
    """Returns the works as a CSL-JSON file: a list, empty for none."""
    return json.dumps(csl_items(works), ensure_ascii=False, indent=2) + "\n"


def csl_items(works: Sequence[Work]) -> list[dict[str, Any]]:
    """Returns the works as CSL's items."""
    keys = citation_keys(works)
    return [_item(work, key) for work, key in zip(works, keys, strict=True)]


def _item(work: Work, key: str) -> dict[str, Any]:
    item: dict[str, Any] = {"id": key, "type": work.type}
    title = f"{work.title}: {work.subtitle}" if work.title and work.subtitle else work.title
    if title:
        item["title"] = one_line(title)
    for name, agents in (("author", work.authors), ("editor", work.editors)):
        if agents:
            item[name] = [_name(agent) for agent in agents]
    if work.issued:
        item["issued"] = {"date-parts": [[int(part) for part in work.issued.split("-")]]}
    for name, variable in _VARIABLES.items():
        value = getattr(work, name)
        if value:
            item[variable] = one_line(value)
    return item | _identifiers(work)


def _identifiers(work: Work) -> dict[str, str]:
    ids = work.ids
    told = {
        "DOI": ids.doi,
        "PMID": ids.pmid,
        "PMCID": ids.pmcid,
        "archive": "arXiv" if ids.arxiv else None,
        "archive_location": ids.arxiv,
        "ISSN": ", ".join(ids.issn),
        "ISBN": ", ".join(ids.isbn),
        "keyword": ", ".join(work.subjects),
    }
    return {key: one_line(value) for key, value in told.items() if value}


def _name(agent: Agent) -> dict[str, str]:
    if agent.literal or not agent.family:
        return {"literal": one_line(agent.literal or agent.given or "")}
    told = {"family": one_line(agent.family)}
    return {**told, "given": one_line(agent.given)} if agent.given else told
