"""Formats retractions, expressions of concern and corrections for display.

Reads every form that the built-in plugins use: the flags of PubMed's and Crossref's results, the
`updated_by` of a record and of a summary, the notices of `crossref_updates`, and PubMed's
corrections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from carrel.records.work import RETRACTIONS
from carrel.text.printable import printable

_CONCERN = "expression_of_concern"
#: PubMed's relations → the kinds of notices that other sources use.
_PUBMED = {
    "RetractionIn": "retraction",
    "PartialRetractionIn": "partial_retraction",
    "ExpressionOfConcernIn": _CONCERN,
}
_WORDS = (
    (RETRACTIONS, "Retracted"),
    (frozenset({"partial_retraction"}), "Partially retracted"),
    (frozenset({_CONCERN}), "Expression of concern"),
)
#: PubMed's relations that do not concern the work's text.
_OPINIONS = re.compile(r"Cites|Comment(In|On)|SummaryForPatientsIn|AssociatedDataset")


def standing(item: Mapping[str, Any]) -> str:
    """Returns a line such as `RETRACTED: doi:10.5555/n`; empty for any other work."""
    statuses = []
    for word, named in _states(item):
        statuses.append(f"{word.upper()}: {', '.join(named)}" if named else word.upper())
    return "; ".join(statuses)


def mark(item: Mapping[str, Any]) -> str:
    """Returns the title's prefix, such as `[Retracted]`; empty for any other work."""
    return " ".join(f"[{word}]" for word, _ in _states(item))


def notices(item: Mapping[str, Any]) -> list[str]:
    """Returns a line for each notice about a work, and for each work that it is a notice of.

    For example `Correction: doi:10.5555/c (2024-04-01, publisher)`. Entries of several sources
    about one notice are merged into one line.
    """
    lines: dict[str, dict[str, None]] = {}
    for line, details in _lines(item):
        lines.setdefault(line, {}).update({details: None} if details else {})
    return [
        f"{line} ({'; '.join(details)})" if details else line for line, details in lines.items()
    ]


def _states(item: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yields each status of a work, with the identifiers of its notices."""
    found = list(_notices(item))
    present = {kind for kind, _ in found}
    if item.get("is_retracted") is True:
        present.add("retraction")
    if item.get("is_of_concern") is True:
        present.add(_CONCERN)
    for kinds, word in _WORDS:
        if present & kinds:
            yield word, list(dict.fromkeys(name for kind, name in found if kind in kinds and name))


def _lines(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the text and the bracketed parts of each line of `notices`."""
    updates = _dicts(item.get("updates"))
    about = [
        *_dicts(item.get("updated_by")),
        *(update for update in updates if "notice_doi" in update),
    ]
    of = [
        *_dicts(item.get("notice_of")),
        *(update for update in updates if "notice_doi" not in update),
    ]
    for update in about:
        yield _named(_words(_kind(update)).capitalize(), update), _details(update)
    for update in of:
        yield _named(f"Notice of {_words(_kind(update))}", update), _details(update)
    for correction in _dicts(item.get("comments_corrections")):
        kind = str(correction.get("ref_type", ""))
        if not _OPINIONS.fullmatch(kind):
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).capitalize() or "Related"
            reference = [correction.get("ref_source"), correction.get("note")]
            pmid = f"pmid:{correction['pmid']}" if correction.get("pmid") else ""
            named = [str(part) for part in (*reference, pmid) if part]
            yield ": ".join([words, *named[:1]]), ", ".join(named[1:])


def _named(label: str, update: Mapping[str, Any]) -> str:
    name = _identifier(update)
    return f"{label}: {name}" if name else label


def _words(kind: str) -> str:
    return kind.replace("_", " ") or "update"


def _details(update: Mapping[str, Any]) -> str:
    return ", ".join(str(update[key]) for key in ("date", "source") if update.get(key))


def standings(data: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines for a whole result: its own, then those of its works."""
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
    """Yields the kind of each notice about the work, and its identifier."""
    for update in _dicts(item.get("updated_by")):
        yield _kind(update), _identifier(update)
    for update in _dicts(item.get("updates")):
        # In a record these are what the work itself updates.
        if "notice_doi" in update:
            yield _kind(update), _identifier(update)
    for correction in _dicts(item.get("comments_corrections")):
        yield _PUBMED.get(str(correction.get("ref_type")), ""), _identifier(correction)


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _kind(update: Mapping[str, Any]) -> str:
    return str(update.get("type", "")).lower().replace("-", "_").replace(" ", "_")


def _identifier(update: Mapping[str, Any]) -> str:
    if update.get("notice_doi"):
        return f"doi:{update['notice_doi']}"
    identifier = next((f"{key}:{update[key]}" for key in ("doi", "pmid") if update.get(key)), "")
    return identifier or str(update.get("ref_source") or update.get("citation") or "")
