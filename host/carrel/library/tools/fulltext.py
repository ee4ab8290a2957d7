"""The tools for full texts: library_fulltext_attach, _get and _detach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.library.fulltext.attachments import FILE_NAMES
from carrel.library.fulltext.run import LONGEST_PART, MAX_CHARS, FullTexts

from .library_tool import ID, NUMBER, TEXT, LibraryTool, Schema, library_spec

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.library.shared import SharedLibrary

_BOOLEAN: Final[Schema] = {"type": "boolean", "default": False}

_ATTACH: Final = """\
WHEN TO USE: Keep a PDF or Markdown file with a reference of the user's library.
INPUTS: id, path; replace.
OUTPUTS: kind, path of the copy.
COSTS: No request.
SIDE EFFECTS: Copies the file beside the library, and records it there.
LIMITS: 256 MiB; files of folders that the operator granted."""
_GET: Final = """\
WHEN TO USE: Read the full text that is kept with a reference.
INPUTS: id; read_pdf: also the text of a PDF; from, max_chars.
OUTPUTS: text of the Markdown, next if there is more; pdf: its path.
COSTS: No request.
SIDE EFFECTS: None.
LIMITS: Only attached files; papers that are not attached: paper_read."""
_DETACH: Final = """\
WHEN TO USE: Detach full texts from a reference.
INPUTS: id; kind; delete: also the files.
OUTPUTS: detached: file names.
COSTS: No request.
SIDE EFFECTS: Writes the library.
LIMITS: Ask the user before delete."""


def make_fulltext_tools(shared: SharedLibrary, texts: FullTexts) -> list[LibraryTool]:
    """Returns the tools."""

    def attach(arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        return texts.attach(
            shared(), arguments["id"], arguments["path"], replace=bool(arguments.get("replace"))
        )

    def get(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        return texts.get(
            shared(),
            arguments["id"],
            call,
            read_pdf=bool(arguments.get("read_pdf")),
            start=arguments.get("from", 0),
            max_chars=arguments.get("max_chars", MAX_CHARS),
        )

    def detach(arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        kind = arguments.get("kind")
        return texts.detach(
            shared(),
            arguments["id"],
            kinds=tuple(FILE_NAMES) if kind is None else (kind,),
            delete=bool(arguments.get("delete")),
        )

    kind: Schema = {"enum": list(FILE_NAMES)}
    path: Schema = {"type": "string", "minLength": 1, "maxLength": 4096}
    part: Schema = {
        "from": {"type": "integer", "minimum": 0, "default": 0},
        "max_chars": {
            "type": "integer",
            "minimum": 500,
            "maximum": LONGEST_PART,
            "default": MAX_CHARS,
        },
    }
    return [
        LibraryTool(
            library_spec(
                "library_fulltext_attach",
                "Attach a full text",
                _ATTACH,
                {"id": ID, "path": path, "replace": _BOOLEAN},
                _object(
                    {
                        "id": TEXT,
                        "kind": kind,
                        "filename": TEXT,
                        "path": TEXT,
                        "bytes": NUMBER,
                        "replaced": {"type": "boolean"},
                    },
                    "id",
                    "kind",
                    "path",
                ),
                required=["id", "path"],
                writes=True,
                destructive=True,
            ),
            attach,
            shared,
        ),
        LibraryTool(
            library_spec(
                "library_fulltext_get",
                "Get a full text",
                _GET,
                {"id": ID, "read_pdf": _BOOLEAN, **part},
                _object(
                    {
                        "id": TEXT,
                        "pdf": TEXT,
                        "text": TEXT,
                        "source": kind,
                        "length": NUMBER,
                        "next": NUMBER,
                    },
                    "id",
                ),
                required=["id"],
                network=True,
            ),
            get,
            shared,
            texts.reader.limits,
        ),
        LibraryTool(
            library_spec(
                "library_fulltext_detach",
                "Detach full texts",
                _DETACH,
                {"id": ID, "kind": kind, "delete": _BOOLEAN},
                _object(
                    {
                        "id": TEXT,
                        "detached": {"type": "array", "items": TEXT},
                        "deleted": {"type": "boolean"},
                    },
                    "id",
                    "detached",
                ),
                required=["id"],
                writes=True,
                destructive=True,
            ),
            detach,
            shared,
        ),
    ]


def _object(properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": properties,
    }
