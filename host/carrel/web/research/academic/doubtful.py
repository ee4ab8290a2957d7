"""Marks papers at addresses that may be imitations of a paper that many works cite."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from carrel.web.research.hosts import is_publisher
from carrel.web.research.words import words_of

#: Citations that the other paper of the same title needs, and how many times as many.
_CITATIONS: Final = 50
_TIMES: Final = 10


def mark_doubtful(papers: list[dict[str, Any]]) -> None:
    """Sets `low_confidence_domain` for papers that are on no publisher's host while another paper
    of the same title has at least 50 citations, and ten times as many.
    """
    by_title: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for paper in papers:
        by_title[tuple(words_of(paper["title"]))].append(paper)
    for same in by_title.values():
        for paper in same:
            own = paper.get("citation_count", 0)
            most = max(
                (namesake.get("citation_count", 0) for namesake in same if namesake is not paper),
                default=0,
            )
            if most >= max(_CITATIONS, _TIMES * own) and not is_publisher(paper["url"]):
                paper["low_confidence_domain"] = True
