"""What Unpaywall's JSON says, read by Python's own means; shares no code with the parser.

`plugins/unpaywall/README.md` lists the accepted differences with reasons; each is one rule
here, named in a comment.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

_CSL = {
    "journal-article": "article-journal",
    "book-chapter": "chapter",
    "book": "book",
    "monograph": "book",
    "reference-book": "book",
    "edited-book": "book",
    "proceedings-article": "paper-conference",
    "posted-content": "article",
    "dissertation": "thesis",
    "report": "report",
    "dataset": "dataset",
    "reference-entry": "entry",
    "journal": "periodical",
    "journal-issue": "periodical",
    "component": "document",
    "other": "document",
}


def read(document: str) -> tuple[str, dict[str, Any]] | None:
    """Returns a format for a document and its expected result; None for an error."""
    root = json.loads(document)
    if root.get("error"):
        return None
    if "results" in root:
        return "search", {"records": [_record(one["response"]) for one in root["results"]]}
    return "record", _record(root)


def _filled(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value not in (None, "", [], {})}


def _address(url: str | None) -> str | None:
    return quote(url, safe=":/?#@!$&'()*+,;=%-._~") if url else None


def _record(item: dict[str, Any]) -> dict[str, Any]:
    copies: list[dict[str, Any]] = []
    for place in [item.get("best_oa_location"), *(item.get("oa_locations") or [])]:
        copy = _copy(place or {})
        # Each address once.
        if copy.get("url") and copy["url"] not in [known["url"] for known in copies]:
            copies.append(copy)
    access = {"is_oa": item.get("is_oa"), "oa_status": item.get("oa_status")}
    issns = [*(item.get("journal_issns") or "").split(","), item.get("journal_issn_l")]
    work = {
        "type": _CSL[item["genre"]],
        "source_type": item["genre"],
        "title": item.get("title"),
        "authors": [one for one in map(_author, item.get("z_authors") or []) if one],
        "container_title": item.get("journal_name"),
        "publisher": item.get("publisher"),
        "issued": item.get("published_date") or (item.get("year") and str(item["year"])),
        "url": _address(item.get("doi_url")),
        "open_copies": copies,
        **access,
        "source": "unpaywall",
    }
    ids = {"doi": item.get("doi"), "issn": list(dict.fromkeys(one for one in issns if one))}
    return {
        "work": {**_filled(work), "ids": _filled(ids)},
        **_filled(access),
        "open_copies": copies,
    }


def _copy(place: dict[str, Any]) -> dict[str, Any]:
    pdf, page = _address(place.get("url_for_pdf")), _address(place.get("url_for_landing_page"))
    return _filled(
        {
            "url": pdf or _address(place.get("url")) or page,
            "kind": "pdf" if pdf else "html",
            "host_type": place.get("host_type"),
            "version": place.get("version"),
            "license": place.get("license"),
            "landing_url": page if pdf else None,
        }
    )


def _author(one: dict[str, Any]) -> dict[str, Any]:
    named = _filled({"family": one.get("family"), "given": one.get("given")})
    # A name in one piece only where it is not split.
    if not named:
        named = _filled({"literal": one.get("name") or one.get("raw_author_name")})
    if not named:
        return {}
    if one.get("suffix") and "given" in named:
        named["given"] = f"{named['given']}, {one['suffix']}"
    found = re.search(r"[\dX-]{19}$", one.get("ORCID") or "")
    affiliations = [place["name"] for place in one.get("affiliation") or []]
    affiliations += one.get("raw_affiliation_strings") or []
    orcid = found[0] if found else None
    return _filled({**named, "orcid": orcid, "affiliations": list(dict.fromkeys(affiliations))})
