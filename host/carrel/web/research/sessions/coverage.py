"""Describes the sources of a session, and suggests queries for what is missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from carrel.web.research.hosts import host_of

if TYPE_CHECKING:
    from .session import ResearchSession

#: Sources below which coverage is thin, and the share of one host above which it is one-sided.
_FEW: Final = 3
_ONE_SIDED: Final = 0.6
#: Suggestions in all, and the queries that `thorough` runs.
_MOST: Final = 8
RUN_QUERIES: Final = 3
#: The longest query.
_LONGEST: Final = 200


def coverage_of(session: ResearchSession) -> dict[str, Any]:
    """Returns how the sources of a session are spread. It describes, and answers nothing."""
    hosts = Counter(host_of(source.url) for source in session.sources if host_of(source.url))
    total = len(session.sources)
    coverage: dict[str, Any] = {
        "source_count": total,
        "unique_domains": len(hosts),
        "domain_spread": round(len(hosts) / total, 3) if total else 0.0,
        "source_types": dict(
            sorted(Counter(source.kind or "unknown" for source in session.sources).items())
        ),
        "gaps": [],
    }
    if total < _FEW:
        coverage["gaps"].append(f"few sources: {total}")
    if hosts:
        host, count = max(hosts.items(), key=lambda item: (item[1], item[0]))
        if total >= _FEW and count / total > _ONE_SIDED:
            coverage["dominant_domain"] = host
            coverage["gaps"].append(f"one-sided: {count} of {total} sources are from {host}")
    if total >= _FEW and set(coverage["source_types"]) == {"unknown"}:
        coverage["gaps"].append("no source is known to be peer-reviewed, official or government")
    if total and "peer_reviewed" not in coverage["source_types"]:
        coverage["gaps"].append("no peer-reviewed source")
    return coverage


def suggested_queries(session: ResearchSession, coverage: dict[str, Any]) -> list[str]:
    """Returns queries for the known gaps first, then for what the coverage lacks."""
    goal = " ".join(session.goal.split())
    queries = [" ".join(gap.description.split()) for gap in reversed(session.gaps)]
    if goal:
        if coverage["source_count"] < _FEW:
            queries += [goal, f"{goal} review"]
        if "dominant_domain" in coverage:
            queries.append(f"{goal} -site:{coverage['dominant_domain']}")
        if "peer_reviewed" not in coverage["source_types"]:
            queries.append(f"{goal} study")
    return [query[:_LONGEST] for query in dict.fromkeys(queries) if query][:_MOST]
