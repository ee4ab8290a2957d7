"""Renders the citations of a manuscript and its bibliography."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .documents import CitedKey, CitedWork, DocumentCitation, DocumentCitations
from .engine import CitationEngine
from .rendering import Rendering
from .request import Citation, CitationItem, Item, OutputFormat, RenderRequest
from .styles import Style

#: What a citation without any text begins with, such as that of a work without authors and title.
_NO_FORM: Final = "[CSL STYLE ERROR"


@dataclass(frozen=True, slots=True)
class RenderedCitation:
    """A citation at its place.

    Attributes:
        at: the first key and its place.
        keys: of the works.
        text: as the style sets it; empty if no work is known.
    """

    at: CitedKey
    keys: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RenderedManuscript:
    """The citations and the bibliography of a manuscript.

    Attributes:
        citations: in the order of the text.
        rendering: with the bibliography.
        unknown: keys that no item has, each with its first place.
    """

    citations: tuple[RenderedCitation, ...]
    rendering: Rendering
    unknown: tuple[CitedKey, ...]


def render_manuscript(
    engine: CitationEngine,
    found: DocumentCitations,
    items: Mapping[str, Item],
    style: Style,
    *,
    locale: str | None = None,
    output_format: OutputFormat = "text",
) -> RenderedManuscript:
    """Renders what a manuscript cites. Raises as `CitationEngine.render`.

    Args:
        engine: renders.
        found: see `find_citations`.
        items: by their ids.
        style: see `find_style`.
        locale: as `find_locale` returns it.
        output_format: of the texts.
    """
    citations = [_without_unknown_works(citation, items) for citation in found.citations]
    parts = [_parts(citation, number) for number, citation in enumerate(citations, 1)]
    cited = {key.key for key in found.first_places()}
    request = RenderRequest(
        [item for name, item in items.items() if found.everything or name in cited],
        style,
        locale,
        output_format,
        citations=[part for several in parts for part in several],
        uncited=_uncited(found, items),
    )
    rendering = engine.render(request)
    texts = iter(rendering.citations)
    return RenderedManuscript(
        tuple(
            RenderedCitation(
                citation.at,
                tuple(work.at.key for work in citation.works),
                " ".join(_texts(texts, len(several))),
            )
            for citation, several in zip(found.citations, parts, strict=True)
        ),
        rendering,
        tuple(key for key in found.first_places() if key.key not in items),
    )


def _texts(texts: Iterator[str], count: int) -> list[str]:
    """Returns the next texts; an author that the style has no form for is left out."""
    found = [next(texts, "") for _ in range(count)]
    return [text for text in found if count == 1 or not text.startswith(_NO_FORM)]


def _without_unknown_works(
    citation: DocumentCitation, items: Mapping[str, Item]
) -> DocumentCitation | None:
    works = tuple(work for work in citation.works if work.at.key in items)
    if not works:
        return None
    in_text = citation.author_in_text and works[0] == citation.works[0]
    return DocumentCitation(works, in_text)


def _parts(citation: DocumentCitation | None, note: int) -> Sequence[Citation]:
    """Returns the clusters of a citation: two if its author belongs to the sentence."""
    if citation is None:
        return ()
    first, *further = citation.works
    if not citation.author_in_text:
        return (Citation(tuple(map(_item, citation.works)), note),)
    author = CitationItem(first.at.key, author_only=True)
    rest = CitationItem(
        first.at.key, first.locator, first.label, "", first.suffix, suppress_author=True
    )
    return (Citation((author,), note), Citation((rest, *map(_item, further)), note))


def _item(work: CitedWork) -> CitationItem:
    return CitationItem(
        work.at.key,
        work.locator,
        work.label,
        work.prefix,
        work.suffix,
        work.suppress_author,
        work.author_only,
    )


def _uncited(found: DocumentCitations, items: Mapping[str, Item]) -> Sequence[str]:
    keys: Iterable[str] = items if found.everything else (key.key for key in found.uncited)
    return [key for key in dict.fromkeys(keys) if key in items]
