"""Makes an item of an entry's fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from carrel.bibliography.dates import CslDate, parse_edtf, parse_year
from carrel.bibliography.item import NAME_VARIABLES, Item
from carrel.bibliography.languages import language_tag
from carrel.bibliography.texts import joined_keywords, keywords_of
from carrel.bibliography.types import csl_type

from .custom import read_custom
from .fields import (
    ALIASES,
    CONSUMED,
    DATE_FIELDS,
    EDITOR_TYPES,
    EDITORS,
    GENRES,
    ISSUE_TYPES,
    NAME_FIELDS,
    OWN_NAMES,
    PUBLISHERS,
    SERIES_TYPES,
    TEXT_FIELDS,
    TITLES,
)
from .inheritance import RawEntry
from .latex import decode_latex, unescape
from .names import read_names

_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_URL = re.compile(r"\\(?:url|href)\s*\{([^{}]*)\}")
_BARE_URL = re.compile(r"https?://\S+")
_DASHES = re.compile(r"\s*(?:--+|\u2013|\u2014|\\textendash(?:\{\}|\s)?)\s*")
_ARXIV = re.compile(
    r"(?:arxiv:)?\s*([a-z-]+(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5})(v\d+)?", re.IGNORECASE
)


#: Entries that are no part of a book; `booktitle` is a title of theirs.
_WHOLE: Final = frozenset({
    "book", "collection", "proceedings", "reference", "mvbook", "mvcollection", "mvproceedings",
    "mvreference",
})  # fmt: skip


_KNOWN: Final = frozenset({
    *CONSUMED, *TEXT_FIELDS, *NAME_FIELDS, *DATE_FIELDS, *OWN_NAMES, *EDITORS, *EDITORS.values(),
})  # fmt: skip


def item_of(key: str, entry: RawEntry) -> Item:
    """Returns the item of an entry."""
    fields = _with_aliases(entry.fields)
    item: Item = {"id": key, "type": _type_of(entry.kind, fields)}
    _read_titles(item, entry.kind, fields)
    _read_name_lists(item, fields)
    _read_dates(item, fields)
    for name, variable in TEXT_FIELDS.items():
        if name in fields and variable not in item:
            _put(item, variable, decode_latex(fields[name], title=name in TITLES))
    _read_numbers(item, entry.kind, fields)
    _read_publisher(item, fields)
    _read_identifiers(item, fields)
    for name in OWN_NAMES:
        if name in fields:
            _put(item, name, decode_latex(fields[name]))
    _read_language(item, fields)
    if "keywords" in fields:
        words = keywords_of(decode_latex(fields["keywords"]))
        _put(item, "keyword", joined_keywords(words))
    read_custom(item, fields.get("carrel", ""), _unknown(item, entry))
    return item


def _with_aliases(fields: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.items():
        canonical = ALIASES.get(name, name)
        if name == canonical or (canonical not in fields and canonical not in found):
            found[canonical] = value
    return found


def _put(item: Item, name: str, value: str) -> None:
    if value:
        item[name] = value


def _type_of(kind: str, fields: Mapping[str, str]) -> str:
    subtype = decode_latex(fields.get("entrysubtype", "")).lower()
    if subtype:
        from carrel.bibliography.item import TYPES

        subtypes = {"magazine": "article-magazine", "newspaper": "article-newspaper"}
        subtype = subtypes.get(subtype, subtype)
        if subtype in TYPES:
            return subtype
    found = csl_type("bibtex", kind) or "document"
    if kind == "unpublished" and fields.get("eprint"):
        return "article"
    if kind in {"misc", "online"} and _is_preprint(fields):
        return "article"
    return found


def _is_preprint(fields: Mapping[str, str]) -> bool:
    return fields.get("eprinttype", "").strip("{} ").lower() == "arxiv" and "eprint" in fields


def _read_titles(item: Item, kind: str, fields: Mapping[str, str]) -> None:
    def joined(name: str, subtitle: str) -> str:
        title = decode_latex(fields.get(name, ""), title=name in TITLES)
        more = decode_latex(fields.get(subtitle, ""), title=subtitle in TITLES)
        if not title or not more:
            return title or more
        return f"{title} {more}" if title[-1] in ":?!." else f"{title}: {more}"

    journal = joined("journaltitle", "journalsubtitle")
    book = joined("booktitle", "booksubtitle")
    main = joined("maintitle", "mainsubtitle")
    title = joined("title", "subtitle")
    if kind in _WHOLE and book and title in {"", book}:
        title, book = book, ""
    _put(item, "title", title or main if kind.startswith("mv") else title)
    container = journal or book
    if not container and main and main != item.get("title"):
        container = main
    elif main and book and journal == "":
        _put(item, "volume-title", book if "volume" in fields else "")
        container = main if "volume" in fields else book
    _put(item, "container-title", container)


def _read_name_lists(item: Item, fields: Mapping[str, str]) -> None:
    for name, variable in NAME_FIELDS.items():
        if name in fields:
            names = read_names(fields[name])
            if names:
                item[variable] = names
    for name, kind_field in EDITORS.items():
        names = read_names(fields.get(name, ""))
        if not names:
            continue
        kind = fields.get(kind_field, "" if name == "editor" else "collaborator").strip("{} ")
        variable = EDITOR_TYPES.get(kind.lower(), kind.lower())
        if variable not in NAME_VARIABLES:
            variable = "editor" if name == "editor" else "contributor"
        item[variable] = [*item.get(variable, ()), *names]


def _read_dates(item: Item, fields: Mapping[str, str]) -> None:
    issued: CslDate | None = None
    if "date" in fields:
        issued = parse_edtf(_plain_date(fields["date"]))
    if issued is None and "year" in fields:
        month, day = (decode_latex(fields.get(name, "")) for name in ("month", "day"))
        issued = parse_year(_plain_date(fields["year"]), month.replace("\u00a0", " "), day)
    if issued is None and _plain_date(fields.get("date", "")):
        issued = parse_year(_plain_date(fields["date"]))
    if issued:
        item["issued"] = issued
    for name, variable in DATE_FIELDS.items():
        text = _plain_date(fields.get(name, ""))
        if text:
            from carrel.bibliography.dates import parse_any

            date = parse_edtf(text) or parse_any(text)
            if date:
                item[variable] = date


def _plain_date(source: str) -> str:
    if source.isascii() and "\\" not in source and "{" not in source:
        return source.strip().replace("--", "-") if "--" in source else source.strip()
    return decode_latex(source.replace("~", "\\textasciitilde{}")).replace("\u2013", "-")


def _read_numbers(item: Item, kind: str, fields: Mapping[str, str]) -> None:
    number = decode_latex(fields.get("number", ""))
    issue = decode_latex(fields.get("issue", ""))
    if item["type"] in ISSUE_TYPES:
        _put(item, "issue", number or issue)
    elif (
        number and item["type"] in SERIES_TYPES and ("series" in fields or kind != "inproceedings")
    ):
        _put(item, "collection-number", number)
    elif number and item["type"] == "paper-conference":
        _put(item, "issue", number)
    else:
        _put(item, "number", number)
    if issue and "issue" not in item:
        _put(item, "issue", issue)
    eid = decode_latex(fields.get("eid", ""))
    if eid and "number" not in item:
        _put(item, "number", eid)
    _put(item, "page", _pages(fields.get("pages", "")))
    genre = item.get("genre")
    if genre in GENRES:
        item["genre"] = GENRES[genre]
    elif kind in {"phdthesis", "mastersthesis"} and not genre:
        item["genre"] = GENRES[kind]


def _pages(source: str) -> str:
    """Returns a range of pages with a hyphen: `12-34`, `12-34, 56`."""
    text = decode_latex(_DASHES.sub("-", " ".join(source.split()))).replace("\u2013", "-")
    text = re.sub(r"\s*-\s*(?=\d)", "-", text)
    return re.sub(r"\s*,\s*", ", ", text).strip("- ,")


def _read_publisher(item: Item, fields: Mapping[str, str]) -> None:
    for name in PUBLISHERS:
        source = fields.get(name, "")
        if name == "howpublished" and source:
            found = _URL.search(source) or _BARE_URL.search(source)
            if found:
                _put(
                    item, "URL", unescape(found[1] if found.re is _URL else found[0].rstrip(".,}"))
                )
                source = ""
        text = decode_latex(source)
        if text and "publisher" not in item:
            item["publisher"] = text


def _read_identifiers(item: Item, fields: Mapping[str, str]) -> None:
    _put(item, "DOI", _DOI.sub("", unescape(fields.get("doi", ""))))
    if "url" in fields:
        _put(item, "URL", unescape(fields["url"]))
    kind = unescape(fields.get("eprinttype", "")).lower()
    eprint = unescape(fields.get("eprint", fields.get("arxiv", "")))
    if not eprint:
        return
    arxiv = _ARXIV.fullmatch(eprint)
    if kind == "arxiv" or "arxiv" in fields or (not kind and arxiv):
        item["archive"] = "arXiv"
        item["archive_location"] = arxiv[1] + (arxiv[2] or "") if arxiv else eprint
    elif kind in {"pubmed", "pmid"}:
        item.setdefault("PMID", eprint)
    elif kind in {"pmc", "pmcid"}:
        item.setdefault("PMCID", eprint)
    else:
        _put(item, "archive", decode_latex(fields.get("eprinttype", "")))
        item["archive_location"] = eprint


def _read_language(item: Item, fields: Mapping[str, str]) -> None:
    language = decode_latex(fields.get("langid", "")) or decode_latex(fields.get("language", ""))
    _put(item, "language", language_tag(language))


def _unknown(item: Item, entry: RawEntry) -> dict[str, Any]:
    """Returns the fields that have no variable, as they are written."""
    publishers = [name for name in PUBLISHERS if entry.fields.get(name)]
    found = {}
    for name, value in entry.fields.items():
        field = ALIASES.get(name, name)
        second = field in publishers[1:] and "://" not in value
        if (
            field not in _KNOWN and field not in PUBLISHERS[:1] and field not in publishers
        ) or second:
            found[name] = " ".join(value.split())
    issued = item.get("issued", {})
    ends = issued.get("date-parts", [[]])
    if "month" in entry.fields and len(ends[-1]) < 2 and "season" not in issued:
        found["month"] = entry.fields["month"]
    return found
