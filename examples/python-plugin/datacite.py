"""Parses responses of DataCite's REST API to a search; independent of Carrel.

The document is JSON:API: `{"data": [{"id", "attributes": {…}}], "meta": {"total": …}}`. Unknown
members of a work are omitted, never guessed.
"""

import json
from collections.abc import Mapping
from typing import Any


class InvalidDocumentError(Exception):
    """The document is not a valid response.

    Attributes:
        offset: byte offset in UTF-8.
        path: the invalid member, such as `data[3].attributes`; empty for the whole document.
    """

    def __init__(self, message: str, *, offset: int = 0, path: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.path = path


def read_works(document: str) -> dict[str, Any]:
    """Returns the works of a page, and the total number of results.

    Raises:
        InvalidDocumentError: not JSON, or not a page of works.
    """
    try:
        page = json.loads(document)
    except json.JSONDecodeError as error:
        offset = len(document[: error.pos].encode())
        message = f"expected JSON but found {error.msg[:1].lower()}{error.msg[1:]}"
        raise InvalidDocumentError(message, offset=offset) from error
    except RecursionError as error:
        raise InvalidDocumentError("expected a page of works but found deep nesting") from error
    data = page.get("data") if isinstance(page, dict) else None
    if not isinstance(data, list):
        raise InvalidDocumentError("expected a list of works", path="data")
    works = [_work(item, f"data[{index}]") for index, item in enumerate(data)]
    total = _mapping(page.get("meta")).get("total", len(works))
    return {"total_results": total, "works": works}


def _work(item: object, path: str) -> dict[str, Any]:
    attributes = item.get("attributes") if isinstance(item, dict) else None
    if not isinstance(attributes, dict):
        raise InvalidDocumentError("expected a work with attributes", path=path)
    doi = attributes.get("doi")
    if not isinstance(doi, str) or not doi:
        raise InvalidDocumentError("expected a DOI", path=f"{path}.attributes.doi")
    work = {
        "doi": doi.lower(),
        "titles": [one for entry in _list(attributes, "titles") if (one := _text(entry, "title"))],
        "authors": [_author(entry) for entry in _list(attributes, "creators")],
        "publisher": _publisher(attributes.get("publisher")),
        "year": attributes.get("publicationYear"),
        "type": _text(_mapping(attributes.get("types")), "resourceTypeGeneral"),
        "abstract": _abstract(attributes),
        "url": _text(attributes, "url"),
    }
    return {key: value for key, value in work.items() if value is not None}


def _author(entry: Mapping[str, Any]) -> dict[str, Any]:
    author: dict[str, Any] = {"name": _text(entry, "name") or ""}
    for key, theirs in (("family", "familyName"), ("given", "givenName")):
        if text := _text(entry, theirs):
            author[key] = text
    for identifier in _list(entry, "nameIdentifiers"):
        if _text(identifier, "nameIdentifierScheme") == "ORCID":
            author["orcid"] = (_text(identifier, "nameIdentifier") or "").rpartition("/")[2]
    return author


def _publisher(value: object) -> str | None:
    """Returns the publisher's name, which is a string or an object with a name."""
    return value if isinstance(value, str) else _text(_mapping(value), "name")


def _abstract(attributes: Mapping[str, Any]) -> str | None:
    for description in _list(attributes, "descriptions"):
        if _text(description, "descriptionType") == "Abstract":
            return _text(description, "description")
    return None


def _list(mapping: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Returns the objects of a list; empty if there is no list."""
    value = mapping.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _text(mapping: Mapping[str, Any], key: str) -> str | None:
    """Returns a text without surrounding blanks; None if there is none."""
    value = mapping.get(key)
    return value.strip() or None if isinstance(value, str) else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
