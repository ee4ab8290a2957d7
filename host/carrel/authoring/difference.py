"""Formats the difference between two JSON values."""

from __future__ import annotations

import json
from difflib import unified_diff

#: Maximum number of lines of a difference.
_MAX_LINES = 60


def difference(expected: object, found: object) -> list[str]:
    """Returns lines of a diff from what was expected to what was found; empty when they are equal.

    Only the changed places are shown, each with the lines around it. Equal numbers are equal in any
    notation; the order of keys does not matter.
    """
    if expected == found and _text(expected) == _text(found):
        return []
    lines = list(unified_diff(_text(expected), _text(found), "expected", "found", n=2, lineterm=""))
    if not lines and expected != found:  # two values that are written alike
        lines = [f"-{expected!r}", f"+{found!r}"]
    if len(lines) > _MAX_LINES:
        rest = len(lines) - _MAX_LINES
        lines = [*lines[:_MAX_LINES], f"… and {rest} more lines"]
    return lines


def _text(value: object) -> list[str]:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True).splitlines()
