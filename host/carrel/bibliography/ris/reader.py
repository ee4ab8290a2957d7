"""Reads RIS as Zotero, Mendeley, EndNote, publishers and databases write it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from carrel.bibliography.bibliography import Bibliography, Entry, Unread
from carrel.bibliography.bibtex.fields import ISSUE_TYPES
from carrel.bibliography.dates import CslDate, parse_any, parse_edtf
from carrel.bibliography.identifiers import doi_of, put_standard_numbers
from carrel.bibliography.item import Item
from carrel.bibliography.languages import language_tag
from carrel.bibliography.texts import joined_keywords
from carrel.bibliography.types import csl_type

from .lines import TAGS, RisLines
from .names import read_name
from .tagged import TaggedRecord, records
from .web_of_science import is_web_of_science, read_web_of_science

_ARXIV = re.compile(r"(?:arxiv:)\s*(\S+)", re.IGNORECASE)
_PMID = re.compile(r"(?:MED(?:LINE)?:|PMID:? ?)?([0-9]{1,8})")
_NAMED_PMID = re.compile(r"PMID: ?[0-9]{1,8}")
#: Databases whose accession numbers are PMIDs.
_MEDLINE = re.compile(r"medline|pubmed|\bnlm\b", re.IGNORECASE)

#: Tag → variable, for those that mean the same in all types.
_TEXTS: Final = {
    "VL": "volume", "VO": "volume", "IS": "issue", "ET": "edition", "PB": "publisher",
    "CY": "publisher-place", "PP": "publisher-place", "T3": "collection-title", "NV":
    "number-of-volumes", "ST": "title-short", "M3": "genre", "CN": "call-number", "DP": "source",
    "SV": "collection-number", "M1": "number", "C6": "status", "RI": "reviewed-title",
    "PU": "publisher", "PI": "publisher-place",
}  # fmt: skip
_TITLES: Final = ("TI", "T1", "CT")
_ABSTRACTS: Final = ("AB", "N2")
#: Tags of the title of what contains the work; the first that has a value is it.
_JOURNALS: Final = ("JF", "T2", "JO", "BT", "JA", "J1", "J2", "J9", "JI")
_SHORT_JOURNALS: Final = ("J2", "JA", "J1", "JI", "J9", "JO")
#: Tags all values of which are read.
_WHOLE: Final = frozenset({
    "TY", "ID", "SP", "EP", "SN", "KW", "K1", "N1", "AU", "A1", "A2", "A3", "A4", "ED",
})  # fmt: skip
#: Tags of which another value than the first is kept, unless a member has it.
_READ: Final = frozenset({
    *_TEXTS, *_TITLES, *_ABSTRACTS, *_JOURNALS, "PY", "Y1", "DA", "Y2", "DO", "DI", "UR", "LA",
    "CP", "AN", "DB", "C1", "C2", "C3", "C7", "CL", "SE", "L3",
})  # fmt: skip
#: Tags each line of which is a value.
_LISTS: Final = frozenset({"KW", "K1", "SN", "UR", "L1", "L2", "L3", "L4"})
_BOOKS: Final = frozenset({"book", "collection", "thesis", "report", "pamphlet", "classic"})
_PAPERS: Final = frozenset({"CPAPER", "CONF"})
_DATES: Final = {"PY": "issued", "Y1": "issued", "DA": "issued", "Y2": "accessed", "ET":
                 "available-date"}  # fmt: skip
_OTHER_ROLES: Final = {
    "author": ("AU", "A1"), "editor": ("ED", "A2"), "collection-editor": ("A3",),
    "translator": ("A4",),
}  # fmt: skip
#: Value of `TY` → variable → tags. EndNote's books have the editor of the series before their own.
_ROLES: Final = {
    "BOOK": {**_OTHER_ROLES, "editor": ("A3",), "collection-editor": ("A2",)},
    "EDBOOK": {
        **_OTHER_ROLES, "author": (), "editor": ("AU", "A1", "A3"), "collection-editor": ("A2",),
    },
}  # fmt: skip
#: The same of books whose editors have a tag of their own.
_ROLES_BESIDE_EDITORS: Final = {
    **_OTHER_ROLES, "editor": ("ED",), "collection-editor": ("A2", "A3"),
}  # fmt: skip


def read_ris(text: str) -> Bibliography:
    """Returns the records of a RIS text, or of an export of Web of Science."""
    if is_web_of_science(text):
        return read_web_of_science(text)
    entries, unread = [], []
    found = records(text, RisLines(), "TY", "ER", lists=_LISTS, loose=TAGS - {"ER"})
    for number, record in enumerate(found, 1):
        item = _item(record)
        label = item["id"] or f"record {number}"
        kind = record.first("TY")
        if _type(kind) is None:
            problem = f"the type {kind!r} is not one of RIS" if kind else "it has no type (TY)"
            message = f"{problem}; it was read as a document"
            unread.append(Unread(label, record.line, message))
        if any(tag != "TY" for tag, _ in record.values):
            entries.append(Entry(item, label, record.line))
        else:
            unread.append(Unread(label, record.line, "it has no tags besides its type"))
    return Bibliography("ris", tuple(entries), tuple(unread))


def _type(kind: str) -> str | None:
    return csl_type("ris", kind.upper()) or csl_type("names", kind.lower())


def _item(record: TaggedRecord) -> Item:
    kind = record.first("TY").upper()
    item: Item = {
        "id": record.first("ID"),
        "type": _type(kind) or "document",
    }
    _read_titles(item, record, kind)
    _read_names(item, record, kind)
    _read_dates(item, record)
    for tag, variable in _TEXTS.items():
        value = record.first(tag)
        if value and variable not in item:
            item[variable] = value
    if not record.first(*_TITLES, *_JOURNALS):
        item.pop("title-short", None)  # it was read as the title
    _read_numbers(item, record, kind)
    _read_pages(item, record)
    put_standard_numbers(item, record.all("SN"))
    _read_identifiers(item, record)
    _read_texts(item, record)
    _keep_unmapped(item, record)
    return item


def _put(item: Item, name: str, value: str) -> None:
    if value:
        item[name] = value


def _read_titles(item: Item, record: TaggedRecord, kind: str) -> None:
    title = record.first(*_TITLES)
    container = record.first(*_JOURNALS)
    if not title and record.first("BT"):
        title, container = record.first("BT"), record.first("JF", "T2", "JO")
    elif not title and item["type"] in _BOOKS | {"periodical"}:
        title, container = container, ""
    _put(item, "title", title or record.first("ST"))
    if item["type"] in _BOOKS and record.first("T2") and not record.first("T3"):
        # The second title of a book is its series.
        item["collection-title"] = record.first("T2")
        container = record.first("JF", "JO")
    elif item["type"] in ISSUE_TYPES:
        container, issue = _journal(record, container)
        if not record.first("T3"):
            _put(item, "collection-title", issue)
    elif kind in _PAPERS:
        container = _read_conference(item, record) or container
    _put(item, "container-title", container)
    existing = {"", container, item.get("collection-title"), item.get("event-title")}
    short = (journal for journal in map(record.first, _SHORT_JOURNALS) if journal not in existing)
    _put(item, "container-title-short", next(short, "") if container else "")


def _journal(record: TaggedRecord, container: str) -> tuple[str, str]:
    """Returns the title of the journal and that of a special issue.

    ScienceDirect has the journal in `JO`, and in `T2` the title of the issue.
    """
    second, own = record.first("T2"), record.first("JO")
    if record.first("JF") or not second or not own or _abbreviates(own, second):
        return container, ""
    return own, "" if _abbreviates(second, own) else second


def _abbreviates(short: str, title: str) -> bool:
    """Returns whether the words of a title begin, in their order, with those of the short one."""
    words = iter(title.lower().split())
    parts = re.findall(r"[^\W_]+", short.lower())
    initials = "".join(word[0] for word in title.lower().split())
    return short.lower() == initials or all(
        any(word.startswith(part) for word in words) for part in parts
    )


def _read_conference(item: Item, record: TaggedRecord) -> str:
    """Sets the title and place of the conference, and returns the title of its proceedings."""
    if record.first("AN").startswith("WOS:"):  # whose C1 and C3 are the authors' institutions
        _put(item, "event-title", record.first("CP"))
        _put(item, "event-place", record.first("CL"))
        return ""
    _put(item, "event-place", record.first("C1"))
    proceedings = record.first("C3")
    if proceedings and record.first("T2") != proceedings:
        _put(item, "event-title", record.first("T2"))
    return proceedings


def _read_names(item: Item, record: TaggedRecord, kind: str) -> None:
    roles: Mapping[str, tuple[str, ...]] = _ROLES.get(kind, _OTHER_ROLES)
    if kind in _ROLES and record.first("ED"):
        roles = _ROLES_BESIDE_EDITORS
    for variable, tags in roles.items():
        names = [
            name
            for value in record.all(*tags)
            for part in _split_names(value)
            if (name := read_name(part))
        ]
        if names:
            item[variable] = names


def _split_names(value: str) -> list[str]:
    """Returns the names of `Desk, Ann; Lamp, Ben`, which some programs write into one line."""
    parts = value.split("; ")
    several = all("," in part for part in parts) and not value.endswith(",")
    return parts if several else [value]


def _read_dates(item: Item, record: TaggedRecord) -> None:
    years = [parse_any(record.first(tag)) for tag in ("PY", "Y1", "DA")]
    dates: list[CslDate | None] = [date for date in years if date]
    issued: CslDate | None = next((date for date in dates if date and "date-parts" in date), None)
    if issued is None:
        issued = dates[0] if dates else None
    else:
        day = years[-1]
        if day and "date-parts" not in day:
            dates.append(_day_without_year(record, issued))
        for date in dates:
            if date and _more_exact(date, issued):
                issued = date
    if issued:
        item["issued"] = issued
    accessed = parse_any(record.first("Y2"))
    if accessed:
        item["accessed"] = accessed
    epub_date = record.first("ET") if item["type"] in ISSUE_TYPES else ""
    online = parse_edtf(epub_date.replace("/", "-")) if epub_date else None
    if online and len(online["date-parts"][0]) == 3:
        item["available-date"] = online  # EndNote's `Epub Date`


def _day_without_year(record: TaggedRecord, issued: CslDate) -> CslDate | None:
    """Returns the date of `DA  - May 3` in a known year."""
    return parse_any(f"{issued['date-parts'][0][0]} {record.first('DA')}")


def _more_exact(day: CslDate, year: CslDate) -> bool:
    if "date-parts" not in day or day["date-parts"][0][0] != year["date-parts"][0][0]:
        return False
    return _exactness(day) > _exactness(year)


def _exactness(date: CslDate) -> tuple[int, int]:
    return len(date["date-parts"][0]) + ("season" in date), len(date["date-parts"])


def _read_numbers(item: Item, record: TaggedRecord, kind: str) -> None:
    article = record.first("C7")
    if article and item["type"] in ISSUE_TYPES:
        item["number"] = article
    section = record.first("SE")
    if kind in {"CHAP", "ECHAP"}:
        _put(item, "chapter-number", section)
    elif item["type"] not in ISSUE_TYPES or item["type"] == "article-newspaper":
        _put(item, "section", section)  # of a journal, EndNote's `Start Page`
    if "available-date" in item:
        item.pop("edition", None)
    doi = doi_of(item.get("genre", ""))
    if doi:  # where EndNote's filters and JSTOR put it
        item.setdefault("DOI", doi)
        del item["genre"]


def _read_pages(item: Item, record: TaggedRecord) -> None:
    first, last = record.first("SP"), record.first("EP")
    if "issue" not in item and "event-title" not in item:
        _put(item, "issue", record.first("CP"))
    if not first and not last:
        return
    first = re.sub(r"\s*(?:--+|\u2013)\s*", "-", first)
    if item["type"] in _BOOKS and not last and re.fullmatch(r"[0-9]+(?: ?p+\.?)?", first):
        item["number-of-pages"] = first
    elif last and last not in {first, first.partition("-")[2]} and "-" not in first:
        item["page"] = f"{first}-{last}" if first else last
    else:
        _put(item, "page", first or last)


def _read_identifiers(item: Item, record: TaggedRecord) -> None:
    raw_doi = record.first("DO", "DI")
    texts = (*record.all("L3", "N1"), record.first("ID").removesuffix(" [doi]"))
    doi = next((found for text in record.all("DO", "DI") if (found := doi_of(text))), raw_doi)
    urls = _urls(record)
    if not doi and urls and "doi.org/" in urls[0]:
        doi = doi_of(urls[0])
    doi = doi or item.get("DOI") or next((found for text in texts if (found := doi_of(text))), "")
    _put(item, "DOI", doi)
    _put(item, "URL", urls[0] if urls else "")
    _read_archive(item, record)
    pmcid = record.first("C2")
    if re.fullmatch(r"PMC\d+", pmcid):
        item["PMCID"] = pmcid


def _read_archive(item: Item, record: TaggedRecord) -> None:
    """Reads the archive and the PMID, which is the number that is named so, if there is one."""
    numbers, archive = record.all("AN"), record.first("DB")
    named = next((number for number in numbers if _NAMED_PMID.fullmatch(number)), "")
    number = next((number for number in numbers if number != named), "")
    if named:
        item["PMID"] = named.partition(":")[2].strip()
        if not number and _MEDLINE.search(archive):
            return
    arxiv = _ARXIV.fullmatch(number)
    pubmed = None if named else _PMID.fullmatch(number)
    if arxiv:
        item |= {"archive": "arXiv", "archive_location": arxiv[1]}
    elif pubmed and (not archive or _MEDLINE.search(archive)):
        item["PMID"] = pubmed[1]
    else:
        _put(item, "archive", archive)
        _put(item, "archive_location", number)


def _urls(record: TaggedRecord) -> list[str]:
    return [url for value in record.all("UR") for url in _urls_in(value)]


def _read_texts(item: Item, record: TaggedRecord) -> None:
    _put(item, "abstract", record.first(*_ABSTRACTS))
    notes = [note for note in record.all("N1") if not _is_doi(item, note)]
    _put(item, "note", "; ".join(dict.fromkeys(notes)))
    _put(item, "keyword", joined_keywords(record.all("KW", "K1")))
    _put(item, "language", language_tag(record.first("LA")))


def _is_doi(item: Item, text: str) -> bool:
    doi = doi_of(text)
    return bool(doi) and doi.lower() == item.get("DOI", "").lower()


def _keep_unmapped(item: Item, record: TaggedRecord) -> None:
    """Keeps the values that no variable has, under their tags."""
    members = {value for value in item.values() if isinstance(value, str)}
    unmapped: dict[str, list[str]] = {}
    for tag, value in record.values:
        if tag == "UR":
            values = [url for url in _urls_in(value) if url != item.get("URL")]
        else:
            read = tag in _WHOLE or (tag in _READ and _is_read(item, members, tag, value))
            values = [value] if value and not read else []
        for text in values:
            unmapped.setdefault(tag, []).append(text)
    if unmapped:
        item["custom"] = {"ris": unmapped}


def _urls_in(value: str) -> list[str]:
    return re.split(r"\s*[;,]\s*(?=https?://)", value) if value else []


def _is_read(item: Item, members: set[str], tag: str, value: str) -> bool:
    """Returns whether a member of the item states what a value states."""
    if value in members or _is_doi(item, value):
        return True
    if tag == "LA":
        return language_tag(value) == item.get("language")
    if tag == "AN":
        return value.rpartition(":")[2].strip() in members
    if tag in _DATES:
        date: CslDate = item.get(_DATES[tag]) or {}
        if "date-parts" not in date:
            return date.get("literal") == value
        parts = date["date-parts"]
        parsed = parse_any(value)
        if not parsed or "date-parts" not in parsed:
            parsed = parse_any(f"{parts[0][0]} {value}") or {}
        return "date-parts" in parsed and _includes(parts, parsed["date-parts"])
    return False


def _includes(parts: list[list[int]], other: list[list[int]]) -> bool:
    """Returns whether the parts of a date include those of another."""
    pairs = zip(parts, other, strict=False)
    return len(other) <= len(parts) and all(left[: len(right)] == right for left, right in pairs)
