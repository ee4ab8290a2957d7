"""Writes items as BibTeX and BibLaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from carrel.bibliography.dates import CslDate, date_of, edtf, is_plain
from carrel.bibliography.item import Item, text_of
from carrel.bibliography.keys import with_keys
from carrel.bibliography.languages import babel_name
from carrel.bibliography.texts import keywords_of, page_range
from carrel.bibliography.types import csl_type, format_type

from .custom import custom_field, unknown_fields
from .escapes import escaped, verbatim
from .fields import (
    DATE_FIELDS,
    EDITORS,
    ISSUE_TYPES,
    NAME_FIELDS,
    OWN_NAMES,
    SERIES_TYPES,
    TEXT_FIELDS,
)
from .names import write_names

#: BibLaTeX's name of a field → BibTeX's.
_BIBTEX_NAMES: Final = {
    "journaltitle": "journal", "location": "address", "eprinttype": "archiveprefix",
    "annotation": "annote", "eprintclass": "primaryclass",
}  # fmt: skip
#: Type → the field of the publisher, where it is another.
_PUBLISHERS: Final = {"report": "institution", "thesis": "institution", "standard": "publisher"}
#: Characters that no key can have: those that end it, and those that LaTeX or biber refuse.
_NOT_IN_KEYS = re.compile(
    "[\\s\\\\{},~%#=\"()'@\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
#: A category of arXiv, which its records have as the first subject.
_CATEGORY = re.compile(
    r"(?:astro-ph|cond-mat|cs|econ|eess|gr-qc|hep-(?:ex|lat|ph|th)|math(?:-ph)?|nlin|nucl-(?:ex|th)"
    r"|physics|q-bio|q-fin|quant-ph|stat|[a-z]{2,8}-[a-z]{2,4})(?:\.[A-Za-z-]{2,20})?"
)
#: Names that have fields of their own, those of editors and collaborators aside.
_OTHER_NAMES: Final = (
    "contributor", "collection-editor", "compiler", "curator", "editorial-director",
    "editor-translator", "chair", "executive-producer", "guest", "host", "narrator", "organizer",
    "original-author", "performer", "producer", "reviewed-author", "script-writer",
    "series-creator",
)  # fmt: skip
_IN_JOURNALS: Final = frozenset({
    "article-journal", "article-magazine", "article-newspaper", "review", "review-book",
})  # fmt: skip


def write_bibtex(items: Sequence[Item]) -> str:
    """Returns the items as a BibTeX file; empty for none."""
    return "\n".join(bibtex_entries(items))


def write_biblatex(items: Sequence[Item]) -> str:
    """Returns the items as a BibLaTeX file; empty for none."""
    return "\n".join(bibtex_entries(items, biblatex=True))


def bibtex_entries(items: Sequence[Item], *, biblatex: bool = False) -> list[str]:
    """Returns the record of each item; their keys differ."""
    return [write_entry(item, key, biblatex=biblatex) for item, key in with_keys(items, safe_key)]


def write_entry(item: Item, key: str, *, biblatex: bool, library: bool = False) -> str:
    """Returns the record of an item under a key; `library` is that of `fields_of`."""
    fields = fields_of(item, biblatex=biblatex, library=library)
    lines = [f"  {name} = {{{value}}}" for name, value in fields]
    return f"@{entry_type(item, biblatex=biblatex)}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def safe_key(key: str) -> str:
    """Returns a key without the characters that would end it."""
    return _NOT_IN_KEYS.sub("", key)


def entry_type(item: Item, *, biblatex: bool) -> str:
    """Returns the entry type of an item."""
    kind = str(format_type("biblatex" if biblatex else "bibtex", item))
    if kind == "phdthesis" and text_of(item, "genre") == "Master's thesis":
        return "mastersthesis"
    if kind == "unpublished" and item.get("type") == "article" and not biblatex:
        return "misc"
    return kind


def fields_of(item: Item, *, biblatex: bool, library: bool = False) -> list[tuple[str, str]]:
    """Returns the fields of an item with their values, none empty and no name twice.

    Args:
        item: to write.
        biblatex: whether names are BibLaTeX's.
        library: whether to keep `custom`, which a library needs and others do not.
    """
    found: dict[str, str] = {}
    for name, value in _all_fields(item, biblatex=biblatex):
        if value:
            field = name if biblatex else _BIBTEX_NAMES.get(name, name)
            found.setdefault(field, value)
    for name, value in unknown_fields(item):
        found.setdefault(name, value)
    if library and custom_field(item):
        found["carrel"] = custom_field(item)
    return list(found.items())


def _all_fields(item: Item, *, biblatex: bool) -> Iterator[tuple[str, str]]:
    yield "title", escaped(text_of(item, "title"), title=True)
    yield "shorttitle", escaped(text_of(item, "title-short"), title=True)
    yield "author", write_names(item, "author", biblatex=biblatex)
    yield "editor", write_names(item, "editor", biblatex=biblatex)
    yield from _containers(item)
    yield from issued_fields(date_of(item.get("issued")), biblatex=biblatex)
    yield "volume", escaped(text_of(item, "volume"))
    yield from _numbers(item)
    yield "pages", _pages(text_of(item, "page"))
    yield from _publisher(item, biblatex=biblatex)
    yield "issn", escaped(text_of(item, "ISSN"))
    yield "isbn", escaped(text_of(item, "ISBN"))
    yield "doi", verbatim(text_of(item, "DOI"), keep="<>")
    yield from _eprint(item, biblatex=biblatex)
    yield "pmid", escaped(text_of(item, "PMID"))
    yield "pmcid", escaped(text_of(item, "PMCID"))
    yield "url", verbatim(text_of(item, "URL"))
    yield from _language(text_of(item, "language"), biblatex=biblatex)
    yield "keywords", _keywords(text_of(item, "keyword"))
    yield "abstract", escaped(text_of(item, "abstract"))
    yield from _type_and_genre(item, biblatex=biblatex)
    yield from _other_names(item, biblatex=biblatex)
    for name, variable in DATE_FIELDS.items():
        date = date_of(item.get(variable))
        yield name, (edtf(date) or escaped(date.get("literal", ""))) if date else ""
    for name, variable in TEXT_FIELDS.items():
        if variable not in _WRITTEN and name not in _OTHER_SPELLINGS:
            yield name, escaped(text_of(item, variable), title=name == "origtitle")
    for name in OWN_NAMES:
        yield name, escaped(text_of(item, name))


#: Variables of `TEXT_FIELDS` that are written before.
_WRITTEN: Final = frozenset({
    "title-short", "volume", "ISSN", "ISBN", "PMID", "PMCID", "abstract", "genre",
    "publisher-place", "collection-title",
})  # fmt: skip
#: Fields that are only read.
_OTHER_SPELLINGS: Final = frozenset({
    "annote", "numpages", "lccn", "journalabbr", "call-number",
})  # fmt: skip


def _containers(item: Item) -> Iterator[tuple[str, str]]:
    container = text_of(item, "container-title")
    series = escaped(text_of(item, "collection-title"))
    kind = item.get("type")
    if kind in _IN_JOURNALS or (kind == "periodical" and container):
        yield "journaltitle", escaped(container)
    elif container:
        name = "maintitle" if kind in {"book", "collection"} else "booktitle"
        yield name, escaped(container, title=True)
    yield "series", series


def issued_fields(date: CslDate | None, *, biblatex: bool) -> Iterator[tuple[str, str]]:
    """Yields the fields of a date: `date` for BibLaTeX, else year, month and day."""
    if date is None:
        return
    if "literal" in date:
        yield "year", escaped(date["literal"])
        return
    first = date["date-parts"][0]
    if biblatex:
        yield "date", edtf(date)
    elif is_plain(date) and 0 < first[0] <= 9999:
        for name, number in zip(("year", "month", "day"), first, strict=False):
            yield name, f"{number:04d}" if name == "year" else str(number)
    else:
        yield "year", str(first[0])
        yield "date", edtf(date)


def _numbers(item: Item) -> Iterator[tuple[str, str]]:
    issue, number = escaped(text_of(item, "issue")), escaped(text_of(item, "number"))
    in_series = escaped(text_of(item, "collection-number"))
    kind = item.get("type")
    if kind in ISSUE_TYPES:
        yield "number", issue
        yield "eid", number
    elif kind in SERIES_TYPES:
        if kind == "paper-conference" and not text_of(item, "collection-title"):
            yield "number", issue
        else:
            yield "number", in_series
            yield "issue", issue
        yield "eid", number
    else:
        yield "number", number
        yield "issue", issue


def _pages(pages: str) -> str:
    if "," in pages:
        return ", ".join(_pages(part) for part in pages.split(","))
    first, last = page_range(pages)
    return escaped(first) + (f"--{escaped(last)}" if last else "")


def _publisher(item: Item, *, biblatex: bool) -> Iterator[tuple[str, str]]:
    kind = str(item.get("type"))
    name = _PUBLISHERS.get(kind, "publisher")
    if kind == "thesis" and not biblatex:
        name = "school"
    yield name, _listed(text_of(item, "publisher"))
    yield "location", _listed(text_of(item, "publisher-place"))


def _listed(text: str) -> str:
    """Returns an item of a list, which `and` would divide."""
    value = escaped(text)
    return f"{{{value}}}" if re.search(r"\band\b", value, re.IGNORECASE) else value


def _eprint(item: Item, *, biblatex: bool) -> Iterator[tuple[str, str]]:
    archive, location = text_of(item, "archive"), text_of(item, "archive_location")
    if location:
        yield "eprint", verbatim(location)
        category = next(iter(keywords_of(text_of(item, "keyword"))), "")
        if archive.lower() == "arxiv" and _CATEGORY.fullmatch(category):
            yield "eprintclass", category
        yield (
            "eprinttype",
            ("arxiv" if biblatex else "arXiv") if archive.lower() == "arxiv" else escaped(archive),
        )
    elif archive:
        yield "archive", escaped(archive)


def _language(tag: str, *, biblatex: bool) -> Iterator[tuple[str, str]]:
    name = babel_name(tag) if biblatex else ""
    yield ("langid", name) if name else ("language", escaped(tag))


def _keywords(text: str) -> str:
    words = keywords_of(text)
    separator = "; " if any("," in word for word in words) else ", "
    return separator.join(escaped(word) for word in words)


def _type_and_genre(item: Item, *, biblatex: bool) -> Iterator[tuple[str, str]]:
    kind, genre = entry_type(item, biblatex=biblatex), text_of(item, "genre")
    item_type = item.get("type")
    if not (kind == "phdthesis" and genre == "PhD thesis") and kind != "mastersthesis":
        yield "type", _GENRE_NAMES.get(genre, escaped(genre)) if biblatex else escaped(genre)
    if (
        isinstance(item_type, str)
        and csl_type("bibtex", kind) != item_type
        and not _is_preprint(item)
    ):
        subtypes = {"article-magazine": "magazine", "article-newspaper": "newspaper"}
        yield "entrysubtype", subtypes.get(item_type, escaped(item_type))


_GENRE_NAMES: Final = {"PhD thesis": "phdthesis", "Master's thesis": "mathesis"}


def _is_preprint(item: Item) -> bool:
    item_type: Any = item.get("type")
    return (
        item_type == "article"
        and text_of(item, "archive").lower() == "arxiv"
        and bool(text_of(item, "archive_location"))
    )


def _other_names(item: Item, *, biblatex: bool) -> Iterator[tuple[str, str]]:
    for field, variable in NAME_FIELDS.items():
        if variable != "author":
            yield field, write_names(item, variable, biblatex=biblatex)
    free = [field for field in EDITORS if field != "editor"]
    for variable in _OTHER_NAMES:
        names = write_names(item, variable, biblatex=biblatex)
        if names and free:
            field = free.pop(0)
            yield field, names
            yield EDITORS[field], "collaborator" if variable == "contributor" else variable
