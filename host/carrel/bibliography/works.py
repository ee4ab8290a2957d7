"""Makes items of works."""

from __future__ import annotations

from typing import Final

from carrel.records import Agent, Work

from .item import Item
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


def item_from_work(work: Work, key: str | None = None) -> Item:
    """Returns a work as a CSL-JSON item.

    Args:
        work: from a plugin or from the store of papers.
        key: its `id`; by default the work's first identifier.
    """
    first = next((identifier.folded for identifier in work.ids.known()), "")
    item: Item = {"id": key or first, "type": work.type}
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
    variables = {
        "DOI": ids.doi,
        "PMID": ids.pmid,
        "PMCID": ids.pmcid,
        "archive": "arXiv" if ids.arxiv else None,
        "archive_location": ids.arxiv,
        "ISSN": ", ".join(ids.issn),
        "ISBN": ", ".join(ids.isbn),
        "keyword": ", ".join(work.subjects),
    }
    return {key: one_line(value) for key, value in variables.items() if value}


def _name(agent: Agent) -> dict[str, str]:
    if agent.literal or not agent.family:
        return {"literal": one_line(agent.literal or agent.given or "")}
    name = {"family": one_line(agent.family)}
    return {**name, "given": one_line(agent.given)} if agent.given else name
