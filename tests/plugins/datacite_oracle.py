"""What DataCite's JSON says, read by Python's own means; shares no code with the parser.

`plugins/datacite/README.md` lists the accepted differences with reasons; each is one rule
here, named in a comment.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from plugins.crossref_oracle import filled

_CSL = {
    "Collection": "collection",
    "ConferencePaper": "paper-conference",
    "Dataset": "dataset",
    "Image": "graphic",
    "JournalArticle": "article-journal",
    "Preprint": "article",
    "Software": "software",
}


def read(document: str) -> dict[str, Any] | None:
    """Returns the work in a document; None when it holds none."""
    try:
        root = json.loads(document)
    except ValueError:
        return None
    data = root.get("data") if isinstance(root, dict) else None
    return _work(data["attributes"]) if isinstance(data, dict) else None


def _work(given: dict[str, Any]) -> dict[str, Any]:
    types, container = given["types"], given["container"]
    holder: dict[str, Any] = next(
        (one for one in given.get("relatedItems") or [] if one["relationType"] == "IsPublishedIn"),
        {},
    )
    general = types.get("resourceTypeGeneral")
    # DataCite says `article` where it knows nothing narrower.
    derived = types.get("citeproc") or "document"
    titles = given["titles"]
    plain = [one["title"] for one in titles if not one.get("titleType")]
    subtitles = [one["title"] for one in titles if one.get("titleType") == "Subtitle"]
    references, relations = _related(given.get("relatedIdentifiers") or [])
    work = {
        "type": _CSL.get(general or "", "document" if derived == "article" else derived),
        "source_type": general,
        "title": (plain or [one["title"] for one in titles])[0],
        "subtitle": subtitles[0] if subtitles else None,
        "abstract": next(
            (
                one.get("description")
                for one in given.get("descriptions") or []
                if one["descriptionType"] == "Abstract"
            ),
            None,
        ),
        "authors": [_agent(one) for one in given["creators"]],
        "editors": [
            _agent(one) for one in given["contributors"] if one["contributorType"] == "Editor"
        ],
        "container_title": container.get("title")
        or (holder["titles"][0]["title"] if holder else None),
        "publisher": given["publisher"],
        "issued": _issued(given),
        "volume": container.get("volume") or holder.get("volume"),
        "issue": container.get("issue") or holder.get("issue"),
        "pages": _pages(container) or _pages(holder),
        "language": given["language"],
        "subjects": list(
            dict.fromkeys(
                " ".join(one["subject"].split())
                for one in given["subjects"] or []
                if one["subject"]
            )
        ),
        "url": given.get("url") or f"https://doi.org/{given['doi']}",
        "licenses": [
            {"url": one["rightsUri"]}
            for one in given["rightsList"]
            # A text that is not a URL has another meaning.
            if re.match("https?://", one.get("rightsUri") or "")
        ],
        "funding": _funding(given.get("fundingReferences") or []),
        "references": references,
        "references_count": given.get("referenceCount"),
        "cited_by_count": given.get("citationCount"),
        "relations": relations,
        "source": "datacite",
    }
    work["url"] = quote(work["url"], safe=":/?#[]@!$&'()*+,;=%-._~")
    return {**filled(work), "ids": _ids(given, container, holder)}


def _ids(
    given: dict[str, Any], container: dict[str, Any], holder: dict[str, Any]
) -> dict[str, Any]:
    held: list[tuple[Any, Any]] = [(container.get("identifierType"), container.get("identifier"))]
    held += [
        (one["relatedIdentifierType"], one["relatedIdentifier"])
        for one in given.get("relatedIdentifiers") or []
        if one["relationType"] in ("IsPartOf", "IsPublishedIn")
    ]
    item = holder.get("relatedItemIdentifier", {})
    held.append((item.get("relatedItemIdentifierType"), item.get("relatedItemIdentifier")))
    numbers: dict[str, list[str]] = {"ISSN": [], "ISBN": []}
    own = given.get("identifiers") or []
    held += [(one["identifierType"], one["identifier"]) for one in own]
    for kind, number in held:
        if kind == "ISSN" and re.fullmatch(r"\d{4}-\d{3}[\dX]", number):
            numbers["ISSN"].append(number)
        elif kind == "ISBN":
            numbers["ISBN"].append(re.sub("[^0-9X]", "", number))
    # arXiv's own DOIs hold its identifier.
    arxiv = re.fullmatch(r"10\.48550/arxiv\.(.+)", given["doi"], re.IGNORECASE)
    return filled(
        {
            "doi": given["doi"],
            "arxiv": arxiv[1] if arxiv else None,
            "isbn": list(dict.fromkeys(numbers["ISBN"])),
            "issn": list(dict.fromkeys(numbers["ISSN"])),
        }
    )


def _agent(one: dict[str, Any]) -> dict[str, Any]:
    names = {"family": one.get("familyName"), "given": one.get("givenName")}
    if one.get("nameType") == "Organizational" or not any(names.values()):
        family, comma, given = one["name"].partition(", ")
        # A personal name in one piece is "Family, Given".
        is_split = comma and one.get("nameType") == "Personal"
        names = {"family": family, "given": given} if is_split else {"literal": one["name"]}
    found = [
        re.search(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]$", identifier.get("nameIdentifier") or "")
        for identifier in one.get("nameIdentifiers") or []
        if "orcid" in json.dumps(identifier).lower()
    ]
    return filled(
        {
            **names,
            "orcid": next((match[0] for match in found if match), None),
            "affiliations": one["affiliation"],
        }
    )


def _issued(given: dict[str, Any]) -> str | None:
    dates = [one["date"].strip() for one in given["dates"] or [] if one["dateType"] == "Issued"]
    # A time of day is not kept.
    return dates[0][:10] if dates else str(given["publicationYear"])


def _pages(holder: dict[str, Any]) -> str | None:
    first, last = holder.get("firstPage"), holder.get("lastPage")
    return f"{first}-{last}" if first and last and first != last else first


def _funding(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # Awards of one funder are grouped.
    funders: dict[tuple[str, str | None], list[str]] = {}
    for one in given:
        doi = re.search(r"10\.\d+/.+", one.get("funderIdentifier") or "")
        awards = funders.setdefault((one["funderName"], doi[0] if doi else None), [])
        awards.extend(filter(None, [one.get("awardNumber")]))
    return [
        filled({"name": name, "doi": doi, "awards": awards})
        for (name, doi), awards in funders.items()
    ]


def _related(given: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    references, relations = [], []
    for one in given:
        identifier, kind = one["relatedIdentifier"].strip(), one["relatedIdentifierType"].lower()
        # An address of the resolver is a DOI.
        address = re.match(r"https?://(?:dx\.)?doi\.org/(10\..+)", identifier)
        if address:
            identifier, kind = address[1], "doi"
        if one["relationType"] in ("References", "Cites"):
            references.append({"doi" if kind == "doi" else "unstructured": identifier})
        else:
            relations.append({"type": one["relationType"], "id_type": kind, "id": identifier})
    return references, relations
