"""Items for round trips: for each format the members that it can express.

`EXPRESSED` is the table of `docs/reference/bibliography-formats.md`, which `tests/docs` compares.
"""

from __future__ import annotations

import string
from typing import Any

from hypothesis import strategies as st

from carrel.bibliography.item import TYPES, Item

#: Characters that some format treats specially, and letters of several scripts.
ODD = "%&#_$~^{}\\\"'`@<>=,;:-\u2013/|[]()*+?!.äÖßéñçøŁž漢字рус\u00a0"
_LETTERS = string.ascii_letters + "äöüÖßéñçøŁž漢字рус"

#: Texts in one line, without tags, formulas and ligatures.
texts = (
    st.text(_LETTERS + ODD + " 0123456789", min_size=1, max_size=30)
    .map(lambda text: " ".join(text.replace("\u00a0", " ").split()))
    .filter(lambda text: text.strip(" ,;") == text != "" and "$" not in text and "<" not in text)
)
words = (
    st.text(_LETTERS, min_size=2, max_size=10)
    .map(str.capitalize)
    .filter(lambda word: word[0].isupper() and word.lower() not in {"and", "others"})
)
numbers = st.integers(1, 9999).map(str)
identifiers = st.text(
    string.ascii_letters + string.digits + "._-/():;_~%&#", min_size=1, max_size=12
)
dois = identifiers.map(lambda text: f"10.1234/{text}")
urls = identifiers.map(lambda text: f"https://desk.example/a_b?{text}")
pages = st.tuples(st.integers(1, 400), st.integers(1, 99)).map(lambda one: f"{one[0]}-{sum(one)}")
person = st.fixed_dictionaries(
    {"family": words, "given": words},
    optional={"non-dropping-particle": st.sampled_from(("van der", "de", "von"))},
)
person_with_suffix = st.fixed_dictionaries(
    {"family": words, "given": words, "suffix": st.sampled_from(("Jr.", "III"))}
)
organisation = st.fixed_dictionaries(
    {"literal": st.lists(words, min_size=2, max_size=4).map(" ".join)}
)
people = st.lists(st.one_of(person, person_with_suffix, organisation), min_size=1, max_size=3)


@st.composite
def days(draw: st.DrawFn) -> dict[str, Any]:
    parts = [draw(st.integers(1000, 2100))]
    if draw(st.booleans()):
        parts.append(draw(st.integers(1, 12)))
        if draw(st.booleans()):
            parts.append(draw(st.integers(1, 28)))
    return {"date-parts": [parts]}


@st.composite
def ranges(draw: st.DrawFn) -> dict[str, Any]:
    first, last = draw(days()), draw(days())
    date: dict[str, Any] = {"date-parts": [first["date-parts"][0], last["date-parts"][0]]}
    return {**date, "circa": True} if draw(st.booleans()) else date


dates = st.one_of(
    days(),
    ranges(),
    days().map(lambda date: {**date, "circa": True}),
    st.tuples(st.integers(1000, 2100), st.integers(1, 4)).map(
        lambda one: {"date-parts": [[one[0]]], "season": one[1]}
    ),
)
#: What a keyword may be: a list whose words have no separators.
keywords = st.lists(words, min_size=1, max_size=4).map(", ".join)

_COMMON: dict[str, st.SearchStrategy[Any]] = {
    "title": texts, "title-short": texts, "author": people, "editor": people, "translator": people,
    "collection-editor": people, "issued": dates, "container-title": texts,
    "container-title-short": texts, "collection-title": texts, "volume": numbers, "page": pages,
    "publisher": texts, "publisher-place": texts, "edition": numbers, "number-of-volumes": numbers,
    "genre": words, "abstract": texts, "note": texts, "keyword": keywords, "DOI": dois, "URL": urls,
    "ISSN": st.just("1234-5679"), "ISBN": st.just("9780306406157"), "language":
    st.sampled_from(("en-US", "de", "fr", "ja")), "PMCID": numbers.map(lambda one: f"PMC{one}"),
    "call-number": texts, "source": texts,
}  # fmt: skip
_BIBTEX: dict[str, st.SearchStrategy[Any]] = {
    **_COMMON, "accessed": dates, "event-date": dates, "original-date": dates, "annote": texts,
    "chapter-number": numbers, "version": texts, "number-of-pages": numbers, "part-number": numbers,
    "status": words, "event-title": texts, "event-place": texts, "original-title": texts,
    "original-publisher": texts, "original-publisher-place": texts, "container-author": people,
    "director": people, "composer": people, "illustrator": people, "contributor": people,
    "PMID": numbers, "license": texts, "medium": texts, "section": numbers, "scale": texts,
    "dimensions": texts, "authority": texts, "jurisdiction": texts, "references": texts,
    "reviewed-title": texts, "volume-title": texts, "archive-place": texts,
}  # fmt: skip
#: Format → member → values that a round trip keeps.
EXPRESSED: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "bibtex": _BIBTEX,
    "biblatex": _BIBTEX,
    "ris": {
        **_COMMON,
        "PMID": numbers,
        "accessed": days(),
        "number": numbers,
        "status": words,
        "archive": words,
        "archive_location": words,
    },
    "endnote": {**_COMMON, "PMID": numbers, "accessed": dates, "annote": texts, "section": numbers},
}
#: Types that several share in a format, which are read as the first.
MERGED: dict[str, dict[str, str]] = {
    "bibtex": {},
    "biblatex": {},
    "ris": {
        "entry": "chapter", "event": "document", "performance": "document", "post": "webpage",
        "review": "article-journal", "review-book": "article-journal", "treaty": "regulation",
    },
    "endnote": {
        "broadcast": "motion_picture", "entry": "chapter", "event": "document", "interview":
        "personal_communication", "performance": "document", "post": "webpage", "review":
        "article-journal", "review-book": "article-journal", "speech": "document",
        "treaty": "regulation",
    },
}  # fmt: skip


@st.composite
def items(draw: st.DrawFn, format_name: str) -> Item:
    """Draws an item of the members that a format can express."""
    known = EXPRESSED[format_name]
    names = draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=12))
    item: Item = {"id": draw(words), "type": draw(st.sampled_from(TYPES)), "title": draw(texts)}
    for name in names:
        item[name] = draw(known[name])
    if "container-title-short" in item:  # alone it would be the container's title
        item["container-title"] = "Annals"
    return item
