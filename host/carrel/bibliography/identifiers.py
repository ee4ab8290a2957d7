"""Reads identifiers as bibliographies write them."""

from __future__ import annotations

import re

from .item import Item

_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_ISSN = re.compile(r"\b(\d{4})-?(\d{3}[\dXx])\b")
_ISBN = re.compile(r"(?:97[89][- ]?)?(?:\d[- ]?){9}[\dXx]")
_NUMBERS = re.compile(
    r"\s*(?:[;,\r\n]|\((?:print|electronic|linking|online|issn|isbn)[^)]*\))\s*", re.IGNORECASE
)


def doi_of(text: str) -> str:
    """Returns the DOI of a text that is one, without resolver or label; empty for others."""
    match = _DOI.fullmatch(text.strip())
    return match[1] if match else ""


def put_standard_numbers(item: Item, texts: list[str]) -> None:
    """Sets ISSN and ISBN of an item by the form of each number; others are its number.

    Args:
        item: its type decides what a number of unknown form is.
        texts: each may have several numbers, separated by commas, semicolons or blanks.
    """
    found: dict[str, list[str]] = {"ISSN": [], "ISBN": []}
    for text in texts:
        for part in _NUMBERS.split(text):
            number = part.strip()
            if not number:
                continue
            kind = _kind(number)
            if kind:
                found[kind].append(number)
            elif all(_kind(word) for word in number.split()):
                for word in number.split():
                    found[str(_kind(word))].append(word)
            elif item.get("type") in {"report", "patent", "standard", "thesis", "dataset"}:
                item.setdefault("number", number)
            else:
                journal = str(item.get("type", "")).startswith("article")
                found["ISSN" if journal else "ISBN"].append(number)
    for name, numbers in found.items():
        if numbers:
            item[name] = ", ".join(dict.fromkeys(numbers))


def _kind(number: str) -> str | None:
    if _ISBN.fullmatch(number):
        return "ISBN"
    return "ISSN" if _ISSN.fullmatch(number) else None
