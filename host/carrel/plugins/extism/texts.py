"""Checks and cleans texts, names and addresses that modules write."""

from __future__ import annotations

import re
from typing import Any

from carrel.text.printable import printable, printable_lines

NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]{1,64}/[\w!#$&^.+-]{1,64}(?: *;[ -~]{0,128})?", re.ASCII)

MAX_URI = 2048
MAX_DESCRIPTION = 4000
_MAX_TITLE = 120


def is_uri(value: Any) -> bool:
    """Whether a value is an absolute URI; opaque ones such as `doi:10.1000/182` are."""
    return (
        isinstance(value, str)
        and len(value) <= MAX_URI
        and _URI.fullmatch(value) is not None
        and printable(value, MAX_URI) == value
    )


def is_media_type(value: Any) -> bool:
    """Whether a value has the shape of a media type."""
    return isinstance(value, str) and _MEDIA_TYPE.fullmatch(value) is not None


def title_of(raw: dict[str, Any]) -> str | None:
    """Returns the title for people, on one line; None when there is none."""
    title = raw.get("title")
    return printable(title, _MAX_TITLE) if isinstance(title, str) and title.strip() else None


def description_of(raw: dict[str, Any]) -> str:
    """Returns the description, or the empty string."""
    description = raw.get("description")
    return description.replace("\r\n", "\n") if isinstance(description, str) else ""


def hides(text: str) -> bool:
    """Whether a text has control or invisible characters, which display as other text."""
    return printable_lines(text) != text
