"""Defines what a search for papers asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

#: Papers of one search: the default and the most.
DEFAULT_PAPERS: Final = 5
MAX_PAPERS: Final = 10
FIRST_YEAR, LAST_YEAR = 1900, 2030
SORTS: Final = ("relevance", "date")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcademicRequest:
    """A search; every member changes what it finds, so all of them are the cache key.

    Attributes:
        query: words.
        num_results: papers wanted.
        year_from: first year of publication.
        year_to: last year of publication.
        source: a registry or a publisher, see `providers`.
        pdf_only: only papers with the address of a PDF.
        sort_by: one of `SORTS`.
        open_access: only papers that are free to read.
        full_text: whether papers in PubMed Central come with their text.
        provider: the only one to ask, see `providers`; None for the configured order.
    """

    query: str
    num_results: int = DEFAULT_PAPERS
    year_from: int | None = None
    year_to: int | None = None
    source: str = "all"
    pdf_only: bool = False
    sort_by: str = "relevance"
    open_access: bool = False
    full_text: bool = False
    provider: str | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Returns the request of a tool's arguments."""
        return cls(
            **{
                field.name: arguments[field.name]
                for field in fields(cls)
                if field.name in arguments
            }
        )

    def filters(self) -> dict[str, Any]:
        """Returns the filters that may have left papers out, by their names."""
        filters = {
            "year_from": self.year_from,
            "year_to": self.year_to,
            "source": self.source if self.source != "all" else None,
            "pdf_only": self.pdf_only or None,
            "open_access": self.open_access or None,
            "provider": self.provider,
        }
        return {name: value for name, value in filters.items() if value is not None}
