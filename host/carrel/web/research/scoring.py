"""Scores a page that was found and read: how far it is likely to help with a query.

The parts are heuristics about the text and its place, and are returned beside the sum, so that a
reader can weigh them anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from .hosts import host_of, is_publisher
from .words import terms_of

if TYPE_CHECKING:
    from .pages import PageText

#: Weights of the parts; their sum is 1.
WEIGHTS: Final[Mapping[str, float]] = {
    "relevance": 0.35,
    "freshness": 0.20,
    "authority": 0.25,
    "content_quality": 0.20,
}
#: Days after which a page counts half as fresh, and the part of a page whose date is not known.
_HALF_LIFE: Final = 730.0
_UNKNOWN: Final = 0.5
_TIERS: Final[Mapping[str, float]] = {"high": 0.9, "medium": 0.6, "low": 0.3}
#: Second labels of names that a state gives to universities and authorities, as in ox.ac.uk.
_PUBLIC: Final = frozenset({"ac", "edu", "gov"})
#: Characters from which a text is long enough to be an article.
_ARTICLE: Final = 3_000


@dataclass(frozen=True, slots=True)
class Scores:
    """The parts and their weighted sum, each from 0 to 1."""

    relevance: float
    freshness: float
    authority: float
    content_quality: float

    @property
    def overall(self) -> float:
        """The weighted sum."""
        parts = self.parts()
        return round(sum(weight * parts[name] for name, weight in WEIGHTS.items()), 3)

    def to_json(self) -> dict[str, float]:
        """Returns the sum and its parts."""
        return {"overall": self.overall, **self.parts()}

    def parts(self) -> dict[str, float]:
        """Returns the parts by name."""
        return asdict(self)


def score_page(query: str, page: PageText, published: str | None, today: date) -> Scores:
    """Returns the scores of a page.

    Args:
        query: that found it.
        page: as it was read.
        published: a date that the search provider states.
        today: the day from which its age counts.
    """
    return Scores(
        relevance=_relevance(query, page),
        freshness=_freshness(page.published or published, today),
        authority=_authority(page),
        content_quality=_quality(page),
    )


def _relevance(query: str, page: PageText) -> float:
    terms = set(terms_of(query))
    if not terms:
        return _UNKNOWN
    in_text = len(terms & set(terms_of(page.text))) / len(terms)
    in_title = len(terms & set(terms_of(page.title))) / len(terms)
    return round(0.7 * in_text + 0.3 * in_title, 3)


def _freshness(published: str | None, today: date) -> float:
    """Halves with each two years of age; a page from the future is from today."""
    try:
        year, month, day_of_month, *_ = [*map(int, (published or "")[:10].split("-")), 1, 1]
        day = date(year, month, day_of_month)
    except ValueError:
        return _UNKNOWN
    return round(math.pow(0.5, max(0, (today - day).days) / _HALF_LIFE), 3)


def _authority(page: PageText) -> float:
    tier = (page.facts or {}).get("authority_tier", "")
    return _TIERS.get(tier) or _TIERS[authority_tier(page.url)]


def authority_tier(url: str) -> str:
    """Returns the authority of a page by its host alone: high, medium or low."""
    host = host_of(url)
    labels = host.split(".")
    public = host.endswith((".gov", ".edu", ".int", ".mil"))
    if public or is_publisher(url) or (len(labels) > 2 and labels[-2] in _PUBLIC):
        return "high"
    return "medium" if host.endswith(".org") else "low"


def _quality(page: PageText) -> float:
    """Scores the length of the text, its share of paragraphs, and its completeness."""
    length = min(1.0, len(page.text) / _ARTICLE)
    paragraphs = [paragraph for paragraph in page.text.split("\n\n") if len(paragraph) > 80]
    prose = min(1.0, sum(map(len, paragraphs)) / max(1, len(page.text)) * 1.25)
    return round(0.4 * length + 0.3 * prose + (0.3 if page.complete else 0.1), 3)
