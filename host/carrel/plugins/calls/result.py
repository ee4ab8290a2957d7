"""The result of a tool or a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class LinkOffer(NamedTuple):
    """The summary that a server sends in place of a large result, with a link to it.

    Attributes:
        summary: one line about the result.
        facts: further members of the summary, such as the number of sources.
    """

    summary: str
    facts: Mapping[str, Any] = {}


class Result:
    """The result of a tool call.

    Args:
        utf8: see below.
        data: see below; None when it was validated before, so it is decoded on demand.
        content: see below.
        structured: see below.
        meta: see below.
        link: see below.

    Attributes:
        utf8: the JSON text as the component returned it, in UTF-8.
        content: MCP's content blocks, of a plugin that writes them itself (an Extism module);
            checked. None when the text is the content.
        structured: whether `data` is the tool's structured content; without it, `data` only holds
            `content`.
        meta: members of the MCP result's `_meta`, such as the age of a cached result.
        link: allows a server to keep a large result and to answer with a link to it; None for a
            result that is always inline.
    """

    __slots__ = ("_data", "content", "link", "meta", "structured", "utf8")

    def __init__(
        self,
        utf8: bytes,
        data: dict[str, Any] | None,
        content: tuple[dict[str, Any], ...] | None = None,
        *,
        structured: bool = True,
        meta: Mapping[str, Any] | None = None,
        link: LinkOffer | None = None,
    ) -> None:
        self.utf8 = utf8
        self._data = data
        self.content = content
        self.structured = structured
        self.meta = meta
        self.link = link

    @property
    def data(self) -> dict[str, Any]:
        """The result decoded; it conforms to the tool's output schema."""
        if self._data is None:
            from pydantic_core import from_json

            self._data = from_json(self.utf8)
        return self._data

    @property
    def text(self) -> str:
        """The JSON text as the component returned it."""
        return self.utf8.decode()
