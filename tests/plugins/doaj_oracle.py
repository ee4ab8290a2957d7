"""What DOAJ's JSON says, read by Python's own means; shares no code with the parser.

`plugins/doaj/README.md` lists the accepted differences with reasons; each is one rule here,
named in a comment.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from plugins.crossref_oracle import filled

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_LANGUAGES = {
    "EN": "en",
    "ES": "es",
    "PT": "pt",
    "FR": "fr",
    "RU": "ru",
    "DE": "de",
    "ID": "id",
    "TR": "tr",
}


def read(document: str) -> dict[str, Any] | None:
    """Returns the page in a document; None when it holds no articles."""
    root = json.loads(document)
    items = root.get("results", [root])
    if not all("journal" in item["bibjson"] for item in items):
        return None
    page = {"total_results": root.get("total", 1), "works": [_work(item) for item in items]}
    if "next" in root:
        page["next_cursor"] = re.search(r"page=(\d+)", root["next"])[1]  # type: ignore[index]
    return page


def _work(item: dict[str, Any]) -> dict[str, Any]:
    given = item["bibjson"]
    journal = given["journal"]
    licences = {one["type"] for one in journal.get("license", [])}
    languages = journal.get("language", [])
    subjects = [*given.get("keywords", []), *(one["term"] for one in given.get("subject", []))]
    issns = [one["id"] for one in given["identifier"] if one["type"] in ("pissn", "eissn")]
    dois = [one["id"] for one in given["identifier"] if one["type"] == "doi"]
    start, end = given.get("start_page"), given.get("end_page")
    work = {
        "type": "article-journal",
        "source_type": item.get("es_type"),
        "title": given["title"],
        "abstract": given.get("abstract"),
        "authors": [_author(one) for one in given.get("author", [])],
        "container_title": journal["title"],
        "publisher": journal.get("publisher"),
        "issued": _issued(given),
        "volume": journal.get("volume"),
        "issue": journal.get("number"),
        "pages": f"{start}-{end}" if start and end and start != end else start,
        # Of several languages none is the article's for certain.
        "language": _LANGUAGES[languages[0]] if len(languages) == 1 else None,
        "subjects": list(dict.fromkeys(" ".join(one.split()) for one in subjects if one.strip())),
        "url": f"https://doaj.org/article/{item['id']}",
        "open_copies": [
            _copy(one, licences) for one in given.get("link", []) if one["type"] == "fulltext"
        ],
        # Everything in the directory is free to read, in journals that are so throughout.
        "is_oa": True,
        "oa_status": "gold",
        "source": "doaj",
    }
    ids = {
        "doi": dois[0] if dois else None,
        "issn": list(dict.fromkeys([*issns, *journal.get("issns", [])])),
    }
    return {**filled(work), "ids": filled(ids)}


def _author(one: dict[str, Any]) -> dict[str, Any]:
    # With one comma it is a family and a given name.
    family, comma, rest = one["name"].partition(",")
    names = (
        {"family": family, "given": rest} if comma and "," not in rest else {"literal": one["name"]}
    )
    stripped = {key: " ".join(name.split()) for key, name in names.items()}
    return filled(
        {
            **stripped,
            "orcid": one.get("orcid_id", "").rpartition("/")[2],
            "affiliations": filled({0: one.get("affiliation")}) and [one["affiliation"]],
        }
    )


def _copy(one: dict[str, Any], licences: set[str]) -> dict[str, Any]:
    kind = {"pdf": "pdf", "html": "html"}.get(one.get("content_type", "").lower())
    return filled(
        {
            "url": quote(one["url"], safe=":/?#[]@!$&'()*+,;=%-._~"),
            "kind": kind or ("pdf" if one["url"].lower().endswith(".pdf") else "html"),
            "host_type": "publisher",
            "license": next(iter(licences)) if len(licences) == 1 else None,
        }
    )


def _issued(given: dict[str, Any]) -> str:
    month = given.get("month", "")
    if month.lower() in _MONTHS:
        month = str(_MONTHS.index(month.lower()) + 1)
    return f"{given['year']}-{int(month):02}" if month else given["year"]
