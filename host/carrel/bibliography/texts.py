"""Cleans texts for records of a bibliography."""

from __future__ import annotations

import re

#: Control characters, line and paragraph separators, marks of direction, half characters.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+| {2,}"
)


def one_line(text: str) -> str:
    """Returns the text in one line: runs of spaces, line breaks and control characters are one
    space.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip(" ")
    return re.sub(" {2,}", " ", _UNSAFE.sub(" ", text)).strip(" ")


def page_range(pages: str) -> tuple[str, str | None]:
    """Returns the first and the last page of `737-8` as 737 and 738; without a range, None.

    A last page is completed only if both are numbers and the last has fewer digits.
    """
    first, dash, last = one_line(pages).replace("--", "-").partition("-")
    for long_dash in ("\u2013", "\u2014"):
        if not dash:
            first, dash, last = first.partition(long_dash)
    first, last = first.strip(), last.strip(" -\u2013\u2014")
    if not dash or not last:
        return first, None
    if first.isdecimal() and last.isdecimal() and len(last) < len(first):
        last = first[: len(first) - len(last)] + last
    return first, last


def keywords_of(text: str) -> list[str]:
    """Returns the keywords of a list that semicolons separate, or commas if there are none."""
    separator = ";" if ";" in text else ","
    return [keyword for part in text.split(separator) if (keyword := one_line(part))]


def joined_keywords(words: list[str]) -> str:
    """Returns keywords as one text, separated by commas, or by semicolons if one has a comma."""
    clean = [keyword for word in words if (keyword := one_line(word))]
    semicolon = any("," in word for word in clean) or (len(clean) == 1 and ";" in clean[0])
    return ("; " if semicolon else ", ").join(clean)
