"""Defines what a search asks, and which works satisfy its filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import RoleSpec
    from carrel.records import Work

#: Works that a search returns.
DEFAULT_LIMIT: Final = 25
MAX_LIMIT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search for works.

    Attributes:
        query: words, in no query language of a source.
        limit: works wanted, 1 to `MAX_LIMIT`.
        year_from: first year of publication.
        year_to: last year of publication.
        open_access: only works that are free to read.
        sources: names or namespaces of the only plugins to ask; None asks all.
    """

    query: str
    limit: int = DEFAULT_LIMIT
    year_from: int | None = None
    year_to: int | None = None
    open_access: bool = False
    sources: tuple[str, ...] | None = None

    def arguments(self, spec: RoleSpec) -> dict[str, Any]:
        """Returns the arguments for one source: only the filters that it applies itself.

        A source that lacks a filter is asked for as many works as it gives, because the host drops
        some of them.
        """
        most = spec.most if spec.most is not None else self.limit
        arguments: dict[str, Any] = {"query": self.query, "limit": min(self.limit, most)}
        if "year" in spec.filters:
            if self.year_from is not None:
                arguments["year_from"] = self.year_from
            if self.year_to is not None:
                arguments["year_to"] = self.year_to
        elif self.year_from is not None or self.year_to is not None:
            arguments["limit"] = most
        if self.open_access:
            if "open_access" in spec.filters:
                arguments["open_access"] = True
            else:
                arguments["limit"] = most
        return arguments

    def accepts_year(self, work: Work) -> bool:
        """Whether the year of publication is in the range; False if it is unknown and asked for."""
        if self.year_from is None and self.year_to is None:
            return True
        year = year_of(work)
        if year is None:
            return False
        return (self.year_from or year) <= year <= (self.year_to or year)


def year_of(work: Work) -> int | None:
    """Returns the year of publication; None if it is unknown."""
    return int(work.issued[:4]) if work.issued is not None else None


def is_open(work: Work) -> bool:
    """Whether a source says that the work is free to read."""
    return work.is_oa is True or bool(work.open_copies)
