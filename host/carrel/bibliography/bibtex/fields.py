"""Lists which field of BibTeX and BibLaTeX is which variable of CSL."""

from __future__ import annotations

from typing import Final

#: Field → variable, for fields whose value is text.
TEXT_FIELDS: Final = {
    "abstract": "abstract", "annotation": "annote", "annote": "annote", "chapter": "chapter-number",
    "edition": "edition", "version": "version", "volume": "volume", "volumes": "number-of-volumes",
    "pagetotal": "number-of-pages", "numpages": "number-of-pages", "part": "part-number",
    "pubstate": "status", "library": "call-number", "call-number": "call-number",
    "lccn": "call-number", "shorttitle": "title-short", "shortjournal": "container-title-short",
    "shortseries": "collection-title-short", "journalabbr": "container-title-short",
    "eventtitle": "event-title", "venue": "event-place", "origtitle": "original-title",
    "origpublisher": "original-publisher", "origlocation": "original-publisher-place",
    "series": "collection-title", "isbn": "ISBN", "issn": "ISSN", "note": "note",
    "address": "publisher-place", "location": "publisher-place", "type": "genre", "pmid": "PMID",
    "pmcid": "PMCID",
}  # fmt: skip
#: Variables without a field of BibLaTeX; they are written and read under their own names, which
#: styles ignore.
OWN_NAMES: Final = (
    "archive-place", "archive_collection", "authority", "citation-label", "dimensions", "division",
    "jurisdiction", "license", "locator", "medium", "page-first", "part-title", "printing-number",
    "references", "reviewed-genre", "reviewed-title", "scale", "section", "source",
    "supplement-number", "volume-title", "volume-title-short", "year-suffix",
)  # fmt: skip
#: Fields whose capitals are protected by braces.
TITLES: Final = frozenset({"title", "shorttitle", "booktitle", "maintitle", "subtitle",
                           "booksubtitle", "mainsubtitle", "origtitle"})  # fmt: skip
#: Field → variable, for lists of names.
NAME_FIELDS: Final = {
    "author": "author", "translator": "translator", "bookauthor": "container-author",
    "director": "director", "composer": "composer", "illustrator": "illustrator",
    "recipient": "recipient", "interviewer": "interviewer",
}  # fmt: skip
#: Fields of editors, with the field that says which kind each is.
EDITORS: Final = {"editor": "editortype", "editora": "editoratype", "editorb": "editorbtype",
                  "editorc": "editorctype"}  # fmt: skip
#: Kind of editor → variable, where the two differ.
EDITOR_TYPES: Final = {
    "bookeditor": "editor", "collaborator": "contributor", "serieseditor": "collection-editor",
    "scriptwriter": "script-writer", "reviewedauthor": "reviewed-author",
}  # fmt: skip
#: Field → variable, for dates besides `issued`.
DATE_FIELDS: Final = {
    "urldate": "accessed", "eventdate": "event-date", "origdate": "original-date",
    "submitted": "submitted", "available-date": "available-date",
}  # fmt: skip
#: Other spellings of a field → the field.
ALIASES: Final = {
    "archiveprefix": "eprinttype", "primaryclass": "eprintclass", "hyphenation": "langid",
    "lastchecked": "urldate", "accessed": "urldate", "lastaccessed": "urldate", "key": "sortkey",
    "pdf": "file", "keyword": "keywords", "tags": "keywords", "journal": "journaltitle",
    "journal-full": "journaltitle", "pmc": "pmcid", "arxivid": "arxiv", "shortjournaltitle":
    "shortjournal", "fjournal": "journaltitle", "eid": "eid", "articleno": "eid",
    "article-number": "eid", "bdsk-url-1": "bdsk-url-1", "original-date": "origdate",
    "event-date": "eventdate", "conference-location": "venue",
}  # fmt: skip
#: Fields that name a publisher, the first that an entry has is it.
PUBLISHERS: Final = ("publisher", "institution", "school", "organization", "howpublished")
#: Fields that are read with others, or say how an entry is sorted or inherits.
CONSUMED: Final = frozenset({
    "title", "subtitle", "booktitle", "booksubtitle", "maintitle", "mainsubtitle", "journaltitle",
    "journalsubtitle", "date", "year", "month", "day", "number", "issue", "pages", "doi", "url",
    "eprint", "eprinttype", "keywords", "language", "langid", "eid", "crossref", "xdata",
    "entrysubtype", "arxiv", "carrel",
})  # fmt: skip
#: Genre of a thesis or report → the value of `type` that BibLaTeX translates.
GENRES: Final = {
    "phdthesis": "PhD thesis", "mathesis": "Master's thesis", "mastersthesis": "Master's thesis",
    "candthesis": "Candidate thesis", "bathesis": "Bachelor's thesis", "techreport":
    "Technical report", "resreport": "Research report",
}  # fmt: skip
#: Types whose `number` is an issue, and those where it is the number in a series.
ISSUE_TYPES: Final = frozenset({
    "article-journal", "article-magazine", "article-newspaper", "periodical", "review",
    "review-book",
})  # fmt: skip
SERIES_TYPES: Final = frozenset({
    "book", "chapter", "collection", "entry", "entry-dictionary", "entry-encyclopedia",
    "paper-conference",
})  # fmt: skip
