"""Reads and writes lists of names.

Names are split before LaTeX is decoded, because decoding removes the braces that keep
`{The XYZ Consortium}` in one piece. bibtexparser splits lists and names as BibTeX does; the
extended format of BibLaTeX (`family=Silva, given=Ana, prefix=da`) is read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from carrel.bibliography.item import Item, names_of

from .escapes import escaped
from .latex import decode_latex

CslName = dict[str, str]

_EXTENDED = re.compile(r"(?:^|,)\s*\"?(family|given|prefix|suffix)(?:-i)?\s*=", re.IGNORECASE)
_PART = re.compile(r"\s*\"?([a-z]+(?:-i)?)\s*=\s*(.*?)\"?\s*", re.DOTALL | re.IGNORECASE)
#: An option of BibLaTeX for the whole list, in the place of a name.
_OPTION = re.compile(r"(?:nosort|sort|unique|use|label)[a-z]*=\S+", re.IGNORECASE)
#: A tilde over a letter, which is no tie.
_TILDE = re.compile(r"\\~\s*(?:\{\s*([A-Za-z])\s*\}|([A-Za-z]))")
#: Characters of the longest text that is split into the parts of a name.
_MAX_NAME: Final = 2_000
_AND = re.compile(r"(?:^|\s)and(?:\s|$)", re.IGNORECASE)
_LIST_MARK = re.compile(r"[{}]|\sand(?=\s)", re.IGNORECASE)
#: `Smith, John, III`, whose parts are in the wrong order, and an unfinished list.
_SUFFIX = re.compile(r"(?:jr|sr|[ivx]{2,4}|ph\.?\s?d|esq)\.?", re.IGNORECASE)
_OTHERS: Final = frozenset({"others", "et al", "et al."})
_TAG = re.compile(r"</?(?:i|b|sc|span)\b[^<>]*>")
#: A name that every reading splits alike: no braces, commands or ties, one comma at most.
_PLAIN_NAME = re.compile(r"([A-Z][^\s\\{}~,=\"]*(?: [A-Z][^\s\\{}~,=\"]*)*+), ([A-Z][^\\{}~,=\"]*)")
_LOWER_FIRST = re.compile(r"[^\W\d_]")


def read_names(source: str) -> list[CslName]:
    """Returns the names of a list; `and others` becomes the literal name `others`."""
    if not source.strip():
        return []
    return [dict(name) for part in _split_list(source) if (name := _read_name(part))]


def _split_list(source: str) -> list[str]:
    """Returns the names between `and`s that are in no braces; of `Desk, A.; Lamp, B.` both."""
    if not _AND.search(source):
        parts = source.split("; ")
        return [part.strip() for part in parts] if _are_names(parts) else [source.strip()]
    found, depth, start = [], 0, 0
    for mark in _LIST_MARK.finditer(f" {source} "):
        if mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
        elif depth <= 0:
            found.append(source[start : max(mark.start() - 1, 0)].strip())
            start = mark.end() - 1
    return [part for part in (*found, source[start:].strip()) if part]


def _are_names(parts: list[str]) -> bool:
    return len(parts) > 1 and all("," in part and "{" not in part for part in parts)


@lru_cache(maxsize=4096)
def _read_name(source: str) -> CslName:
    if len(source) > _MAX_NAME:
        return {"literal": _text(source)}
    plain = _PLAIN_NAME.fullmatch(source)
    if plain:
        return {"family": _text(plain[1]), "given": _text(plain[2])}
    if "=" in source and _EXTENDED.search(source):
        return _read_extended(source)
    if _is_one_group(source):
        text = _text(source)
        return {"literal": text} if text else {}
    if _OPTION.fullmatch(source):
        return {}
    if source.lower() in _OTHERS:
        return {"literal": "others"}
    from bibtexparser.middlewares.names import parse_single_name_into_parts

    if "\\~" in source:
        source = _TILDE.sub(lambda found: f"{{\\~{found[1] or found[2]}}}", source)
    parts = parse_single_name_into_parts(_balanced(source), strict=False)
    name: CslName = {}
    for key, words in (
        ("given", parts.first),
        ("non-dropping-particle", parts.von),
        ("family", parts.last),
        ("suffix", parts.jr),
    ):
        text = _text(" ".join(words))
        if text:
            name[key] = text
    return _with_family(name)


def _with_family(name: CslName) -> CslName:
    """Returns a name that has a family name, with the suffix in its place."""
    given, suffix = name.get("given", ""), name.get("suffix", "")
    if suffix and _SUFFIX.fullmatch(given) and not _SUFFIX.fullmatch(suffix):
        name |= {"given": suffix, "suffix": given}
    if "family" in name:
        return name
    if "non-dropping-particle" in name:
        name["family"] = name.pop("non-dropping-particle")
    elif "suffix" in name and "given" in name:
        name["family"] = name.pop("suffix")
    return name


def _text(source: str) -> str:
    text = decode_latex(source).replace("\u00a0", " ")
    return (_TAG.sub("", text) if "\\" in source else text).strip()


def _is_one_group(source: str) -> bool:
    if not (source.startswith("{") and source.endswith("}")) or source.startswith("{\\"):
        return False
    depth = 0
    for position, character in enumerate(source):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return position == len(source) - 1
    return False


def _balanced(source: str) -> str:
    """Returns a name without braces if they do not balance, which bibtexparser refuses."""
    depth = 0
    for character in source:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            break
    return source if depth == 0 else source.replace("{", "").replace("}", "")


def _read_extended(source: str) -> CslName:
    parts: dict[str, str] = {}
    for part in _split_at_commas(source):
        match = _PART.fullmatch(part)
        if match:
            parts[match[1].lower()] = match[2].strip().strip('"')
    name = {key: _text(parts[key]) for key in ("family", "given") if parts.get(key)}
    if parts.get("prefix"):
        dropping = parts.get("useprefix", "true").lower() == "false"
        name["dropping-particle" if dropping else "non-dropping-particle"] = _text(parts["prefix"])
    if parts.get("suffix"):
        name["suffix"] = _text(parts["suffix"])
    if set(name) == {"family"} and _is_one_group(parts["family"]):
        return {"literal": name["family"]}
    return name


def _split_at_commas(source: str) -> list[str]:
    """Returns the parts between commas that are neither in braces nor in quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for position, character in enumerate(source):
        depth += (character == "{") - (character == "}")
        if character == '"' and depth == 0:
            quoted = not quoted
        if character == "," and depth <= 0 and not quoted:
            parts.append(source[start:position])
            start = position + 1
    return [*parts, source[start:]]


