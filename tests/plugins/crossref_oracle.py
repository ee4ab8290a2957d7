"""Reads Crossref's JSON with the standard library, independently of the parser under test.

`plugins/crossref/README.md` lists the accepted differences with their reasons; each is one rule
here, named in a comment.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

_CSL = {
    "journal-article": "article-journal",
    "article-journal": "article-journal",
    "book-chapter": "chapter",
    "book-section": "chapter",
    "book": "book",
    "monograph": "book",
    "edited-book": "book",
    "reference-book": "book",
    "proceedings": "book",
    "book-series": "book",
    "proceedings-article": "paper-conference",
    "reference-entry": "entry",
    "posted-content": "article",
    "dissertation": "thesis",
    "report": "report",
    "report-component": "report",
    "standard": "standard",
    "dataset": "dataset",
    "journal": "periodical",
    "journal-issue": "periodical",
    "journal-volume": "periodical",
    "peer-review": "review",
}
_TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)


def read(document: str) -> dict[str, Any] | None:
    """Returns the works in a document as `{"works": [...], ...}`; None if there are none."""
    try:
        root = json.loads(document)
    except ValueError:
        return None
    message = root.get("message", root)
    kind = root.get("message-type")
    if kind == "work-list":
        page = {
            "total_results": message.get("total-results"),
            "items_per_page": message.get("items-per-page"),
            "next_cursor": message.get("next-cursor"),
            "facets": [
                (name, facet["value-count"], list(facet["values"].items()))
                for name, facet in (message.get("facets") or {}).items()
            ],
        }
        kept = {key: value for key, value in page.items() if value not in (None, [])}
        return {**kept, "works": [_work(item) for item in message["items"]]}
    if kind == "work" or (kind is None and "DOI" in message):
        return {"works": [_work(message)]}
    return None


def letters(text: str) -> str:
    """Returns the letters and digits of a text, which markup, scripts and headings do not
    change.
    """
    plain = text
    for _ in range(3):
        # Tags that were escaped twice appear after the entities are decoded.
        plain = html.unescape(_TAG.sub("", plain))
    plain = unicodedata.normalize("NFKC", plain)
    return "".join(character for character in plain if character.isalnum())


def comparable(expected: str, found: str) -> tuple[str, str]:
    """Returns both texts in a normalized form, in which they must be equal."""
    if "mmultiscripts" in expected:
        # Prescripts are moved before their base.
        return "".join(sorted(letters(expected))), "".join(sorted(letters(found)))
    if "<" in expected or "&" in expected:
        return letters(expected), letters(found)
    return " ".join(expected.split()), found


def _work(item: dict[str, Any]) -> dict[str, Any]:
    def itself(update: dict[str, Any]) -> bool:
        """Returns whether a work's update names the work itself."""
        return bool(update["DOI"].lower() == item.get("DOI", "").lower())

    work = {
        "ids": filled({"doi": item.get("DOI"), "isbn": _isbns(item), "issn": _issns(item)}),
        "type": _CSL.get(item.get("type") or "", "document"),
        "source_type": item.get("type"),
        "title": _first(item.get("title")),
        "subtitle": _first(item.get("subtitle")),
        "abstract": item.get("abstract"),
        "authors": _agents(item.get("author")),
        "editors": _agents(item.get("editor")),
        "container_title": _first(item.get("container-title")),
        "publisher": item.get("publisher"),
        "issued": _issued(item),
        "volume": item.get("volume"),
        "issue": item.get("issue"),
        "pages": item.get("page"),
        "article_number": item.get("article-number"),
        "language": item.get("language"),
        "subjects": item.get("subject"),
        "url": _landing_page(item),
        "links": [_link(one) for one in item.get("link") or []],
        "licenses": [_licence(one) for one in item.get("license") or []],
        "funding": [_funder(one) for one in item.get("funder") or []],
        "references": [_reference(one) for one in item.get("reference") or []],
        "references_count": item.get("reference-count", item.get("references-count")),
        "cited_by_count": item.get("is-referenced-by-count"),
        "updates": [_update(one) for one in item.get("update-to") or [] if not itself(one)],
        "updated_by": _once(
            _update(one)
            for one in [
                *(item.get("updated-by") or []),
                *filter(itself, item.get("update-to") or []),
            ]
        ),
        "relations": _relations(item.get("relation") or {}),
        "source": "crossref",
    }
    return {**filled(work), "ids": work["ids"]}


