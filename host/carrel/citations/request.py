"""Defines what is rendered: items, a style, citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from carrel.errors import ArgumentError

from .styles import Style

#: A bibliographic item of CSL-JSON.
Item: TypeAlias = Mapping[str, Any]

OutputFormat: TypeAlias = Literal["text", "html", "markdown", "latex"]

FORMATS: Final[tuple[OutputFormat, ...]] = ("text", "html", "markdown", "latex")


@dataclass(frozen=True, slots=True)
class CitationItem:
    """One work in a citation.

    Attributes:
        id: of the item.
        locator: such as `12-15`.
        label: what the locator counts, such as `page` or `chapter`.
        prefix: a text before it, such as `see `.
        suffix: a text behind it.
        suppress_author: leave out the author, whom the sentence names.
        author_only: render only the author.
    """

    id: str
    locator: str | None = None
    label: str | None = None
    prefix: str = ""
    suffix: str = ""
    suppress_author: bool = False
    author_only: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Returns it as the plugin takes it."""
        members = {
            "id": self.id,
            "locator": self.locator,
            "label": self.label,
            "prefix": self.prefix,
            "suffix": self.suffix,
            "suppress-author": self.suppress_author,
            "author-only": self.author_only,
        }
        return {name: value for name, value in members.items() if value or name == "id"}


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation of one or more works at one place of a text.

    Attributes:
        items: the works, in the order of the text.
        note_index: the number of the footnote that it is in; 0 in the text itself.
    """

    items: tuple[CitationItem, ...]
    note_index: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Returns it as the plugin takes it."""
        citation: dict[str, Any] = {"items": [item.to_dict() for item in self.items]}
        if self.note_index:
            citation["note_index"] = self.note_index
        return citation


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """A rendering of items in a style.

    Attributes:
        items: CSL-JSON items.
        style: see `find_style`.
        locale: as `find_locale` returns it; None for the style's own.
        output_format: of the texts.
        citations: in the order of the text; None for a bibliography of all items.
        bibliography: whether to render a bibliography.
        uncited: ids of items that are in the bibliography without being cited.
    """

    items: Sequence[Item]
    style: Style
    locale: str | None = None
    output_format: OutputFormat = "text"
    citations: Sequence[Citation] | None = None
    bibliography: bool = True
    uncited: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        if self.output_format not in FORMATS:
            supported = ", ".join(FORMATS)
            raise ArgumentError([f"no output format {self.output_format!r}; there are {supported}"])

    def to_dict(self) -> dict[str, Any]:
        """Returns the request without style and locales."""
        request: dict[str, Any] = {
            "format": self.output_format,
            "items": list(self.items),
            "bibliography": self.bibliography,
        }
        if self.citations is not None:
            request["citations"] = [citation.to_dict() for citation in self.citations]
        if self.uncited:
            request["uncited"] = list(self.uncited)
        return request
