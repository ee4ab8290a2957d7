"""Cites a page: APA and MLA as text, and BibTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from urllib.parse import urlsplit

from carrel.bibliography import write_bibliography
from carrel.text.printable import printable

from .metadata import page_metadata, shown_name

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
#: Authors in MLA and APA before "et al." and the ellipsis.
_MLA_AUTHORS, _APA_AUTHORS = 2, 20


@dataclass(frozen=True, slots=True)
class _Cited:
    """The parts of a citation.

    Attributes:
        people: authors, as of `contract/v1/document.schema.json`.
        parts: year, month and day of publication, as far as they are known.
        accessed: the day on which the page was read.
    """

    people: Sequence[Mapping[str, Any]]
    title: str
    site: str
    parts: list[int]
    url: str
    accessed: date


def cite_page(document: Mapping[str, Any], url: str, accessed: date) -> dict[str, str]:
    """Returns the citation of a page as `apa`, `mla` and `bibtex`, and the day it was read.

    Args:
        document: of the page's reader.
        url: the page's address.
        accessed: the day on which it was read.
    """
    facts = page_metadata(document)
    cited = _Cited(
        [person for person in document.get("authors", ()) if shown_name(person)],
        str(facts.get("title") or url),
        str(facts.get("site") or urlsplit(url).hostname or ""),
        [int(part) for part in str(facts.get("published", "")).split("-") if part],
        url,
        accessed,
    )
    return {
        "apa": _apa(cited),
        "mla": _mla(cited),
        "bibtex": write_bibliography([_item(cited)], "bibtex"),
        "accessed": accessed.isoformat(),
    }


def _apa(cited: _Cited) -> str:
    names = [_apa_name(person) for person in cited.people]
    if len(names) > _APA_AUTHORS:
        joined = ", ".join(names[: _APA_AUTHORS - 1]) + f", … {names[-1]}"
    elif len(names) > 1:
        joined = ", ".join(names[:-1]) + f", & {names[-1]}"
    else:
        joined = "".join(names)
    day = f"({_day(cited.parts, month_first=True)})"
    elements = [joined, day, cited.title] if joined else [cited.title, day]
    if joined != cited.site:
        elements.append(cited.site)
    return " ".join(_ended(element) for element in elements if element) + f" {cited.url}"


def _mla(cited: _Cited) -> str:
    people, accessed = cited.people, cited.accessed
    names = [_inverted(people[0]), *map(shown_name, people[1:])] if people else []
    joined = f"{names[0]}, et al." if len(names) > _MLA_AUTHORS else ", and ".join(names)
    day = _day(cited.parts, month_first=False) if cited.parts else ""
    today = _day([accessed.year, accessed.month, accessed.day], month_first=False)
    container = ", ".join(part for part in (cited.site, day, cited.url) if part)
    elements = [_ended(joined) if joined else "", f"“{_ended(cited.title)}”", _ended(container)]
    return " ".join(element for element in (*elements, f"Accessed {today}.") if element)


def _item(cited: _Cited) -> dict[str, Any]:
    author = []
    for person in cited.people:
        if person.get("family"):
            names = {name: person[name] for name in ("family", "given") if person.get(name)}
            author.append({name: printable(str(value), 200) for name, value in names.items()})
        else:
            author.append({"literal": shown_name(person)})
    accessed = cited.accessed
    item: dict[str, Any] = {
        "id": (urlsplit(cited.url).hostname or "page").replace(".", "-"),
        "type": "webpage",
        "title": cited.title,
        "container-title": cited.site,
        "URL": cited.url,
        "accessed": {"date-parts": [[accessed.year, accessed.month, accessed.day]]},
    }
    if author:
        item["author"] = author
    if cited.parts:
        item["issued"] = {"date-parts": [cited.parts]}
    return item


def _apa_name(person: Mapping[str, Any]) -> str:
    family, given = person.get("family"), person.get("given")
    if not family or not given:
        return shown_name(person)
    initials = " ".join(f"{word[0]}." for word in str(given).split() if word[0].isalpha())
    return printable(f"{family}, {initials}", 200)


def _inverted(person: Mapping[str, Any]) -> str:
    if person.get("family") and person.get("given"):
        return printable(f"{person['family']}, {person['given']}", 200)
    return shown_name(person)


def _day(parts: list[int], *, month_first: bool) -> str:
    """Words a date of one to three parts."""
    if not parts:
        return "n.d."
    year, *rest = parts
    months = [_MONTHS[number - 1] for number in rest[:1] if 1 <= number <= 12]
    days = [str(number) for number in rest[1:2] if months]
    if month_first:
        return ", ".join([str(year), " ".join(months + days)]) if months else str(year)
    return " ".join([*days, *months, str(year)])


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