def _once(members: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    distinct: list[dict[str, Any]] = []
    for member in members:
        if member not in distinct:
            distinct.append(member)
    return distinct


def filled(members: dict[Any, Any]) -> dict[Any, Any]:
    """Returns the members that say anything."""
    return {key: value for key, value in members.items() if value not in (None, "", [], {})}


def _first(value: Any) -> Any:
    # The first of several titles is used.
    return next((one for one in value if one), None) if isinstance(value, list) else value


def _isbns(item: dict[str, Any]) -> list[str]:
    given = [*item.get("ISBN", []), *(one["value"] for one in item.get("isbn-type", []))]
    numbers = [re.sub("[^0-9X]", "", one.rpartition("/")[2].upper()) for one in given]
    return list(dict.fromkeys(numbers))


def _issns(item: dict[str, Any]) -> list[str]:
    given = [*item.get("ISSN", []), *(one["value"] for one in item.get("issn-type", []))]
    return list(dict.fromkeys(one.rpartition("/")[2].upper() for one in given))


def _agents(given: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    # A contributor without a name is dropped.
    agents = [_agent(one) for one in given or []]
    return [agent for agent in agents if agent.keys() & {"family", "given", "literal"}]


def _agent(given: dict[str, Any]) -> dict[str, Any]:
    agent = filled({"family": given.get("family"), "given": given.get("given")})
    if not agent:
        agent = filled({"literal": given.get("name")})
    if given.get("ORCID"):
        agent["orcid"] = given["ORCID"].rpartition("/")[2]
    # Places are dropped; an organisation without a name is named by its identifier.
    agent["affiliations"] = [
        one.get("name") or one["id"][0]["id"] for one in given.get("affiliation") or []
    ]
    return filled(agent)


def _date(given: dict[str, Any] | None) -> str | None:
    parts = ((given or {}).get("date-parts") or [[None]])[0]
    if not parts or parts[0] is None:
        return None
    return "-".join([f"{parts[0]:04}", *(f"{part:02}" for part in parts[1:])])


def _issued(item: dict[str, Any]) -> str | None:
    # Other dates of publication replace an `issued` that is null or was not selected.
    names = ["issued", "published", "published-print", "published-online", "published-other"]
    dates = [_date(item.get(name)) for name in [*names, "posted"]]
    return next((date for date in dates if date), None)


def _landing_page(item: dict[str, Any]) -> str | None:
    # Characters that a URL may not contain are escaped.
    url = item.get("URL")
    return quote(url, safe=":/?#[]@!$&'()*+,;=%-._~") if url else None


def _specified(value: str | None) -> str | None:
    # "unspecified" means unknown.
    return None if value == "unspecified" else value


def _link(given: dict[str, Any]) -> dict[str, Any]:
    return filled(
        {
            "url": quote(given["URL"], safe=":/?#[]@!$&'()*+,;=%-._~"),
            "content_type": _specified(given.get("content-type")),
            "version": _specified(given.get("content-version")),
            "application": _specified(given.get("intended-application")),
        }
    )


def _licence(given: dict[str, Any]) -> dict[str, Any]:
    return filled(
        {
            "url": given["URL"],
            "start": _date(given.get("start")),
            "version": _specified(given.get("content-version")),
        }
    )


def _funder(given: dict[str, Any]) -> dict[str, Any]:
    return filled(
        {"name": given.get("name"), "doi": given.get("DOI"), "awards": given.get("award")}
    )


def _reference(given: dict[str, Any]) -> dict[str, Any]:
    title, container = given.get("article-title"), given.get("journal-title")
    volume, series = given.get("volume-title"), given.get("series-title")
    # A cited book's title is in `volume-title`.
    title, container = (
        (title, container or volume or series) if title else (volume, container or series)
    )
    return filled(
        {
            "key": given.get("key"),
            "doi": given.get("DOI"),
            "unstructured": given.get("unstructured"),
            "title": title,
            "author": given.get("author"),
            "year": given.get("year"),
            "container_title": container,
        }
    )


def _update(given: dict[str, Any]) -> dict[str, Any]:
    return filled(
        {
            "type": given["type"],
            "doi": given["DOI"],
            "date": _date(given.get("updated")),
            "source": given.get("source"),
        }
    )


def _relations(given: dict[str, Any]) -> list[dict[str, Any]]:
    # An assertion of both sides is listed once.
    found = [
        {"type": kind, "id_type": one["id-type"], "id": one["id"]}
        for kind, related in given.items()
        for one in related
    ]
    return list({tuple(one.values()): one for one in found}.values())
