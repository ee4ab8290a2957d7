"""Lists which element of a record is which variable of CSL."""

from __future__ import annotations

from typing import Final

#: Path of an element → variable, for elements whose value is text.
TEXTS: Final = (
    (("titles", "title"), "title"),
    (("titles", "secondary-title"), "container-title"),
    (("titles", "tertiary-title"), "collection-title"),
    (("titles", "short-title"), "title-short"),
    (("titles", "alt-title"), "container-title-short"),
    (("pages",), "page"),
    (("volume",), "volume"),
    (("number",), "issue"),
    (("num-vols",), "number-of-volumes"),
    (("edition",), "edition"),
    (("section",), "section"),
    (("pub-location",), "publisher-place"),
    (("publisher",), "publisher"),
    (("abstract",), "abstract"),
    (("notes",), "note"),
    (("research-notes",), "annote"),
    (("call-num",), "call-number"),
    (("electronic-resource-num",), "DOI"),
    (("remote-database-name",), "archive"),
    (("remote-database-provider",), "source"),
    (("accession-num",), "archive_location"),
    (("language",), "language"),
    (("work-type",), "genre"),
    (("custom2",), "PMCID"),
    (("custom7",), "number"),
    (("label",), "citation-label"),
)
#: Element of `contributors` → variable.
NAMES: Final = (
    ("authors", "author"),
    ("secondary-authors", "editor"),
    ("tertiary-authors", "collection-editor"),
    ("subsidiary-authors", "translator"),
)
#: The same of books, whose second authors are the editors of the series.
BOOK_NAMES: Final = (
    ("authors", "author"),
    ("secondary-authors", "collection-editor"),
    ("tertiary-authors", "editor"),
    ("subsidiary-authors", "translator"),
)
#: Types whose second title is a series.
BOOKS: Final = frozenset({"book", "collection", "report", "thesis", "pamphlet"})
#: Types whose `number` element is no issue.
NUMBERED: Final = frozenset({
    "bill", "dataset", "hearing", "legal_case", "legislation", "patent", "regulation", "report",
    "software", "standard", "thesis", "treaty",
})  # fmt: skip
