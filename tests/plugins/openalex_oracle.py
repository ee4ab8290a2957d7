"""What OpenAlex's JSON says, read by Python's own means; shares no code with the parser.

`plugins/openalex/README.md` lists the accepted differences with reasons; each is one rule
here, named in a comment.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

_CSL = {
    "article": "article-journal",
    "review": "article-journal",
    "letter": "article-journal",
    "editorial": "article-journal",
    "erratum": "article-journal",
    "retraction": "article-journal",
    "preprint": "article",
    "conference-paper": "paper-conference",
    "conference-abstract": "paper-conference",
    "book": "book",
    "book-chapter": "chapter",
    "dissertation": "thesis",
    "dataset": "dataset",
    "peer-review": "review",
    "reference-entry": "entry",
    "report": "report",
    "standard": "standard",
    "software": "software",
}
#: Sources that hold copies and contain nothing.
_REPOSITORIES = {"repository", "metadata"}


def read(document: str) -> dict[str, Any] | None:
    """Returns the works in a document as `{"works": [...], ...}`; None when it holds none."""
    try:
        root = json.loads(document)
    except ValueError:
        return None
    if isinstance(root, dict) and "results" in root:
        works = [one for one in root["results"] if one]
        if any(one.get("entity_type", "work") != "work" for one in works):
            return None
        page = {
            "total_results": root["meta"].get("count"),
            "next_cursor": root["meta"].get("next_cursor"),
        }
        return {**_filled(page), "works": [_work(one) for one in works]}
    if isinstance(root, dict) and re.search(r"/W\d+$", root.get("id") or ""):
        return {"total_results": 1, "works": [_work(root)]}
    return None


def _filled(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value not in (None, "", [], {})}


def _once(values: list[Any]) -> list[Any]:
    return [value for number, value in enumerate(values) if value not in values[:number]]


def _address(url: str | None) -> str | None:
    # Characters that a URL may not contain are escaped; an invalid URL is left out.
    if not url or not re.match(r"https?://[\w.-]+(:\d+)?(/|$)", url) or re.search(r"\s", url):
        return None
    return quote(url, safe=":/?#@!$&'()*+,;=%-._~")


def _doi(url: str | None) -> str | None:
    return url.removeprefix("https://doi.org/") if url else None


def _work(item: dict[str, Any]) -> dict[str, Any]:
    primary = item.get("primary_location") or {}
    source = primary.get("source") or {}
    ids = item.get("ids") or {}
    access = item.get("open_access") or {}
    biblio = item.get("biblio") or {}
    kind = item.get("type") or ""
    work = {
        "type": _kind(kind, item.get("type_crossref")),
        "source_type": kind,
        "title": item.get("title") or item.get("display_name"),
        "abstract": _abstract(item.get("abstract_inverted_index")),
        "authors": [_author(one) for one in item.get("authorships") or []],
        "container_title": _container(primary, source),
        # A repository's organisation publishes nothing.
        "publisher": None
        if source.get("type") in _REPOSITORIES
        else source.get("host_organization_name"),
        "issued": item.get("publication_date"),
        "volume": biblio.get("volume"),
        "issue": biblio.get("issue"),
        "pages": "-".join(_once([one for one in _pages(biblio) if one])),
        "language": item.get("language"),
        "subjects": _subjects(item),
        "url": _address(primary.get("landing_page_url")) or item["id"],
        "open_copies": _copies(item),
        "is_oa": access.get("is_oa"),
        "oa_status": access.get("oa_status"),
        "funding": _funding(item),
        "references": [
            {"key": one.rpartition("/")[2]} for one in item.get("referenced_works") or []
        ],
        "references_count": item.get("referenced_works_count"),
        "cited_by_count": item.get("cited_by_count"),
        "updated_by": [{"type": "retraction", "source": "openalex"}]
        if item.get("is_retracted")
        else [],
        "source": "openalex",
    }
    identifiers = {
        "doi": _doi(item.get("doi")),
        "arxiv": _arxiv(item),
        "pmid": (ids.get("pmid") or "").rpartition("/")[2],
        "pmcid": re.sub(r".*/(PMC)?(\d+)$", r"PMC\2", ids.get("pmcid") or ""),
        "openalex": item["id"].rpartition("/")[2],
        "issn": _once([*(source.get("issn") or []), *filter(None, [source.get("issn_l")])]),
    }
    return {**_filled(work), "ids": _filled(identifiers)}


def _kind(kind: str, crossref: str | None) -> str:
    # Older answers say what an article is in Crossref's words.
    if kind == "article" and crossref:
        kinds = {"journal-article": "article-journal", "posted-content": "article"}
        return kinds.get(crossref, "paper-conference")
    return _CSL.get(kind, "document")


def _abstract(index: dict[str, list[int]] | None) -> str | None:
    places = sorted((place, word) for word, places in (index or {}).items() for place in places)
    return " ".join(word for _, word in places)


def _arxiv(item: dict[str, Any]) -> str | None:
    if (item.get("doi") or "").lower().startswith("https://doi.org/10.48550/arxiv."):
        return str(item["doi"]).rpartition("arxiv.")[2]
    places = [item.get("primary_location") or {}, *(item.get("locations") or [])]
    for place in places:
        page = place.get("landing_page_url") or ""
        found = re.match(r"https?://(?:www\.)?arxiv\.org/abs/(.+?)(?:v\d+)?$", page)
        if found:
            return found[1]
    return None


def _author(one: dict[str, Any]) -> dict[str, Any]:
    author = one.get("author") or {}
    affiliations = one.get("raw_affiliation_strings") or [
        place["display_name"] for place in one.get("institutions") or []
    ]
    orcid = author.get("orcid") or one.get("raw_orcid") or ""
    return _filled(
        {
            "literal": author.get("display_name") or one.get("raw_author_name"),
            "orcid": orcid.rpartition("/")[2],
            # Without repetition.
            "affiliations": _once([" ".join(one.split()) for one in affiliations if one.strip()]),
        }
    )


def _container(primary: dict[str, Any], source: dict[str, Any]) -> str | None:
    # A repository is no container; of a platform's book the registered name counts.
    registered = primary.get("raw_source_name")
    if source.get("type") in _REPOSITORIES:
        return None
    if source.get("type") == "ebook platform":
        return registered
    return source.get("display_name") or registered


def _pages(biblio: dict[str, Any]) -> list[str | None]:
    return [biblio.get("first_page"), biblio.get("last_page")]


def _subjects(item: dict[str, Any]) -> list[str]:
    def names(key: str) -> list[str]:
        return [one.get("display_name") or one["keyword"] for one in item.get(key) or []]

    # Concepts only where nothing replaced them.
    return _once(names("keywords") + names("topics") or names("concepts"))


def _copies(item: dict[str, Any]) -> list[dict[str, Any]]:
    places = [item.get("best_oa_location")]
    places += [one for one in item.get("locations") or [] if one.get("is_oa")]
    copies: list[dict[str, Any]] = []
    for place in filter(None, places):
        pdf, page = _address(place.get("pdf_url")), _address(place.get("landing_page_url"))
        source = (place.get("source") or {}).get("type")
        host = "repository" if source in _REPOSITORIES else "publisher"
        copy = _filled(
            {
                "url": pdf or page,
                "kind": "pdf" if pdf else "html",
                "host_type": host if source else None,
                "version": place.get("version"),
                "license": place.get("license"),
                "landing_url": page if pdf else None,
            }
        )
        # Each address once.
        if "url" in copy and copy["url"] not in [known["url"] for known in copies]:
            copies.append(copy)
    return copies


def _funding(item: dict[str, Any]) -> list[dict[str, Any]]:
    funders: dict[str, list[str]] = {}
    for one in item.get("funders") or []:
        funders.setdefault(one["display_name"], [])
    for one in item.get("awards") or []:
        funders.setdefault(one["funder_display_name"], []).append(one["funder_award_id"])
    for one in item.get("grants") or []:
        funders.setdefault(one["funder_display_name"], []).append(one["award_id"])
    return [
        _filled({"name": name, "awards": _once([award for award in awards if award])})
        for name, awards in funders.items()
    ]
