"""Splits the lines of RIS into tags and values, in the dialect of each record."""

from __future__ import annotations

import re
from typing import Final

_LINE = re.compile(r"\s{0,3}([A-Za-z][A-Za-z0-9])([ \t]{0,4})-(?:[ \t](.*)|(.*))$")
_END = re.compile(r"\s{0,3}ER\s*$")
#: The tags of RIS, and those that databases add.
TAGS: Final = frozenset({
    "TY", "AU", "A1", "A2", "A3", "A4", "AB", "AD", "AN", "AV", "BT", "C1", "C2", "C3", "C4",
    "C5", "C6", "C7", "C8", "CA", "CN", "CP", "CT", "CY", "DA", "DB", "DI", "DO", "DP", "ED",
    "EP", "ER", "ET", "ID", "IS", "J1", "J2", "JA", "JF", "JO", "K1", "KW", "L1", "L2", "L3",
    "L4", "LA", "LB", "LK", "M1", "M2", "M3", "N1", "N2", "NV", "OP", "PB", "PP", "PY", "RI",
    "RN", "RP", "SE", "SN", "SP", "ST", "SV", "T1", "T2", "T3", "TA", "TI", "TT", "U1", "U2",
    "U3", "U4", "U5", "UR", "VL", "VO", "Y1", "Y2",
})  # fmt: skip


class RisLines:
    """Recognizes the lines that have a tag.

    A tag is two capitals, or a capital and a digit, and two blanks before the hyphen. One blank, or
    none, or small letters are taken if the `TY` of the record has them too, because `US - based`
    may begin a line of an abstract; of tags of RIS one blank always is.
    """

    def __init__(self) -> None:
        self._blanks = 2
        self._small = False

    def __call__(self, line: str) -> tuple[str, str] | None:
        """Returns the tag and the value of a line; None of one that has no tag."""
        found = _LINE.match(line)
        if found is None:
            return ("ER", "") if _END.match(line) else None
        tag, blanks = found[1].upper(), 2 if "\t" in found[2] else len(found[2])
        value = found[3] if found[3] is not None else found[4]
        if tag == "TY" and (blanks or value.strip().isalpha()):
            self._blanks, self._small = blanks, found[1].islower()
            return tag, value
        if found[1] != tag and not self._small:
            return None
        known = tag in TAGS
        single = blanks == 1 and (known or self._blanks == 1)
        fits = blanks > 1 or single or (known and blanks == self._blanks)
        return (tag, value) if fits else None
