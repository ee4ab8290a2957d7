"""Writes the bibliography XML of Word (`b:Sources`), which Word's list of sources loads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .dates import date_of
from .item import Item, names_of, text_of
from .keys import with_keys
from .texts import one_line
from .types import format_type
from .xml_text import xml_escaped

_NAMESPACE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/bibliography"
_TAGS = re.compile(r"</?(?:i|b|sup|sub|sc)>|<span [^<>]*>|</span>")
#: Type of source → the element of the title that contains it.
_CONTAINERS: Final = {
    "JournalArticle": "JournalName", "ArticleInAPeriodical": "PeriodicalTitle", "BookSection":
    "BookTitle", "ConferenceProceedings": "ConferenceName", "InternetSite": "InternetSiteTitle",
    "DocumentFromInternetSite": "InternetSiteTitle", "Case": "Reporter", "SoundRecording":
    "AlbumTitle", "Film": "BroadcastTitle", "Interview": "BroadcastTitle",
}  # fmt: skip
#: Type of source → the element of the publisher.
_PUBLISHERS: Final = {
    "Film": "ProductionCompany", "SoundRecording": "ProductionCompany", "Art": "Institution",
    "InternetSite": "ProductionCompany",
}  # fmt: skip
_AUTHORS: Final = {
    "Interview": "Interviewee", "Patent": "Inventor", "Film": "Director", "Art": "Artist",
    "SoundRecording": "Artist", "Performance": "Writer",
}  # fmt: skip
_NAMES: Final = (
    ("editor", "Editor"), ("translator", "Translator"), ("container-author", "BookAuthor"),
    ("interviewer", "Interviewer"), ("composer", "Composer"), ("performer", "Performer"),
    ("compiler", "Compiler"), ("director", "Director"),
)  # fmt: skip
_TEXTS: Final = (
    ("title-short", "ShortTitle"), ("volume", "Volume"), ("issue", "Issue"), ("page", "Pages"),
    ("edition", "Edition"), ("number-of-volumes", "NumberVolumes"), ("chapter-number",
    "ChapterNumber"), ("publisher-place", "City"), ("medium", "Medium"), ("version", "Version"),
    ("genre", "ThesisType"), ("URL", "URL"), ("DOI", "DOI"), ("note", "Comments"),
)  # fmt: skip
#: The longest tag that Word accepts.
_MAX_TAG: Final = 50


def write_word(items: Sequence[Item]) -> str:
    """Returns the items as a file of Word's sources."""
    found = [_source(item, key) for item, key in with_keys(items, _tag)]
    inner = "".join(f"  <b:Source>{source}</b:Source>\n" for source in found)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<b:Sources SelectedStyle="" xmlns:b="{_NAMESPACE}" xmlns="{_NAMESPACE}">\n'
        f"{inner}</b:Sources>\n"
    )


def _tag(key: str) -> str:
    return re.sub(r"[^\w.:-]", "", key)[:_MAX_TAG]


def _source(item: Item, key: str) -> str:
    kind = str(format_type("word", item))
    elements: dict[str, str] = {}
    for name, text in _texts(item, kind):
        line = one_line(_TAGS.sub("", text))
        if line and name not in elements:
            elements[name] = f"<b:{name}>{xml_escaped(line)}</b:{name}>"
    tag = f"<b:Tag>{xml_escaped(key)}</b:Tag><b:SourceType>{kind}</b:SourceType>"
    return tag + _authors(item, kind) + "".join(elements.values())


def _texts(item: Item, kind: str) -> Iterator[tuple[str, str]]:
    yield "Title", text_of(item, "title")
    yield _CONTAINERS.get(kind, "PublicationTitle"), text_of(item, "container-title")
    yield (
        "Publisher" if kind != "Report" else "Institution",
        (text_of(item, "publisher") if kind not in _PUBLISHERS else ""),
    )
    yield _PUBLISHERS.get(kind, "Publisher"), text_of(item, "publisher")
    yield from _date(item, "issued", "")
    yield from _date(item, "accessed", "Accessed")
    number = text_of(item, "number")
    yield (
        "PatentNumber" if kind == "Patent" else "CaseNumber" if kind == "Case" else "Number",
        number,
    )
    for variable in ("ISBN", "ISSN"):
        yield "StandardNumber", text_of(item, variable)
    for variable, name in _TEXTS:
        yield name, text_of(item, variable)
    yield "ConferenceName", text_of(item, "event-title")
    yield "Comments", text_of(item, "abstract")


def _date(item: Item, variable: str, suffix: str) -> Iterator[tuple[str, str]]:
    date = date_of(item.get(variable))
    if date is None:
        return
    if "literal" in date:
        yield f"Year{suffix}", date["literal"]
        return
    first, *rest = date["date-parts"]
    end = f"-{rest[0][0]}" if rest and rest[0][0] not in {0, first[0]} else ""
    for name, number in zip(("Year", "Month", "Day"), first, strict=False):
        yield f"{name}{suffix}", f"{number}{end}" if name == "Year" else str(number)


def _authors(item: Item, kind: str) -> str:
    roles = [("author", _AUTHORS.get(kind, "Author")), *_NAMES]
    found: dict[str, str] = {}
    for variable, element in roles:
        names = names_of(item, variable)
        if names and element not in found:
            found[element] = f"<b:{element}>{_names(names)}</b:{element}>"
    return f"<b:Author>{''.join(found.values())}</b:Author>" if found else ""


def _names(names: list[dict[str, str]]) -> str:
    literal = [name.get("literal", "") for name in names]
    if all(literal):
        return f"<b:Corporate>{xml_escaped(one_line('; '.join(literal)))}</b:Corporate>"
    return f"<b:NameList>{''.join(_person(name) for name in names)}</b:NameList>"


def _person(name: dict[str, str]) -> str:
    particles = (name.get("dropping-particle"), name.get("non-dropping-particle"))
    family = name.get("literal") or name.get("family") or name.get("given", "")
    given, _, middle = name.get("given", "").partition(" ") if name.get("family") else ("", "", "")
    parts = {
        "Last": " ".join(filter(None, (*particles, family, name.get("suffix")))),
        "First": given,
        "Middle": middle,
    }
    inner = "".join(
        f"<b:{part}>{xml_escaped(one_line(text))}</b:{part}>"
        for part, text in parts.items()
        if text
    )
    return f"<b:Person>{inner}</b:Person>"
