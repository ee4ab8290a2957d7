"""Names the parts of a bibliographic item: a CSL-JSON item, version 1.0.2, as a plain dict.

Members that CSL does not define are kept. `read`, `write` and the folders of the formats use the
tables below; https://docs.citationstyles.org/en/stable/specification.html defines their meaning.
"""

from __future__ import annotations

from typing import Any, Final

#: A CSL-JSON item.
Item = dict[str, Any]

#: The item types of CSL 1.0.2.
TYPES: Final = (
    "article",
    "article-journal",
    "article-magazine",
    "article-newspaper",
    "bill",
    "book",
    "broadcast",
    "chapter",
    "classic",
    "collection",
    "dataset",
    "document",
    "entry",
    "entry-dictionary",
    "entry-encyclopedia",
    "event",
    "figure",
    "graphic",
    "hearing",
    "interview",
    "legal_case",
    "legislation",
    "manuscript",
    "map",
    "motion_picture",
    "musical_score",
    "pamphlet",
    "paper-conference",
    "patent",
    "performance",
    "periodical",
    "personal_communication",
    "post",
    "post-weblog",
    "regulation",
    "report",
    "review",
    "review-book",
    "software",
    "song",
    "speech",
    "standard",
    "thesis",
    "treaty",
    "webpage",
)

#: The members that are lists of names.
NAME_VARIABLES: Final = (
    "author",
    "chair",
    "collection-editor",
    "compiler",
    "composer",
    "container-author",
    "contributor",
    "curator",
    "director",
    "editor",
    "editorial-director",
    "editor-translator",
    "executive-producer",
    "guest",
    "host",
    "illustrator",
    "interviewer",
    "narrator",
    "organizer",
    "original-author",
    "performer",
    "producer",
    "recipient",
    "reviewed-author",
    "script-writer",
    "series-creator",
    "translator",
)

#: The members that are dates.
DATE_VARIABLES: Final = (
    "accessed",
    "available-date",
    "event-date",
    "issued",
    "original-date",
    "submitted",
)


_LISTS: Final = frozenset({"ISSN", "ISBN", "keyword"})
#: What some programs call the parts of a name.
_NAME_PARTS: Final = {"name": "literal", "firstName": "given", "lastName": "family"}


def text_of(item: Item, name: str) -> str:
    """Returns a member of an item as text; empty if it is missing or neither text nor number.

    Of a list, which Crossref writes for titles and ISSNs, the first text; of ISSNs, ISBNs and
    keywords all.
    """
    value = item.get(name)
    if isinstance(value, list):
        texts = [text for text in value if isinstance(text, str) and text]
        value = ", ".join(texts if name in _LISTS else texts[:1])
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return ""


def names_of(item: Item, name: str) -> list[dict[str, str]]:
    """Returns the names of a member, each with at least one part that is a text."""
    value = item.get(name)
    names = value if isinstance(value, list) else [value]
    found = []
    for raw in names:
        if isinstance(raw, str):
            raw = {"literal": raw}  # noqa: PLW2901 - what some programs write for a name
        if isinstance(raw, dict):
            parts = {
                _NAME_PARTS.get(key, key): part
                for key, part in raw.items()
                if isinstance(part, str) and part
            }
            if parts.keys() & {"family", "given", "literal"}:
                found.append(parts)
    return found
