"""Retractions and expressions of concern, as the line that a person reads first.

Reads every form in which the built-in plugins tell of them: the flags of PubMed's and Crossref's
results, the `updated_by` of a record and of a summary, the notices of `crossref_updates`, and
PubMed's corrections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from carrel.printable import printable

_RETRACTIONS = frozenset({"retraction", "withdrawal", "removal"})
_CONCERN = "expression_of_concern"
#: PubMed's words for what the other sources call by the kind of the notice.
_PUBMED = {
    "RetractionIn": "retraction",
    "PartialRetractionIn": "partial_retraction",
    "ExpressionOfConcernIn": _CONCERN,
}
_WORDS = (
    (_RETRACTIONS, "RETRACTED"),
    (frozenset({"partial_retraction"}), "PARTIALLY RETRACTED"),
    (frozenset({_CONCERN}), "EXPRESSION OF CONCERN"),
)


def standing(item: Mapping[str, Any]) -> str:
    """Returns a line such as `RETRACTED: doi:10.5555/n`; an empty text for any other work."""
    notices = list(_notices(item))
    known = {kind for kind, _ in notices}
    if item.get("is_retracted") is True:
        known.add("retraction")
    if item.get("is_of_concern") is True:
        known.add(_CONCERN)
    told = []
    for kinds, word in _WORDS:
        if known & kinds:
            named = dict.fromkeys(name for kind, name in notices if kind in kinds and name)
            told.append(f"{word}: {', '.join(named)}" if named else word)
    return "; ".join(told)


def standings(data: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of a whole result: its own, then those of the works that it lists."""
    own = standing(data)
    if own:
        yield own
    for value in data.values():
        for item in value if isinstance(value, list) else ():
            line = standing(item) if isinstance(item, dict) else ""
            if line:
                name = next((item[key] for key in ("title", "pmid", "doi") if item.get(key)), "")
                yield f"{line}: {printable(name, 200)}" if name else line


def _notices(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The kind of each notice about the work, and its identifier."""
    for update in _dicts(item.get("updated_by")):
        yield _kind(update), _identifier(update)
    for update in _dicts(item.get("updates")):
        # In a record these are what the work itself updates.
        if "notice_doi" in update:
            yield _kind(update), f"doi:{update['notice_doi']}"
    for correction in _dicts(item.get("comments_corrections")):
        yield _PUBMED.get(str(correction.get("ref_type")), ""), _identifier(correction)


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _kind(update: Mapping[str, Any]) -> str:
    return str(update.get("type", "")).lower().replace("-", "_").replace(" ", "_")


def _identifier(update: Mapping[str, Any]) -> str:
    known = next((f"{key}:{update[key]}" for key in ("doi", "pmid") if update.get(key)), "")
    return known or str(update.get("ref_source") or update.get("citation") or "")
