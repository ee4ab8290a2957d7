"""What Semantic Scholar's JSON says, read by Python's own means; shares no code with the parser.

`plugins/semanticscholar/README.md` lists the accepted differences with reasons; each is one
rule here, named in a comment.
"""

from __future__ import annotations

import json
from typing import Any

_ARTICLES = "article-journal"


def read(document: str) -> tuple[str, dict[str, Any]] | None:
    """Returns a format for a document and its expected result; None if there is none."""
    root = json.loads(document)
    if isinstance(root, list):
        return _papers(root, {}) if any(_is_paper(one) for one in root) else None
    if "paperId" in root:
        return "paper", {"work": _work(root)}
    if "recommendedPapers" in root:
        return _papers(root["recommendedPapers"], {})
    if "error" in root or "message" in root:
        return None
    if "data" not in root and "total" not in root:
        return None
    entries = root.get("data") or []
    for role, key in (("citations", "citingPaper"), ("references", "citedPaper")):
        if entries and key in entries[0]:
            page = {"works": [_link(one, key) for one in entries], "next": root.get("next")}
            return role, {name: value for name, value in page.items() if value is not None}
    if entries and not all(_is_paper(one) for one in entries):
        return None
    # The token of a bulk search is what asks for its next page.
    page = {"total_results": root.get("total"), "next": root.get("next") or root.get("token")}
    return _papers(entries, {name: value for name, value in page.items() if value is not None})


def _is_paper(one: Any) -> bool:
    return isinstance(one, dict) and "paperId" in one


def _papers(entries: list[Any], page: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    works = [_work(one) for one in entries if one is not None]
    return "papers", {**page, "works": works, "not_found": entries.count(None)}


def _link(one: dict[str, Any], key: str) -> dict[str, Any]:
    link = {
        "contexts": one.get("contexts"),
        "intents": one.get("intents"),
        "influential": one.get("isInfluential"),
    }
    return {**_work(one[key]), **_filled(link)}


def _filled(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value not in (None, "", [], {})}


def _once(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value))


def _is_arxiv(name: str | None) -> bool:
    return (name or "").lower() in {"arxiv", "arxiv.org"}


def _work(item: dict[str, Any]) -> dict[str, Any]:
    external = item.get("externalIds") or {}
    venue = item.get("publicationVenue") or {}
    journal = item.get("journal") or {}
    copy = item.get("openAccessPdf") or {}
    # arXiv is no container, and its numbers are no volume.
    names = [journal.get("name"), item.get("venue"), venue.get("name")]
    in_repository = _is_arxiv(journal.get("name"))
    year = item.get("year")
    work = {
        "type": _kind(item, venue, journal, any(map(_is_arxiv, names))),
        "source_type": next(iter(item.get("publicationTypes") or []), None),
        "title": item.get("title"),
        "abstract": item.get("abstract"),
        "authors": [
            _filled({"literal": one["name"], "affiliations": one.get("affiliations")})
            for one in item.get("authors") or []
        ],
        "container_title": next((name for name in names if name and not _is_arxiv(name)), None),
        "issued": item.get("publicationDate") or (year and str(year)),
        "volume": None if in_repository else _collapsed(journal.get("volume")),
        "pages": None if in_repository else _collapsed(journal.get("pages")),
        "subjects": _once(
            [
                *(item.get("fieldsOfStudy") or []),
                *(one["category"] for one in item.get("s2FieldsOfStudy") or []),
            ]
        ),
        "url": item.get("url"),
        "open_copies": _copies(copy),
        "is_oa": item.get("isOpenAccess"),
        "oa_status": (copy.get("status") or "").lower(),
        "references_count": item.get("referenceCount"),
        "cited_by_count": item.get("citationCount"),
        "source": "semanticscholar",
    }
    pmcid = external.get("PubMedCentral")
    ids = {
        "doi": external.get("DOI"),
        "arxiv": external.get("ArXiv"),
        "pmid": external.get("PubMed"),
        "pmcid": pmcid and f"PMC{pmcid}",
        "s2": item.get("paperId"),
        "issn": _once([venue.get("issn"), *(venue.get("alternate_issns") or [])]),
    }
    return {**_filled(work), "ids": _filled(ids)}


def _collapsed(text: str | None) -> str | None:
    return " ".join(text.split()) if text else None


def _kind(
    item: dict[str, Any], venue: dict[str, Any], journal: dict[str, Any], is_e_print: bool
) -> str:
    # Of several types the most particular counts.
    kinds = item.get("publicationTypes") or []
    for kind, word in (
        ("BookSection", "chapter"),
        ("Book", "book"),
        ("Dataset", "dataset"),
        ("Conference", "paper-conference"),
    ):
        if kind in kinds:
            return word
    if kinds == ["News"]:
        return "article-newspaper"
    if kinds or venue.get("type") == "journal":
        word = _ARTICLES
    elif venue.get("type") == "conference":
        return "paper-conference"
    else:
        word = _ARTICLES if journal.get("name") else "document"
    return "article" if is_e_print else word


def _copies(copy: dict[str, Any]) -> list[dict[str, Any]]:
    url = copy.get("url")
    if not url:
        return []
    hosts = {"GREEN": "repository", "GOLD": "publisher", "HYBRID": "publisher"}
    hosts["BRONZE"] = "publisher"
    return [
        _filled(
            {
                "url": url,
                # The address of a DOI is that of a page.
                "kind": "html" if "://doi.org/" in url else "pdf",
                "host_type": hosts.get(copy.get("status") or ""),
                "license": copy.get("license"),
            }
        )
    ]
