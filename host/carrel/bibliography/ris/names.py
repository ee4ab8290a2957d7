"""Reads names as RIS, MEDLINE and EndNote write them: `Family, Given, Suffix`, or one text."""

from __future__ import annotations

import re
from typing import Final

from carrel.bibliography.texts import one_line

CslName = dict[str, str]

_SUFFIX = re.compile(r"(?:jr|sr|[ivx]+|esq|ph\.?\s?d)\.?", re.IGNORECASE)
#: `Fanning E.`, as some databases write names.
_INITIALS = re.compile(r"([^\W\d_][\w'’-]+) ((?:[A-Z]\.[ -]?){1,4})")  # noqa: RUF001 - an apostrophe
#: `E. Fanning`, as publishers write names; `U. S. Government` is none.
_INITIALS_FIRST = re.compile(
    r"(?!U\. ?S\.|U\. ?K\.|E\. ?U\.)((?:[A-Z]\.[ -]?){1,4}) ?"
    r"([^\W\d_][\w'’-]+)"  # noqa: RUF001 - an apostrophe
)
_PARTICLE: Final = re.compile(r"((?:(?:van|von|der|den|de|da|di|du|del|della|la|le|ter|ten|zu|zum|"
                              r"zur|af|av|dos|das|do)\s+)+)(?=\S)")  # fmt: skip


def read_name(text: str) -> CslName | None:
    """Returns a name; a text without a comma, or with one at its end, is a literal name.

    None for an empty text.
    """
    line = one_line(text)
    if not line.strip(" ,"):
        return None
    if line.endswith(","):  # EndNote's mark of an organisation
        return {"literal": line.rstrip(", ")}
    family, comma, rest = line.partition(",")
    family, rest = family.strip(), rest.strip()
    initials = _INITIALS.fullmatch(line)
    if initials:
        return {"family": initials[1], "given": initials[2]}
    first = _INITIALS_FIRST.fullmatch(line)
    if first:
        return {"family": first[2], "given": first[1].strip()}
    if not comma or not family:
        return {"literal": line.strip(" ,")}
    name: CslName = {"family": family}
    given, second, suffix = rest.rpartition(",")
    if second and _SUFFIX.fullmatch(suffix.strip()):
        name |= _given(given.strip()) | {"suffix": suffix.strip()}
    elif _SUFFIX.fullmatch(given.strip()) and second:
        name |= _given(suffix.strip()) | {"suffix": given.strip()}
    else:
        name |= _given(rest)
    particle = _PARTICLE.match(family)
    if particle and family[particle.end()].isupper():
        name = {"non-dropping-particle": particle[1].strip(), **name}
        name["family"] = family[particle.end() :]
    return name


def _has_initials(text: str) -> bool:
    return bool(_INITIALS.fullmatch(text) or _INITIALS_FIRST.fullmatch(text))


def _given(text: str) -> CslName:
    return {"given": text} if text else {}


def written_name(name: CslName) -> str:
    """Returns a name as `Family, Given, Suffix`; a literal one with a comma gets one behind it."""
    if name.get("literal") or not name.get("family"):
        text = one_line(name.get("literal") or name.get("given", ""))
        return f"{text}," if "," in text or _has_initials(text) else text
    particles = (name.get("dropping-particle"), name.get("non-dropping-particle"))
    family = " ".join(filter(None, (*particles, name["family"])))
    parts = [family, name.get("given", ""), name.get("suffix", "")]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return one_line(", ".join(parts) if len(parts) > 1 else family)
