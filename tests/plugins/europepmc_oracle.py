"""What Europe PMC's JSON says, read by Python's own means; shares no code with the parser.

`plugins/europepmc/README.md` lists the accepted differences with reasons; each is one rule
here, named in a comment.
"""

from __future__ import annotations

import json
import re
from typing import Any

from plugins.crossref_oracle import filled

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_LISTS = {
    "search": ("resultList", "result"),
    "citations": ("citationList", "citation"),
    "references": ("referenceList", "reference"),
}
#: Family name, initials, and an optional suffix.
_NAME = re.compile(
    r"(.+?) ([^\W\d_a-z-][^\W\d_a-z]*(?:-[^\W\d_a-z]+)*)( (?:Jr|Sr|2nd|3rd|II|III))?"
)
_REST = "https://www.ebi.ac.uk/europepmc/webservices/rest"


def read(document: str) -> tuple[str, dict[str, Any]] | None:
    """Returns the format for a document and its expected result; None if it has no list."""
    try:
        root = json.loads(document)
    except ValueError:
        return None
    for document_format, (outer, inner) in _LISTS.items():
        if outer in root:
            works = [_work(item) for item in root[outer][inner]]
            page = {"total_results": root["hitCount"], "works": works}
            cursor = root.get("nextCursorMark")
            # The cursor that was sent is none.
            if cursor and works and cursor != root["request"].get("cursorMark"):
                page["next_cursor"] = cursor
            return document_format, page
    return None


def _work(item: dict[str, Any]) -> dict[str, Any]:
    info = item.get("journalInfo", {})
    journal = info.get("journal", {})
    types = item.get("pubTypeList", {}).get("pubType") or [
        one.strip()
        for one in (item.get("pubType") or item.get("citationType") or "").split(";")
        if one.strip()
    ]
    serials = [journal.get("issn"), journal.get("essn"), *item.get("journalIssn", "").split(";")]
    numbers = [one.strip().upper() for one in serials if one and one.strip()]
    is_medline = item["source"] == "MED"
    copies, links, is_oa = _copies(item)
    updates, updated_by, relations = _corrections(item)
    grants: dict[str, list[str]] = {}
    for grant in item.get("grantsList", {}).get("grant", []):
        grants.setdefault(grant["agency"], []).extend(filter(None, [grant.get("grantId")]))
    work = {
        "type": "article-journal",
        "source_type": types[0] if types else None,
        "title": item.get("title"),
        # Headings of an abstract end with a colon.
        "abstract": item.get("abstractText"),
        "authors": _authors(item),
        "container_title": journal.get("title")
        or item.get("journalTitle")
        or item.get("journalAbbreviation"),
        "issued": _issued(item, info),
        "volume": info.get("volume") or item.get("journalVolume") or item.get("volume"),
        "issue": info.get("issue") or item.get("issue"),
        "pages": item.get("pageInfo"),
        "language": {"eng": "en", None: None}[item.get("language")],
        "subjects": list(
            dict.fromkeys(
                [
                    *item.get("keywordList", {}).get("keyword", []),
                    *(
                        one["descriptorName"]
                        for one in item.get("meshHeadingList", {}).get("meshHeading", [])
                    ),
                ]
            )
        ),
        "url": f"https://europepmc.org/article/{item['source']}/{item['id']}",
        "links": links,
        "open_copies": copies,
        "is_oa": is_oa,
        "funding": [filled({"name": name, "awards": awards}) for name, awards in grants.items()],
        "cited_by_count": item.get("citedByCount"),
        "updates": updates,
        "updated_by": updated_by,
        "relations": relations,
        "source": "europepmc",
    }
    ids = {
        "doi": item.get("doi"),
        "pmid": item.get("pmid") or (item["id"] if is_medline else None),
        "pmcid": item.get("pmcid"),
        "issn": list(dict.fromkeys(numbers)),
    }
    return {**filled(work), "ids": filled(ids)}


