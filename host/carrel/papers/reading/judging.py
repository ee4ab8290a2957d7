"""Decides whether a document is a paper's own words: the form that was promised, with a body, and
of that paper.

A page about a paper is never taken for the paper: a challenge, a login, a landing page with an
abstract. Neither is a document that has only front matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.records import Id

from .download import NoCopyError

if TYPE_CHECKING:
    from carrel.documents import ReadDocument
    from carrel.records import Work
    from carrel.records.ids import Kind

#: Form → the formats of readers that are it.
_FORMATS: Final[Mapping[str, frozenset[str]]] = {
    "jats": frozenset({"jats"}),
    "html": frozenset({"html"}),
    "tex": frozenset({"tex", "tar"}),
    "pdf": frozenset({"pdf"}),
}
#: What people call them.
_NAMES: Final = {
    "jats": "an article in JATS XML",
    "html": "a page",
    "tex": "a TeX source",
    "tar": "a TeX source",
    "pdf": "a PDF",
}
#: Kinds of pages that are no paper → what they are.
_PAGES: Final = {
    "challenge": "a challenge page, which tests for a person",
    "login": "a login page",
    "consent": "a question about cookies",
    "not_found": "a page that says that there is none",
    "paywall": "a paywall with the beginning of the text",
    "empty": "a page without a text",
    "listing": "a list of links",
    "forum": "a discussion",
    "product": "a product",
}

#: Kinds of sections that are not the body: of JATS, elements of the back matter (a `sec` there has
#: that kind) and types of sections and notes that publishers use.
_OUTSIDE: Final = re.compile(
    r"references|ref-list|ack|fn-group|author-notes|notes|bio|glossary|app|app-group|abstract|sec"
    r"|floats-group|.*(?:competing|conflict|coi-|contribution|availability|funding|financial"
    r"|supplement|ethic|disclosure|abbreviation).*",
    re.IGNORECASE,
)
#: Headings of parts around the body, in papers and on pages about them.
_AROUND: Final = re.compile(
    r"(?:graphical |short |author )?abstract|(?:popular |author |lay )?summary|highlights"
    r"|key ?words|references.*|bibliography|works cited|literature cited|cited by.*|citations?"
    r"|how to cite.*|acknowledge?ments?|abbreviations|availability of .*|funding.*"
    r"|(?:article )?metrics|authors? (?:and )?(?:information|affiliations?|contributions?|notes"
    r"|details)|affiliations|competing interests?|conflicts? of interests?|data availability.*"
    r"|additional information|about this article|supplementary.*|supporting information"
    r"|rights and permissions|information|dates|submission history|related (?:articles?|content)"
    r"|ethics statement|footnotes|copyright.*"
)
#: Headings that only a page has that shows a part of the text, or sells it.
_PREVIEW: Final = re.compile(
    r"section snippets|access (?:this article|options|paper.*|through.*)|buy (?:now|article.*)"
    r"|get (?:full )?access|purchase.*|log ?in.*|sign in.*|subscribe.*|full text links",
    re.IGNORECASE,
)
#: Headings that bodies of papers have.
_BODY: Final = re.compile(
    r"introduction|background|(?:materials? and )?methods?|methodology|results?|discussion"
    r"|conclusions?|experiments?|evaluation|related work|preliminaries|model|theory|analysis"
    r"|case (?:report|presentation)|(?:results|discussion|summary) and .*|article text|main text",
    re.IGNORECASE,
)
#: The number of a heading: `2.1`, `IV.`, `A)`.
_NUMBER: Final = re.compile(
    r"(?:section\s+)?(?:\d+(?:\.\d+)*[.)]?|(?:[ivxlc]+|[a-z])[.)])\s+(?=\S)", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W_]+")

#: Words of the body that a form has at the least. A page without any heading of a body has more
#: than pages about papers have: at most 412 words in 20 captures.
_LEAST: Final = {"jats": 1, "html": 20, "tex": 10, "pdf": 10}
_UNSTRUCTURED_PAGE: Final = 700
#: Shared words of two titles, of all their words, below which they are of different papers.
_SAME_TITLE: Final = 0.3


def require_text(read: ReadDocument, form: str, work: Work | None, identifier: Id | None) -> None:
    """Requires that a document is the text of a paper in a form.

    Args:
        read: what the address or the store gave.
        form: that was promised.
        work: what sources say of the paper; None if it is unknown.
        identifier: of the reference; None for a citation.

    Raises:
        NoCopyError: it is not.
    """
    kind = str(read.document.get("kind", ""))
    page = _PAGES.get(kind) if read.format == "html" else None
    if read.format not in _FORMATS[form]:
        found = page or _NAMES.get(read.format, f"a document in {read.format}")
        raise NoCopyError(f"expected {_NAMES[form]} but found {found}")
    if page is not None:
        raise NoCopyError(f"found {page}")
    if read.quality == "none":
        reason = read.document.get("quality_reason", "nothing to read")
        raise NoCopyError(f"{_NAMES[form]} whose text cannot be read: {reason}")
    _require_body(read.document, form, work)
    _require_same_paper(read, work, identifier)


def _require_body(document: Mapping[str, Any], form: str, work: Work | None) -> None:
    abstracts = [str(document.get("abstract", "")), (work.abstract if work else None) or ""]
    abstract = " ".join(_plain(text) for text in abstracts)
    words, structured, outside = 0, bool(document.get("references")), 0
    for heading, level, kind, texts in _sections(document):
        if form == "html" and _PREVIEW.fullmatch(heading):
            raise NoCopyError(f"a page about the paper, not its text: it has {heading!r}")
        if outside and level > outside:
            continue  # inside a section that is not of the body
        around = _OUTSIDE.fullmatch(kind) or _AROUND.fullmatch(_plain(heading))
        outside = level if around else 0
        if around:
            continue
        structured = structured or bool(_BODY.fullmatch(heading)) or kind == "numbered"
        words += sum(len(text.split()) for text in texts if text not in abstract)
    least = _LEAST[form]
    if form == "html" and not structured:
        least = _UNSTRUCTURED_PAGE
    if words < least:
        what = "a page about the paper, not its text" if form == "html" else "only front matter"
        raise NoCopyError(f"{what}: {words} words besides abstract and references")


def _sections(document: Mapping[str, Any]) -> Iterator[tuple[str, int, str, list[str]]]:
    """Yields heading without number, level, kind, and the words of the blocks of each section.

    The kind of a section with a number is `numbered`, unless it has one of its own.
    """
    for section in document["sections"]:
        whole = " ".join(str(section.get("heading", "")).split())
        heading = _NUMBER.sub("", whole, 1).strip(" .:")
        kind = str(section.get("kind", ""))
        if not kind and whole and (section.get("label") or heading != whole.strip(" .:")):
            kind = "numbered"
        texts = [_plain(text) for block in section["blocks"] for text in _texts(block)]
        yield heading, int(section.get("level", 1)), kind, texts


def _texts(block: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Yields the texts of a block and of the blocks inside it."""
    for name in ("text", "caption", "tex"):
        if isinstance(block.get(name), str):
            yield block[name]
    if depth < 20:
        for name in ("items", "blocks"):
            for child in block.get(name, ()):
                if isinstance(child, Mapping):
                    yield from _texts(child, depth + 1)


