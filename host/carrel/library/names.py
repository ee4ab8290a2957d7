"""Reads the facts of a CSL-JSON item that keys, duplicates and search have in common.

Items come from files that anyone may have written: any member may have any type.
"""

from __future__ import annotations

import re
from typing import Any

from carrel.bibliography.item import Item

_YEAR = re.compile(r"(?<!\d)(-?\d{4})(?!\d)")


def text_of(item: Item, member: str) -> str:
    """Returns a member as a text; a number too, and an empty text for anything else."""
    return plain_text(item.get(member))


def plain_text(value: Any) -> str:
    """Returns a text or a whole number as a text; an empty one for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return ""


def key_of(item: Item) -> str:
    """Returns the item's citation key; empty for an item without one."""
    return text_of(item, "id")


def custom_of(item: Item) -> dict[str, Any]:
    """Returns the block of the program's own members; empty if there is none."""
    custom = item.get("custom")
    return custom if isinstance(custom, dict) else {}


def uuid_of(item: Item) -> str:
    """Returns the item's UUID; empty if there is none."""
    return plain_text(custom_of(item).get("uuid"))


def people_of(item: Item, member: str = "author") -> list[dict[str, str]]:
    """Returns the names of a member, each with the parts that are texts."""
    found = item.get(member)
    if not isinstance(found, list):
        return []
    return [
        {part: value for part, value in person.items() if isinstance(value, str)}
        for person in found
        if isinstance(person, dict)
    ]


def family_of(person: dict[str, str]) -> str:
    """Returns the family name with the particle that belongs to it, or the literal name."""
    particle = person.get("non-dropping-particle", "")
    return f"{particle} {person.get('family', '')}".strip() or person.get("literal", "")


def year_of(item: Item) -> str:
    """Returns the year of publication in digits; empty if it is not known."""
    issued = item.get("issued")
    if isinstance(issued, str | int):
        return _year_in(plain_text(issued))
    if not isinstance(issued, dict):
        return ""
    parts = issued.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return plain_text(parts[0][0]).strip()
    return _year_in(plain_text(issued.get("raw")) or plain_text(issued.get("literal")))


def date_of(item: Item) -> str:
    """Returns the date of publication as YYYY-MM-DD, with zeros for what is not known."""
    year = year_of(item)
    if not year.lstrip("-").isdigit():
        return ""
    numbers = [0, 0]
    issued = item.get("issued")
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    if isinstance(parts, list) and parts and isinstance(parts[0], list):
        for index, part in enumerate(parts[0][1:3]):
            text = plain_text(part).strip()
            numbers[index] = int(text) if text.isascii() and text.isdigit() else 0
    return f"{int(year):04d}-{numbers[0] % 100:02d}-{numbers[1] % 100:02d}"


def words_of(value: Any) -> list[str]:
    """Returns keywords or tags: a list of texts, or one text with semicolons between them."""
    if isinstance(value, str):
        value = value.split(";")
    if not isinstance(value, list):
        return []
    return [word.strip() for word in value if isinstance(word, str) and word.strip()]


def _year_in(text: str) -> str:
    found = _YEAR.search(text)
    return found[1] if found else ""