def _authors(item: dict[str, Any]) -> list[dict[str, Any]]:
    listed = item.get("authorList", {}).get("author")
    if listed:
        return [_author(one) for one in listed]
    authors = []
    # `lite` has one line, in the form of PubMed: a family name before initials.
    line = item.get("authorString", "").removesuffix(".")
    for name in filter(None, line.split(", ")):
        found = _NAME.fullmatch(name)
        if found and len(found[2].replace("-", "")) <= 4:
            suffix = f",{found[3]}" if found[3] else ""
            authors.append({"family": found[1], "given": found[2] + suffix})
        else:
            authors.append({"literal": name})
    return authors


def _author(one: dict[str, Any]) -> dict[str, Any]:
    if "lastName" not in one:
        return {"literal": one.get("collectiveName") or one["fullName"]}
    details = one.get("authorAffiliationDetailsList", {}).get("authorAffiliation", [])
    identifier = one.get("authorId", {})
    return filled(
        {
            "family": one["lastName"],
            "given": one.get("firstName") or one.get("initials"),
            "orcid": identifier.get("value") if identifier.get("type") == "ORCID" else None,
            "affiliations": [detail["affiliation"] for detail in details],
        }
    )


def _issued(item: dict[str, Any], info: dict[str, Any]) -> str | None:
    first = item.get("firstPublicationDate")
    electronic = item.get("electronicPublicationDate")
    if first and first == info.get("printPublicationDate") and first != electronic:
        # The first day of a month means the whole month: only the month counts.
        year, month = info["dateOfPublication"].split()[:2]
        return f"{year}-{_MONTHS.index(month.lower()) + 1:02}"
    return first or electronic or (str(item["pubYear"]) if item.get("pubYear") else None)


def _copies(item: dict[str, Any]) -> tuple[list[Any], list[Any], bool | None]:
    copies, links = [], []
    licence, pmcid = item.get("license"), item.get("pmcid")
    own = {"host_type": "repository", "license": licence}
    for form in item.get("fullTextUrlList", {}).get("fullTextUrl", []):
        if form["availabilityCode"] in ("OA", "F"):
            kind = "pdf" if form["documentStyle"] == "pdf" else "html"
            host = {"DOI": "publisher", "Europe_PMC": "repository"}[form["site"]]
            copies.append({"url": form["url"], "kind": kind, "host_type": host, "license": licence})
        else:
            links.append({"url": form["url"]})
    # Addresses that `lite` leaves out follow from the identifier.
    if pmcid and not copies and item.get("inEPMC") == "Y":
        page = f"https://europepmc.org/articles/{pmcid}"
        if item.get("hasPDF") == "Y":
            copies.append({"url": f"{page}?pdf=render", "kind": "pdf", **own})
        copies.append({"url": page, "kind": "html", **own})
    if pmcid and not copies and item.get("inPMC") == "Y":
        page = f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"
        copies.append({"url": page, "kind": "html", **own})
    if pmcid and item.get("isOpenAccess") == "Y":
        copies.append({"url": f"{_REST}/{pmcid}/fullTextXML", "kind": "xml", **own})
    copies.sort(key=lambda copy: ["pdf", "xml", "html"].index(copy["kind"]))
    is_oa = True if item.get("isOpenAccess") == "Y" or copies else None
    # Only a list of forms that all need a subscription says that there is no free one.
    if is_oa is None and links and item.get("isOpenAccess"):
        is_oa = False
    return [filled(copy) for copy in copies], links, is_oa


def _corrections(item: dict[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    updates: list[Any] = []
    updated_by: list[Any] = []
    relations: list[Any] = []
    for one in item.get("commentCorrectionList", {}).get("commentCorrection", []):
        relations.append({"type": one["type"], "id_type": "pmid", "id": one["id"]})
        doi = re.search(r"doi: (\S+?)\.?$", one["reference"])
        update = filled(
            {
                "type": "correction",
                "doi": doi[1] if doi else None,
                "pmid": one["id"],
                "source": "europepmc",
            }
        )
        {"Erratum for": updates, "Erratum in": updated_by}[one["type"]].append(update)
    return updates, updated_by, relations
