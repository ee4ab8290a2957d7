"""Takes the facts about a page from what its tags state, each with its origin."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from carrel.text.printable import printable

from .injections import addresses_model

#: Statements that one origin may have in an answer, and the characters of one.
_MOST, _LONGEST = 50, 1000
#: Facts that are not in the text that a person sees; those that address a model are left out.
_UNSEEN: Final = frozenset({"description", "site"})
#: Names of the date of publication and of the site, the best first.
_DATES: Final = ("published", "date", "issued", "created", "modified")
_SITES: Final = ("site_name", "journal", "conference", "publisher")
_DATE: Final = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")


def page_metadata(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns title, authors, date, site, description and language, as far as they are stated."""
    stated = document.get("metadata", ())
    facts = {
        "title": document.get("title"),
        "authors": [name for author in document.get("authors", ()) if (name := shown_name(author))],
        "published": published(document),
        "site": _first(stated, _SITES),
        "description": _first(stated, ("description",)),
        "language": document.get("language"),
    }
    return {
        name: value if isinstance(value, list) else printable(str(value), _LONGEST)
        for name, value in facts.items()
        if value and not (name in _UNSEEN and addresses_model(str(value)))
    }


def structured_data(document: Mapping[str, Any]) -> dict[str, list[dict[str, str]]]:
    """Returns the machine-readable statements by where they are: `json_ld`, `open_graph`…"""
    found: dict[str, list[dict[str, str]]] = {}
    for statement in document.get("metadata", ()):
        statements = found.setdefault(_origin(str(statement.get("from", ""))), [])
        if len(statements) < _MOST:
            statements.append({
                "name": printable(str(statement.get("name", "")), 100),
                "value": printable(str(statement.get("value", "")), _LONGEST),
            })  # fmt: skip
    return found


def published(document: Mapping[str, Any]) -> str | None:
    """Returns the date of publication as `YYYY`, `YYYY-MM` or `YYYY-MM-DD`."""
    for name in _DATES:
        for statement in document.get("metadata", ()):
            found = (
                _DATE.match(str(statement.get("value", "")))
                if statement.get("name") == name
                else None
            )
            if found is not None:
                parts = [part.zfill(2) for part in found.groups() if part]
                months = [1 <= int(part) <= most for part, most in zip(parts[1:], (12, 31))]  # noqa: B905 - fewer parts
                return "-".join(parts) if all(months) else parts[0]
    return None


def shown_name(person: Mapping[str, Any]) -> str:
    """Returns a person's or an organisation's name in one line."""
    names = [person.get("given"), person.get("family")]
    name = str(person.get("literal") or " ".join(str(part) for part in names if part))
    return printable(" ".join(name.split()), 200)


def _first(stated: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    for name in names:
        for statement in stated:
            if statement.get("name") == name and statement.get("value"):
                return " ".join(str(statement["value"]).split())
    return None


def _origin(source: str) -> str:
    """Returns the vocabulary of a statement by its source."""
    source = source.lower()
    if source.startswith("json-ld") or "ld+json" in source:
        return "json_ld"
    if source.startswith(("microdata", "rdfa")):
        return "microdata"
    tag = source.removeprefix("meta ")
    if tag.startswith("citation_"):
        return "citation"
    if tag.startswith(("og:", "article:", "twitter:", "book:", "profile:")):
        return "open_graph"
    if tag.startswith(("dc.", "dcterms.", "prism.")):
        return "dublin_core"
    return "other"
