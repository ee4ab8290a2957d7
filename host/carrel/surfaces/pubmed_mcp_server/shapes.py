"""Translates the tools and resources of pubmed-mcp-server to those of the plugin eutils.

Its results have the members that its specification shows, in camelCase. What the plugin knows
beyond them (retractions, ORCID iDs, notices) has no member there and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from carrel.surfaces.shape import Arguments, Json, ResourceShape, Shape, Text

_CAPITAL = re.compile(r"[A-Z]")
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip

#: Members of `articles` that are renamed only, in the specification's order.
_ARTICLE: Final = ("pmid", "title", "abstract_text")
_JOURNAL: Final = ("title", "iso_abbreviation", "volume", "issue", "pages")
_SUMMARY: Final = ("pmid", "title", "authors", "source", "pub_date", "epub_date")


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _deeply(value: Any, rename: Callable[[str], str]) -> Any:
    """Returns a JSON value with every member renamed."""
    if isinstance(value, Mapping):
        return {rename(key): _deeply(member, rename) for key, member in value.items()}
    if isinstance(value, list):
        return [_deeply(item, rename) for item in value]
    return value


def _members(value: Mapping[str, Any], names: Iterable[str]) -> Json:
    """Returns the named members that are there, in camelCase."""
    return {_camel(name): value[name] for name in names if name in value}


def arguments(call_arguments: Arguments) -> Json:
    """Returns the plugin's arguments: the same values under names in snake_case."""
    renamed: Json = _deeply(call_arguments, _snake)
    return renamed


def search_result(_arguments: Arguments, found: Json) -> Json:
    """Returns the result of `searchPubMedArticles`."""
    result: Json = {
        "searchParameters": _deeply(found["search_parameters"], _camel),
        "effectiveESearchTerm": found["effective_e_search_term"],
        "totalFound": found["total_found"],
        "retrievedPmidCount": found["retrieved_pmid_count"],
        "pmids": found["pmids"],
        "briefSummaries": [_summary(record) for record in found["brief_summaries"]],
        "eSearchUrl": found["e_search_url"],
    }
    if "e_summary_url" in found:
        result["eSummaryUrl"] = found["e_summary_url"]
    return result


def _summary(record: Json) -> Json:
    """Returns a summary, whose source is the journal with year and month: `Ann Desks. 2023 Mar`."""
    summary = _members(record, _SUMMARY)
    if "source" in summary and "pub_date" in record:
        year, _, rest = record["pub_date"].partition("-")
        month = _MONTHS[int(rest[:2]) - 1] if rest else ""
        summary["source"] = f"{record['source']}. {year} {month}".rstrip()
    return summary


def details_result(call_arguments: Arguments, found: Json) -> Json | Text:
    """Returns the result of `fetchArticleDetails`.

    For `full_xml` and `medline_text` the text is PubMed's own, and the structured content lists
    the PMIDs that were requested and not found.
    """
    result: Json = {
        "requestedPmids": found["requested_pmids"],
        "articles": [
            _article(record, grants=bool(call_arguments.get("includeGrantInfo", False)))
            for record in found.get("articles", [])
        ],
        "notFoundPmids": found["not_found_pmids"],
        "eFetchDetails": _deeply(found["e_fetch_details"], _camel),
    }
    if "documents" not in found:
        return result
    del result["articles"]
    texts = [document["text"] for document in found["documents"]]
    if call_arguments.get("detailLevel") == "full_xml":
        lines = ["<PubmedArticleSet>", *texts, "</PubmedArticleSet>"]
        return Text("\n".join(lines), result)
    return Text("\n\n".join(texts), result)


def _article(record: Json, *, grants: bool) -> Json:
    article = _members(record, _ARTICLE)
    article["authors"] = [_author(author) for author in record.get("authors", [])]
    journal = record.get("journal_info", {})
    article["journalInfo"] = {
        **_members(journal, _JOURNAL),
        "publicationDate": _date(journal.get("publication_date", {}), record.get("issued", "")),
    }
    article["publicationTypes"] = record.get("publication_types", [])
    if "abstract_text" in record or "keywords" in record:
        article["keywords"] = record.get("keywords", [])
    if "mesh_terms" in record:
        article["meshTerms"] = list(_mesh(record["mesh_terms"]))
    if grants and "grant_list" in record:
        article["grantList"] = [
            _members(grant, ("grant_id", "agency", "country")) for grant in record["grant_list"]
        ]
    if "doi" in record:
        article["doi"] = record["doi"]
    return article


def _author(record: Json) -> Json:
    """Returns an author, whose affiliations are one text; a group has its name only."""
    author = _members(record, ("last_name", "first_name", "initials", "collective_name"))
    if record.get("affiliations"):
        author["affiliation"] = "; ".join(record["affiliations"])
    return author


def _date(date: Json, issued: str) -> Json:
    """Returns a date; the year of one that is a text (`2021 Nov-Dec`) comes from `issued`."""
    members = _members(date, ("year", "month", "day", "medline_date"))
    if "year" not in members and issued[:4].isdigit():
        members = {"year": int(issued[:4]), **members}
    return members


def _mesh(terms: Iterable[Json]) -> Iterator[Json]:
    """Yields a member for each heading, and for each of its qualifiers if it has any."""
    for term in terms:
        plain = {
            "descriptorName": term["descriptor_name"],
            "isMajorTopic": term["is_major_topic"],
            **({"ui": term["ui"]} if "ui" in term else {}),
        }
        qualifiers = term.get("qualifiers", [])
        if not qualifiers:
            yield plain
        for qualifier in qualifiers:
            yield {
                **plain,
                "qualifierName": qualifier["name"],
                "isMajorTopic": term["is_major_topic"] or qualifier["is_major_topic"],
            }


def relationships_result(_arguments: Arguments, found: Json) -> Json:
    """Returns the result of `getArticleRelationships`."""
    result: Json = {
        "sourcePmid": found["source_pmid"],
        "relationshipType": found["relationship_type"],
        "relatedArticles": [
            _members(article, ("pmid", "title", "authors", "score", "link_url"))
            for article in found["related_articles"]
        ],
        "citations": found["citations"],
        "retrievedCount": found["retrieved_count"],
    }
    if "e_link_url" in found:
        result["eLinkUrl"] = found["e_link_url"]
    return result


def info(value: Json) -> Json:
    """Returns the JSON of `serverInfo`."""
    renamed: Json = _deeply(value, _camel)
    renamed["operationalStatus"].pop("pubmedLastUpdate", None)
    return renamed


def statistics(value: Json) -> Json:
    """Returns the JSON of `getPubMedStats`."""
    renamed: Json = _deeply(value, _camel)
    return renamed


SHAPES: Final[Mapping[str, Shape]] = {
    "searchPubMedArticles": Shape(arguments, search_result),
    "fetchArticleDetails": Shape(arguments, details_result),
    "getArticleRelationships": Shape(arguments, relationships_result),
}

RESOURCES: Final[Mapping[str, ResourceShape]] = {
    "serverInfo": info,
    "getPubMedStats": statistics,
}
