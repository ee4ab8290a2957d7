"""The tool library_cite: references of the library as citations in any style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from carrel.citations.engine import CitationEngine
from carrel.citations.request import FORMATS, Citation, CitationItem
from carrel.citations.styles import Style, find_style
from carrel.errors import ArgumentError
from carrel.library.errors import LibraryError

from .library_tool import TEXT, LibraryTool, Schema, library_spec

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.library.adding.files import ReadFile
    from carrel.library.library import Library
    from carrel.library.shared import SharedLibrary
    from carrel.plugins.plugin_set import PluginSet

MAX_IDS: Final = 1000

_DESCRIPTION: Final = """\
WHEN TO USE: Write citations or a reference list from the user's own library.
INPUTS: ids; style: name, or path of a .csl file; format; locale; in_text: as cited in a sentence.
OUTPUTS: citations: one per id, in this order; error for an id that is not there.
COSTS: No request.
SIDE EFFECTS: None.
LIMITS: library://styles lists the names. Copy the text as it is."""


class LibraryCiter:
    """Cites references of a library. Thread-safe.

    Args:
        plugins: the plugin `csl` renders.
        config: the default style and locale.
        read_file: opens a style's file that the operator granted.
    """

    def __init__(self, plugins: PluginSet, config: Config, read_file: ReadFile) -> None:
        self._engine = CitationEngine(plugins)
        self._config = config
        self._read_file = read_file

    def cite(self, library: Library, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Returns a citation for each id, or that it is not there.

        Raises:
            ArgumentError: no such style or locale.
            LibraryError: the library cannot be read.
            CarrelError: the style cannot be used.
        """
        name = arguments.get("style") or self._config.library.style
        locale = arguments.get("locale") or self._config.library.locale
        output = arguments.get("format", "text")
        style = self.style(name)
        items, missing = _items(library, arguments["ids"])
        found = list(items.values())
        texts: dict[str, str] = {}
        warnings: list[str] = []
        if found:
            if arguments.get("in_text"):
                citations = [Citation((CitationItem(str(item["id"])),)) for item in found]
                rendered = self._engine.cite(
                    found, citations, style, locale=locale, output_format=output, call=call
                )
                texts = dict(
                    zip((str(item["id"]) for item in found), rendered.citations, strict=True)
                )
            else:
                rendered = self._engine.bibliography(
                    found, style, locale=locale, output_format=output, call=call
                )
                texts = {entry.id: entry.text.strip() for entry in rendered.entries}
            warnings = [warning.message for warning in rendered.warnings]
        entries = [
            {"id": key, "text": texts.get(str(items[key]["id"]), "")}
            if key in items
            else {"id": key, "error": missing[key]}
            for key in arguments["ids"]
        ]
        answer: dict[str, Any] = {"style": style.name, "format": output, "citations": entries}
        if locale is not None:
            answer["locale"] = locale
        if warnings:
            answer["notices"] = list(dict.fromkeys(warnings))[:20]
        return answer

    def style(self, name: str) -> Style:
        """Returns a style by name, or by the path of a file.

        The operator's own style may be any file, a client's only one in a folder that the operator
        granted.

        Raises:
            ArgumentError: there is no such style, or the file is no text.
            SourceError: `denied`; the file is in no granted folder.
        """
        if name == self._config.library.style:
            return find_style(name, files=True)
        if not name.endswith(".csl") or name.startswith(("http:", "https:")):
            return find_style(name)
        try:
            return find_style(name)
        except ArgumentError:
            data = self._read_file(name)
        try:
            return Style(PurePath(name).stem, data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ArgumentError([f"style: is not UTF-8 at byte {error.start}"]) from None


def make_cite_tool(shared: SharedLibrary, citer: LibraryCiter) -> LibraryTool:
    """Returns the tool."""

    def cite(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        return citer.cite(shared(), arguments, call)

    citation: Schema = {
        "type": "object",
        "required": ["id"],
        "additionalProperties": False,
        "properties": {"id": TEXT, "text": TEXT, "error": TEXT},
    }
    output: Schema = {
        "type": "object",
        "required": ["style", "format", "citations"],
        "additionalProperties": False,
        "properties": {
            "style": TEXT,
            "format": TEXT,
            "locale": TEXT,
            "citations": {"type": "array", "items": citation},
            "notices": {"type": "array", "items": TEXT},
        },
    }
    ids: Schema = {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_IDS,
        "items": {"type": "string", "minLength": 1, "maxLength": 500},
    }
    properties: Schema = {
        "ids": ids,
        "style": {"type": "string", "maxLength": 1000},
        "format": {"enum": list(FORMATS), "default": "text"},
        "locale": {"type": "string", "maxLength": 20},
        "in_text": {"type": "boolean", "default": False},
    }
    spec = library_spec(
        "library_cite", "Cite references", _DESCRIPTION, properties, output, required=["ids"]
    )
    return LibraryTool(spec, cite, shared)


def _items(library: Library, ids: Sequence[str]) -> tuple[dict[str, Item], dict[str, str]]:
    """Returns the references by requested id, each once, and why the others are missing."""
    items: dict[str, Item] = {}
    missing: dict[str, str] = {}
    for key in ids:
        try:
            items[key] = library.get(key)
        except LibraryError as error:
            if error.library_code != "NOT_FOUND":
                raise
            missing[key] = error.message
    return items, missing