def write_names(item: Item, variable: str, *, biblatex: bool) -> str:
    """Returns the names of a variable as a list of BibTeX; empty if it has none."""
    names = names_of(item, variable)
    written = [_written(name, biblatex=biblatex) for name in names]
    if written and names[-1] == {"literal": "others"}:
        written[-1] = "others"
    return " and ".join(filter(None, written))


def _written(name: CslName, *, biblatex: bool) -> str:
    if name.get("literal") or not name.get("family"):
        text = escaped(name.get("literal") or name.get("given", ""))
        return f"{{{text}}}" if text else ""
    dropping, particle = name.get("dropping-particle", ""), name.get("non-dropping-particle", "")
    if dropping and not particle and biblatex:
        return _written_extended(name, dropping)
    if (particle or dropping) and not _is_lower(f"{dropping} {particle}"):
        family = _part(" ".join(filter(None, (dropping, particle, name["family"]))), whole=True)
    else:
        prefix = " ".join(escaped(part) for part in (dropping, particle) if part)
        family = " ".join(filter(None, (prefix, _part(name["family"], whole=bool(prefix)))))
    given, suffix = name.get("given", ""), name.get("suffix", "")
    if suffix:
        return (
            f"{family}, {_part(suffix)}, {_part(given)}" if given else f"{family}, {_part(suffix)},"
        )
    if given:
        return f"{family}, {_part(given)}"
    return family if not re.search(r"\s", family) or prefix_of(family) else f"{{{family}}}"


def prefix_of(family: str) -> bool:
    """Returns whether a written family name begins with a particle."""
    return bool(re.match(r"[^\W\d_A-Z]", family))


def _written_extended(name: CslName, particle: str) -> str:
    parts = [("family", name["family"]), ("given", name.get("given", "")), ("prefix", particle)]
    pairs = [f"{key}={_quoted(text)}" for key, text in parts if text]
    if name.get("suffix"):
        pairs.append(f"suffix={_quoted(name['suffix'])}")
    return ", ".join([*pairs, "useprefix=false"])


def _quoted(text: str) -> str:
    value = escaped(text)
    return f"{{{value}}}" if re.search(r"[,=\"]|\band\b", value, re.IGNORECASE) else value


def _is_lower(text: str) -> bool:
    words: Sequence[str] = text.split()
    firsts = [found[0] for word in words if (found := _LOWER_FIRST.search(word))]
    return bool(firsts) and all(first.islower() for first in firsts)


def _part(name: str, *, whole: bool = False) -> str:
    """Returns part of a name; between braces if it has what separates names or parts."""
    text = escaped(name)
    if re.search(r",|\band\b|=", text, re.IGNORECASE):
        return f"{{{text}}}"
    lower = whole and any(word[:1].islower() for word in text.split())
    return f"{{{text}}}" if lower else text
