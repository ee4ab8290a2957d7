"""Defines what a rendering returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class BibliographyEntry:
    """An entry of a bibliography.

    Attributes:
        id: of the item.
        text: the entry, with its label if it has one.
        label: of a numbered style, such as `[1]`.
    """

    id: str
    text: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class BibliographyLayout:
    """The layout of a style's bibliography.

    Attributes:
        hanging_indent: whether all lines but the first are indented.
        second_field_align: `flush` or `margin` if the label is in a column of its own.
        entry_spacing: lines between two entries.
        line_spacing: of the lines of an entry.
        max_offset: characters of the longest label.
    """

    hanging_indent: bool = False
    second_field_align: str | None = None
    entry_spacing: int = 1
    line_spacing: int = 1
    max_offset: int = 0


@dataclass(frozen=True, slots=True)
class RenderWarning:
    """Something that the rendering left out or guessed."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """Rendered citations and bibliography.

    Attributes:
        citations: a text for each citation of the request.
        entries: of the bibliography, in the style's order.
        layout: of the bibliography.
        unknown: ids that were cited and are not among the items.
        warnings: what was left out or guessed.
    """

    citations: tuple[str, ...] = ()
    entries: tuple[BibliographyEntry, ...] = ()
    layout: BibliographyLayout = field(default_factory=BibliographyLayout)
    unknown: tuple[str, ...] = ()
    warnings: tuple[RenderWarning, ...] = ()

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Returns the rendering in a document of the plugin, which its schema accepted."""
        layout = document.get("layout") or {}
        return cls(
            tuple(str(citation["text"]) for citation in document.get("citations") or ()),
            tuple(
                BibliographyEntry(str(entry["id"]), str(entry["text"]), entry.get("label"))
                for entry in document.get("bibliography") or ()
            ),
            BibliographyLayout(
                **{name: layout[name] for name in BibliographyLayout.__slots__ if name in layout}
            ),
            tuple(map(str, document.get("unknown") or ())),
            tuple(
                RenderWarning(str(warning["code"]), str(warning["message"]))
                for warning in document.get("warnings") or ()
            ),
        )
