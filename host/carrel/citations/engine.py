"""Renders citations and bibliographies with the plugin `csl`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from carrel.errors import ArgumentError, ContractViolation
from carrel.text.utf8 import Utf8

from .locales import find_locale, locale_texts
from .rendering import Rendering
from .request import Citation, Item, OutputFormat, RenderRequest
from .styles import Style, find_parent, find_style

if TYPE_CHECKING:
    from carrel.exchange import Call

PLUGIN: Final = "csl"
FORMAT: Final = "process"
#: Requests for one rendering: a dependent style, and then a locale, may each need one more.
_MOST_REQUESTS: Final = 4


class Parser(Protocol):
    """The part of a `Plugin` that renders."""

    def parse(
        self, document_format: str, document: Utf8, *, whole: Call | None = None
    ) -> memoryview:
        """See `Plugin.parse`."""
        ...

    def checked_document(self, document_format: str, text: memoryview) -> dict[str, Any]:
        """See `Plugin.checked_document`."""
        ...


class Parsers(Protocol):
    """The part of a `PluginSet` that finds the plugin."""

    def plugin(self, name: str, /) -> Parser:
        """See `PluginSet.plugin`."""
        ...


class CitationEngine:
    """Renders CSL-JSON items in any style, in the sandbox. Thread-safe.

    Args:
        plugins: a `PluginSet`.
    """

    def __init__(self, plugins: Parsers) -> None:
        self._plugins = plugins

    def bibliography(
        self,
        items: Sequence[Item],
        style: Style | str = "apa",
        *,
        locale: str | None = None,
        output_format: OutputFormat = "text",
        call: Call | None = None,
    ) -> Rendering:
        """Renders a bibliography of all items. Raises as `render`.

        Args:
            items: CSL-JSON items.
            style: a style, or its name for `find_style`.
            locale: a language tag; the style's own locale when None.
            output_format: of the texts.
            call: its deadline and its cancellation apply.
        """
        return self.render(_request(items, style, locale, output_format), call)

    def cite(
        self,
        items: Sequence[Item],
        citations: Sequence[Citation],
        style: Style | str = "apa",
        *,
        locale: str | None = None,
        output_format: OutputFormat = "text",
        uncited: Sequence[str] = (),
        call: Call | None = None,
    ) -> Rendering:
        """Renders in-text citations and a bibliography of the cited items. Raises as `render`.

        Args:
            items: CSL-JSON items.
            citations: in the order of the text.
            style: a style, or its name for `find_style`.
            locale: a language tag; the style's own locale when None.
            output_format: of the texts.
            uncited: ids of items that are in the bibliography without being cited.
            call: its deadline and its cancellation apply.
        """
        return self.render(
            _request(items, style, locale, output_format, citations=citations, uncited=uncited),
            call,
        )

    def render(self, request: RenderRequest, call: Call | None = None) -> Rendering:
        """Renders a request.

        Raises:
            ArgumentError: the items are not JSON, or the style depends on one that is not known.
            SourceError: `invalid_document`; the style cannot be read.
            PluginError: the plugin is missing, failed or exceeded a limit.
        """
        parser = self._plugins.plugin(PLUGIN)
        style = request.style
        locale = request.locale or style.own_locale
        fallback = style.default_locale
        for _ in range(_MOST_REQUESTS):
            payload: dict[str, Any] = {"style": style.text, **request.to_dict()}
            if locale is not None:
                payload["locale"] = locale
            payload["locales"] = dict(locale_texts(locale or fallback))
            answer = parser.parse(FORMAT, _text(payload), whole=call)
            document = parser.checked_document(FORMAT, answer)
            needs = document.get("needs")
            if needs is None:
                return Rendering.of(document)
            parent = needs.get("independent_parent")
            if parent is not None:
                style = find_parent(str(parent), style)
                # A journal's own locale comes before its parent's.
                locale = request.locale or needs.get("default_locale")
                fallback = style.default_locale
            else:
                locale = _supported_locale(needs)
        raise ContractViolation(
            f"{PLUGIN}: asks for the style or locale that it was given",
            plugin=PLUGIN,
            tool=FORMAT,
        )


def _supported_locale(needs: Mapping[str, Any]) -> str:
    """Returns the locale that a style asks for, or the fallback if CSL does not have it."""
    for name in needs.get("locales") or ():
        try:
            return find_locale(str(name))
        except ArgumentError:
            continue
    return "en-US"


def _request(
    items: Sequence[Item],
    style: Style | str,
    locale: str | None,
    output_format: OutputFormat,
    **more: Any,
) -> RenderRequest:
    return RenderRequest(
        items,
        find_style(style) if isinstance(style, str) else style,
        find_locale(locale) if locale is not None else None,
        output_format,
        **more,
    )


def _text(request: Mapping[str, Any]) -> Utf8:
    try:
        return Utf8.of(json.dumps(request, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError([f"items: cannot be written as JSON: {error}"]) from None
