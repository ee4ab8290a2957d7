r"""Writes works as BibTeX.

A value is between braces, in one line. Braces of a text are written as commands, so that those of
the record balance; `\ % & # _ $ ~ ^` are escaped. Formulas between dollars are kept if their braces
balance. DOIs and URLs are verbatim, as the styles that link them expect, without braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from carrel.records import Agent, Work

from .citation_keys import citation_keys
from .texts import one_line, page_range

#: CSL type → entry type, and the field of the container.
_TYPES: Final = {
    "article-journal": ("article", "journal"),
    "article-magazine": ("article", "journal"),
    "article-newspaper": ("article", "journal"),
    "book": ("book", "series"),
    "chapter": ("incollection", "booktitle"),
    "paper-conference": ("inproceedings", "booktitle"),
    "report": ("techreport", "series"),
    "thesis": ("phdthesis", "series"),
}
_MISC: Final = ("misc", "howpublished")
#: Entry type → the field of the publisher.
_PUBLISHERS: Final = {"techreport": "institution", "phdthesis": "school"}

_ESCAPES: Final = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "%": r"\%",
    "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}  # fmt: skip
_SPECIAL = re.compile(r"[\\{}%&#_$~^]")
#: A formula: no space behind the first dollar and before the last, no digit behind that.
_FORMULA = re.compile(r"(?<!\\)\$(?=[^\s$])[^$]*(?<=[^\s\\])\$(?!\d)")
_PERCENT = re.compile(r"(?<!\\)%")
#: Words whose capitals a style must not change.
_CAPITALS = re.compile(r"\b\w+[A-Z]\w*\b")
_NOT_VERBATIM = re.compile(r'[{}\\\s"<>^`|]')


def bibtex(works: Sequence[Work]) -> str:
    """Returns the works as a BibTeX file; empty for none."""
    return "\n".join(bibtex_records(works))


def bibtex_records(works: Sequence[Work]) -> list[str]:
    """Returns the record of each work; their keys differ."""
    keys = citation_keys(works)
    return [_entry(work, key) for work, key in zip(works, keys, strict=True)]


def _entry(work: Work, key: str) -> str:
    kind, container = _TYPES.get(work.type, _MISC)
    lines = [f"  {name} = {{{value}}}" for name, value in _fields(work, kind, container) if value]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _fields(work: Work, kind: str, container: str) -> Iterator[tuple[str, str]]:
    yield "title", _title(work)
    yield "author", " and ".join(_author(one) for one in work.authors)
    yield "editor", " and ".join(_author(one) for one in work.editors)
    yield container, _escaped(work.container_title)
    yield "year", work.issued[:4] if work.issued else ""
    yield "month", str(int(work.issued[5:7])) if work.issued and len(work.issued) > 4 else ""
    yield "volume", _escaped(work.volume)
    yield "number", _escaped(work.issue)
    yield "pages", _pages(work)
    yield _PUBLISHERS.get(kind, "publisher"), _escaped(work.publisher)
    yield "issn", _escaped(next(iter(work.ids.issn), None))
    yield "isbn", _escaped(next(iter(work.ids.isbn), None))
    yield "doi", _verbatim(work.ids.doi, keep="<>")
    if work.ids.arxiv:
        yield "eprint", _verbatim(work.ids.arxiv)
        yield "archiveprefix", "arXiv"
        category = next(iter(work.subjects), "")
        yield "primaryclass", category if re.fullmatch(r"[a-z-]+(\.[A-Za-z-]+)?", category) else ""
    yield "pmid", _escaped(work.ids.pmid)
    yield "url", _verbatim(work.url)
    yield "language", _escaped(work.language)
    yield "keywords", ", ".join(_escaped(one) for one in work.subjects)
    yield "abstract", _escaped(work.abstract)


def _title(work: Work) -> str:
    title = f"{work.title}: {work.subtitle}" if work.title and work.subtitle else work.title
    return _escaped(title, protect=True)


def _author(agent: Agent) -> str:
    if agent.literal or not agent.family:
        return f"{{{_escaped(agent.literal or agent.given)}}}"
    parts = [_part(agent.family)] + ([_part(agent.given)] if agent.given else [])
    return ", ".join(parts)


def _part(name: str) -> str:
    """Returns part of a name; between braces if it has what separates names."""
    text = _escaped(name)
    return f"{{{text}}}" if "," in text or re.search(r"\band\b", text, re.IGNORECASE) else text


def _pages(work: Work) -> str:
    if not work.pages:
        return _escaped(work.article_number)
    first, last = page_range(work.pages)
    return _escaped(first) + (f"--{_escaped(last)}" if last else "")


def _escaped(text: str | None, *, protect: bool = False) -> str:
    line = one_line(text or "")
    pieces: list[str] = []
    end = 0
    for formula in _FORMULA.finditer(line):
        if not _balanced(formula[0]):
            continue
        pieces.append(_plain(line[end : formula.start()], protect=protect))
        pieces.append(_PERCENT.sub(r"\\%", formula[0]))
        end = formula.end()
    pieces.append(_plain(line[end:], protect=protect))
    return "".join(pieces)


def _plain(text: str, *, protect: bool) -> str:
    end = 0
    pieces = []
    for word in _CAPITALS.finditer(text) if protect else ():
        pieces.append(_SPECIAL.sub(_escape, text[end : word.start()]))
        pieces.append(f"{{{_SPECIAL.sub(_escape, word[0])}}}")
        end = word.end()
    pieces.append(_SPECIAL.sub(_escape, text[end:]))
    return "".join(pieces)


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES[found[0]]


def _balanced(text: str) -> bool:
    """Returns whether braces balance, as BibTeX counts them: one behind a backslash counts too."""
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _verbatim(text: str | None, *, keep: str = "") -> str:
    def encoded(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else f"%{ord(found[0]):02X}"

    return _NOT_VERBATIM.sub(encoded, one_line(text or ""))
