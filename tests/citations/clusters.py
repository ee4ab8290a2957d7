"""Makes citations of the works for a text: single and several, with locators and affixes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: What the items of successive citations have, beside their ids.
_PATTERNS: tuple[tuple[dict[str, Any], ...], ...] = (
    ({},),
    ({"locator": "12", "label": "page"},),
    ({"locator": "3-5", "label": "page", "prefix": "see "},),
    ({}, {}),
    ({"locator": "4", "label": "chapter", "suffix": ", and more"},),
    ({"suppress-author": True, "locator": "7", "label": "section"},),
    ({"prefix": "see "}, {"locator": "ii", "label": "page"}, {"suffix": " as well"}),
    ({"suppress-author": True},),
)


def clusters(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns citations in which each item is cited once, and some again."""
    made: list[dict[str, Any]] = []
    names = [str(item["id"]) for item in items]
    at = 0
    while at < len(names):
        pattern = _PATTERNS[len(made) % len(_PATTERNS)]
        chosen = [names[(at + number) % len(names)] for number in range(len(pattern))]
        at += len(pattern)
        cited = [{"id": name, **more} for name, more in zip(chosen, pattern, strict=True)]
        made.append({"items": cited, "note_index": len(made) + 1})
        if len(made) % 9 == 0:  # the same work again
            again = {"items": [{"id": chosen[0]}], "note_index": len(made) + 1}
            made.append(again)
    return made
