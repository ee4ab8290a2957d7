"""Writes EndNote XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from carrel.bibliography.dates import date_of, edtf, is_plain
from carrel.bibliography.item import Item, names_of, text_of
from carrel.bibliography.keys import with_keys
from carrel.bibliography.ris.names import written_name
from carrel.bibliography.texts import keywords_of, one_line
from carrel.bibliography.types import format_type
from carrel.bibliography.xml_text import xml_escaped

from .fields import BOOK_NAMES, BOOKS, NAMES, NUMBERED, TEXTS

_TAG = re.compile(r"<(i|b|sup|sub)>((?:(?!</?(?:i|b|sup|sub)>).)*)</\1>")
_FACES: Final = {"i": "italic", "b": "bold", "sup": "superscript", "sub": "subscript"}
#: Elements that are written as they were read.
_KEPT = re.compile(r"auth-[a-z-]{4,20}|custom[1-9]|misc[1-9]|caption|orig-pub|reprint-edition|image"
                   r"|reviewed-item|availability|work-location|meeting-place|coden|report-id|size"
                   r"|modified-date|translated-title|section")  # fmt: skip
#: Elements of a record in the order of EndNote's document type.
_ORDER: Final = (
    "contributors", "titles", "periodical", "pages", "volume", "number", "num-vols", "edition",
    "section", "keywords", "dates", "pub-location", "publisher", "isbn", "accession-num",
    "call-num", "label", "work-type", "abstract", "notes", "research-notes", "urls", "custom1",
    "custom2", "custom3", "custom7", "electronic-resource-num", "remote-database-name",
    "remote-database-provider", "language", "access-date",
)  # fmt: skip


def write_endnote(items: Sequence[Item]) -> str:
    """Returns the items as an EndNote XML file."""
    found = [_record(item, key, number) for number, (item, key) in enumerate(with_keys(items), 1)]
    inner = "".join(f"    {record}\n" for record in found)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<xml>\n  <records>\n{inner}  </records>\n</xml>\n'
    )


def _record(item: Item, key: str, number: int) -> str:
    kind, name = format_type("endnote", item)
    elements = dict.fromkeys(_ORDER, "")
    elements |= dict(_elements(item, key))
    inner = "".join(elements[element] for element in _ORDER) + _unmapped(
        item, {name for name in elements if elements[name]}
    )
    return (
        f"<record><rec-number>{number}</rec-number>"
        f'<ref-type name="{xml_escaped(name)}">{kind}</ref-type>{inner}</record>'
    )


def _elements(item: Item, key: str) -> Iterator[tuple[str, str]]:
    values = _values(item) | {"citation-label": key}
    yield "contributors", _wrapped("contributors", _contributors(item))
    titles = [
        _element(path[-1], values.get(variable, ""))
        for path, variable in TEXTS
        if path[0] == "titles"
    ]
    yield "titles", _wrapped("titles", "".join(titles))
    if item.get("type") in BOOKS:
        full = _element("full-title", text_of(item, "container-title"))
        yield "periodical", _wrapped("periodical", full)
    for path, variable in TEXTS:
        if len(path) == 1:
            yield path[0], _element(path[0], values.get(variable, ""))
    for element in ("custom1", "custom3"):
        yield element, _element(element, values.get(element, ""))
    words = [_element("keyword", word) for word in keywords_of(text_of(item, "keyword"))]
    yield "keywords", _wrapped("keywords", "".join(words))
    yield "dates", _dates(item)
    numbers = filter(None, (text_of(item, "ISSN"), text_of(item, "ISBN")))
    yield "isbn", _element("isbn", ", ".join(numbers))
    url = _element("url", text_of(item, "URL"))
    yield "urls", _wrapped("urls", _wrapped("related-urls", url))
    accessed = date_of(item.get("accessed"))
    if accessed:
        yield "access-date", _element("access-date", edtf(accessed) or accessed.get("literal", ""))


def _unmapped(item: Item, written: set[str]) -> str:
    """Returns the stored elements that no variable has."""
    custom = item.get("custom")
    unmapped = custom.get("endnote") if isinstance(custom, dict) else None
    elements = []
    for name, values in unmapped.items() if isinstance(unmapped, dict) else ():
        if _KEPT.fullmatch(str(name)) and name not in written and isinstance(values, list):
            elements += [_element(name, value) for value in values if isinstance(value, str)]
    return "".join(elements)


def _values(item: Item) -> dict[str, str]:
    values = {variable: text_of(item, variable) for _, variable in TEXTS}
    kind = item.get("type")
    if kind == "paper-conference" and text_of(item, "event-title"):
        values["custom3"] = values["container-title"]
        values["container-title"] = text_of(item, "event-title")
    if kind == "paper-conference":
        values["custom1"] = text_of(item, "event-place")
    if kind in BOOKS:
        values["page"] = values["page"] or text_of(item, "number-of-pages")
    if kind in BOOKS:  # whose second title is the series
        values["container-title"] = values.pop("collection-title")
    if kind in NUMBERED and values["number"]:
        values["issue"] = values.pop("number")
    if values["archive"].lower() == "arxiv" and values["archive_location"]:
        values["archive_location"] = f"arXiv:{values['archive_location']}"
        values["archive"] = ""
    elif text_of(item, "PMID"):
        values["archive_location"] = text_of(item, "PMID")
    return values


def _contributors(item: Item) -> str:
    found = []
    for element, variable in BOOK_NAMES if item.get("type") == "book" else NAMES:
        names = [_element("author", _written(name)) for name in names_of(item, variable)]
        found.append(_wrapped(element, "".join(names)))
    return "".join(found)


def _written(name: dict[str, str]) -> str:
    """Returns a name; EndNote writes a comma behind those of organisations."""
    text = written_name(name).rstrip(", ")
    return f"{text}," if (name.get("literal") or not name.get("given")) and text else text


def _dates(item: Item) -> str:
    date = date_of(item.get("issued"))
    if date is None:
        return ""
    parts = date.get("date-parts")
    if not parts:
        return _wrapped("dates", _element("year", date.get("literal", "")))
    if not is_plain(date) or parts[0][0] < 1:
        return _wrapped("dates", _element("year", edtf(date)))
    day = _element("date", edtf({"date-parts": parts})) if len(parts[0]) > 1 else ""
    year = _element("year", f"{parts[0][0]:04d}")
    return _wrapped("dates", year + _wrapped("pub-dates", day))


def _element(name: str, text: str) -> str:
    line = one_line(text)
    return f"<{name}>{_styled(line)}</{name}>" if line else ""


def _wrapped(name: str, inner: str) -> str:
    return f"<{name}>{inner}</{name}>" if inner else ""


def _styled(text: str) -> str:
    """Returns a text with its italic, bold, raised and lowered parts as EndNote's styles."""
    text = re.sub(r'<span class="nocase">(.*?)</span>', r"\1", text)
    pieces, end = [], 0
    for tag in _TAG.finditer(text):
        pieces.append(_plain(text[end : tag.start()]))
        pieces.append(f'<style face="{_FACES[tag[1]]}">{xml_escaped(tag[2])}</style>')
        end = tag.end()
    if not pieces:
        return xml_escaped(text)
    pieces.append(_plain(text[end:]))
    return "".join(pieces)


def _plain(text: str) -> str:
    return f'<style face="normal">{xml_escaped(text)}</style>' if text else ""