def _plain(text: str) -> str:
    """Returns the words of a text in lower case, without accents and punctuation."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(
        _WORD.findall(
            "".join(character for character in folded if not unicodedata.combining(character))
        )
    )


def _require_same_paper(read: ReadDocument, work: Work | None, identifier: Id | None) -> None:
    """Refuses another version of an e-print, and a document of another title and identifier.

    Either alone says little: a paper has an identifier for each version of it, and its title
    changes between them.
    """
    own = read.identifiers
    stated = Id("arxiv", str(own.get("arxiv", "")))
    if (
        identifier is not None
        and identifier.is_version
        and stated.is_version
        and stated.work == identifier.work
        and stated != identifier
    ):
        raise NoCopyError(f"the text is of {stated}, not of {identifier}")
    if work is None or not work.title or not read.title:
        return
    expected, actual = set(_plain(work.title).split()), set(_plain(read.title).split())
    if len(expected & actual) >= _SAME_TITLE * len(expected | actual):
        return
    identifiers = {each.type: each.work[1] for each in work.ids.known()}
    both = [kind for kind in identifiers if kind in own]
    if both and not any(_same(kind, identifiers[kind], str(own[kind])) for kind in both):
        raise NoCopyError(f"the text is of another paper, {own[both[0]]}: {read.title[:100]!r}")


def _same(kind: Kind, expected: str, stated: str) -> bool:
    return Id(kind, stated).work[1].casefold() == expected.casefold()
