"""Makes responses like those of Crossref's REST API, with invented text.

A work has the members of a journal article: contributors with affiliations, dates in parts,
licences, links, funders, an abstract in JATS in one of three, some thirty references. The same
arguments give the same bytes on every machine.
"""

from __future__ import annotations

import json
import random
from typing import Any
from xml.sax.saxutils import escape

from .prose import FAMILY, GIVEN, PLACES, SUBJECTS, abstract, pick, title


def answer_of_size(size: int, *, seed: int = 1) -> str:
    """Returns a search response of `size` bytes in UTF-8, give or take less than one work."""
    chance = random.Random(seed)
    items: list[str] = []
    length = 0
    while length < size:
        items.append(_written(_work(chance, len(items))))
        length += len(items[-1].encode()) + 1
    head = _written(
        {
            "status": "ok",
            "message-type": "work-list",
            "message-version": "1.0.0",
            "message": {
                "facets": {},
                "total-results": len(items) * 37,
                "items-per-page": len(items),
                "query": {"start-index": 0, "search-terms": "desk"},
            },
        }
    )
    return f'{head[:-2]},"items":[{",".join(items)}]}}}}'


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _work(chance: random.Random, number: int) -> dict[str, Any]:
    doi = f"10.5555/desk.{number:06d}"
    day = [2024, number % 12 + 1, number % 28 + 1]
    work: dict[str, Any] = {
        "indexed": _date(day, clock=True),
        "reference-count": 30,
        "publisher": "Quiet Press",
        "issue": str(number % 12 + 1),
        "license": [
            {
                "start": _date(day, clock=True),
                "content-version": "vor",
                "delay-in-days": 0,
                "URL": "https://creativecommons.org/licenses/by/4.0/",
            }
        ],
        "funder": [
            {
                "DOI": "10.13039/100009999",
                "name": "Foundation for Desks",
                "doi-asserted-by": "publisher",
                "award": [f"D-{number}"],
            }
        ],
        "content-domain": {"domain": ["quiet.example"], "crossmark-restriction": True},
        "short-container-title": ["Ann Desks"],
        "published-print": _date(day[:2]),
        "DOI": doi,
        "type": "journal-article",
        "created": _date(day, clock=True),
        "page": f"{number % 900 + 1}-{number % 900 + 9}",
        "source": "Crossref",
        "is-referenced-by-count": number % 40,
        "title": [title(chance)],
        "prefix": "10.5555",
        "volume": str(number % 90 + 1),
        "author": [_author(chance, position) for position in range(pick(chance, (1, 2, 3, 5, 9)))],
        "member": "9999",
        "published-online": _date(day),
        "reference": [_reference(chance, key) for key in range(pick(chance, (0, 18, 30, 44)))],
        "container-title": ["Annals of Desks and Reading Rooms"],
        "original-title": [],
        "language": "en",
        "link": [
            {
                "URL": f"https://quiet.example/{number}.pdf",
                "content-type": "application/pdf",
                "content-version": "vor",
                "intended-application": "text-mining",
            }
        ],
        "deposited": _date(day, clock=True),
        "score": 1.0,
        "resource": {"primary": {"URL": f"https://quiet.example/{number}"}},
        "subtitle": [],
        "issued": _date(day),
        "references-count": 30,
        "URL": f"https://doi.org/{doi}",
        "relation": {},
        "ISSN": ["2049-3630"],
        "issn-type": [{"value": "2049-3630", "type": "electronic"}],
        "subject": [pick(chance, SUBJECTS)],
        "published": _date(day),
    }
    if chance.random() < 0.35:
        work["abstract"] = f"<jats:p>{escape(abstract(chance))}</jats:p>"
    return work


def _date(parts: list[int], *, clock: bool = False) -> dict[str, Any]:
    date: dict[str, Any] = {"date-parts": [parts]}
    if clock:
        year, month, day = parts
        date["date-time"] = f"{year}-{month:02d}-{day:02d}T06:00:00Z"
        date["timestamp"] = 1_700_000_000_000
    return date


def _author(chance: random.Random, position: int) -> dict[str, Any]:
    author: dict[str, Any] = {
        "given": pick(chance, GIVEN),
        "family": pick(chance, FAMILY),
        "sequence": "additional" if position else "first",
        "affiliation": [],
    }
    if chance.random() < 0.3:
        author["affiliation"] = [{"name": pick(chance, PLACES)}]
    if chance.random() < 0.3:
        author["ORCID"] = "https://orcid.org/0000-0002-1825-0097"
        author["authenticated-orcid"] = True
    return author


def _reference(chance: random.Random, key: int) -> dict[str, Any]:
    reference: dict[str, Any] = {"key": f"ref{key}", "doi-asserted-by": "publisher"}
    if chance.random() < 0.3:
        reference["unstructured"] = f"{pick(chance, FAMILY)} A. {title(chance)}. 1999."
        return reference
    return {
        **reference,
        "DOI": f"10.5555/old.{key}",
        "author": pick(chance, FAMILY),
        "volume": str(key + 1),
        "first-page": str(key * 7 + 1),
        "year": str(1980 + key),
        "article-title": title(chance),
        "journal-title": "Ann Desks",
    }
