"""Reads fixtures: one folder per case, with its input and its expected result.

    fixtures/old_page/document.json      a document; any one file called `document.*`, whose
                                         encoding is found, or `response.*`, a response's text in
                                         UTF-8 whatever it declares
    fixtures/old_page/format             its format, on one line; see below
    fixtures/old_page/expected.json      the result, or {"error": {"code", …}}

    fixtures/search/case.json            {"tool": "search", "arguments": {…}}
    fixtures/search/exchanges/           what upstreams answered; any `*.json` file that is an
                                         exchange, see `carrel.fetch.recording`
    fixtures/search/expected.json

A case of a reserved tool is like a tool's, with its reserved name:

    fixtures/known_doi/case.json         {"tool": "lookup", "arguments": {"ids": [{"type", "id"}]}}
    fixtures/statistics/case.json        {"tool": "resource", "arguments": {"uri": "…"}}

Where a plugin has several formats, a case names the one of its document, in a file `format` or as
`format` in `case.json`. `case.json` may also hold `settings`, what the operator's configuration
would hand to the plugin. A binary document is passed unchanged, whatever
the ending, such as `document.pdf`; `options` in `case.json` are those of its format. Hidden files
and Markdown are ignored. Any other file is listed as skipped, with the reason, so that misspelt
names are noticed. So is a folder with only recorded exchanges, which is for `--replay` and has no
expected result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import ArgumentError, StorageError
from carrel.fetch.recording import Recordings, Skipped, is_for_people
from carrel.plugins.manifests.manifest import RESERVED_TOOLS

from .project import read_json
from .reserved import reserved_tools

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import Manifest

CASE, EXPECTED, EXCHANGES, FORMAT = "case.json", "expected.json", "exchanges", "format"
#: Names of a document's file.
_DOCUMENTS = ("document.", "response.")
_KEYS = frozenset({"tool", "arguments", "format", "options", "settings"})


@dataclass(frozen=True, slots=True)
class Case:
    """One fixture.

    Attributes:
        tool: the tool that is called, or a reserved name; None where a document is parsed.
        format: the document's format; None where a tool is called.
        document: the document's file, likewise.
        options: of the document's format, where that is bytes.
        expected: what `expected.json` holds; None when there is none yet.
        skipped: files in the folder that no part of the case is read from, with the reason.
    """

    name: str
    folder: Path
    tool: str | None = None
    format: str | None = None
    document: Path | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] | None = None
    skipped: Sequence[Skipped] = ()

    @property
    def content_type(self) -> str:
        """The content type for decoding the document: a response is UTF-8, as guests receive it."""
        is_response = self.document is not None and self.document.name.startswith("response.")
        return "text/plain; charset=utf-8" if is_response else ""

    @property
    def exchanges(self) -> Path | None:
        """The recorded exchanges; None when there are none."""
        folder = self.folder / EXCHANGES
        return folder if folder.is_dir() else None


def case_folders(fixtures: Path) -> list[Path]:
    """Returns the cases in a folder, by name.

    Raises:
        ArgumentError: there is no such folder, or no case in it.
    """
    if not fixtures.is_dir():
        raise ArgumentError([f"{fixtures}: there is no folder of fixtures"])
    folders = sorted(
        path for path in fixtures.iterdir() if path.is_dir() and not path.name.startswith(".")
    )
    if not folders:
        raise ArgumentError([f"{fixtures}: holds no fixture; a fixture is a folder"])
    return folders


def only_exchanges(folder: Path) -> bool:
    """Returns whether a folder holds recorded exchanges and no part of a case."""
    if (folder / CASE).exists() or (folder / EXPECTED).exists() or _documents(folder):
        return False
    try:
        return len(Recordings(folder)) > 0
    except StorageError:
        return False


def skipped_beside(fixtures: Path) -> list[Skipped]:
    """Returns the files next to the cases' folders."""
    return [
        Skipped(path.name, "a case is a folder")
        for path in sorted(fixtures.iterdir())
        if not path.is_dir() and not is_for_people(path.name)
    ]


def read_case(folder: Path, manifest: Manifest, usual_format: str | None = None) -> Case:
    """Returns the case in a folder.

    Args:
        folder: of the case.
        manifest: of the plugin.
        usual_format: the format of a document whose case names none.

    Raises:
        ArgumentError: it is no case for that plugin; names every fault.
    """
    case = read_json(folder / CASE) if (folder / CASE).exists() else {}
    faults = [f"{CASE}: unknown key {key!r}" for key in sorted(set(case) - _KEYS)]
    faults += [
        f"{CASE}: {key} is not an object"
        for key in ("arguments", "options", "settings")
        if not isinstance(case.get(key, {}), dict)
    ]
    documents = _documents(folder)
    tool = case.get("tool")
    kind: dict[str, Any] = {}
    if tool is not None:
        if any(path.name.startswith(_DOCUMENTS[0]) for path in documents) or "format" in case:
            faults.append("a tool's case has no document and no format")
        if "options" in case:
            faults.append(f"{CASE}: options are a document's; a tool has arguments")
        known = [
            *(declared_tool.name for declared_tool in manifest.tools),
            *reserved_tools(manifest),
        ]
        if tool not in known and tool in tuple(RESERVED_TOOLS):
            faults.append(f"{CASE}: the manifest offers no {tool}, so no host calls it")
        elif tool not in known:
            faults.append(
                f"{CASE}: the plugin has no tool {tool!r}; there are: {', '.join(known) or 'none'}"
                f"; if the tool is gone, remove {folder}"
            )
        kind = {"tool": tool, "arguments": case.get("arguments", {})}
    elif len(documents) == 1:
        named = _named_format(case, faults, folder) or usual_format
        document_format = _format(named, manifest, faults, folder)
        declared = manifest.format(document_format)
        if case.get("options") and declared is not None and not declared.takes_bytes:
            faults.append(f"{CASE}: {document_format} is a text format, which takes no options")
        options = case.get("options", {})
        kind = {"format": document_format, "document": documents[0], "options": options}
    elif documents:
        faults.append("holds several documents; a case has one")
    else:
        faults.append(f'holds no document.*, no response.* and no {CASE} with "tool"')
    if faults:
        raise ArgumentError([f"{folder.name}: {fault}" for fault in faults])
    expected = read_json(folder / EXPECTED) if (folder / EXPECTED).exists() else None
    return Case(
        folder.name,
        folder,
        settings=case.get("settings", {}),
        expected=expected,
        skipped=_skipped(folder, is_call=tool is not None),
        **kind,
    )


def write_json(path: Path, value: object) -> None:
    """Writes a value as indented JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, "utf-8", newline="\n")


def _skipped(folder: Path, *, is_call: bool) -> list[Skipped]:
    known = {CASE, EXPECTED, EXCHANGES if is_call else FORMAT}
    documents = _DOCUMENTS[:1] if is_call else _DOCUMENTS
    skipped = []
    for path in sorted(folder.iterdir()):
        name = path.name
        if name in known or name.startswith(documents) or is_for_people(name):
            continue
        if name == EXCHANGES:
            reason = "a document is parsed without a network"
        else:
            near = get_close_matches(name, [*known, "document.json"], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            reason = f"it is not part of a case{hint}"
        skipped.append(Skipped(name, reason))
    return skipped


def _documents(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.startswith(_DOCUMENTS))


def _named_format(case: Mapping[str, Any], faults: list[str], folder: Path) -> Any:
    """Returns the format that a case names in either file; None if it names none."""
    file = folder / FORMAT
    if not file.is_file():
        return case.get("format")
    if "format" in case:
        faults.append(f"the format is named in {CASE} and in the file {FORMAT}; remove one")
    try:
        return file.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        faults.append(f"{FORMAT}: {error}")
        return None


def _format(requested: Any, manifest: Manifest, faults: list[str], folder: Path) -> str:
    known = [document_format.name for document_format in manifest.formats]
    if requested is None and len(known) == 1:
        return known[0]
    if requested in known:
        return str(requested)
    gone = f"; if the format is gone, remove {folder}"
    if not known:
        faults.append(f"the plugin has no document format any more{gone}")
    elif requested is None:
        faults.append(
            f'the plugin has several formats; name one as "format" in {CASE}, in a file {FORMAT}, '
            f"or for all cases by --format; there are: {', '.join(known)}"
        )
    else:
        there = f"there are: {', '.join(known)}"
        faults.append(f"the plugin has no format {requested!r}; {there}{gone}")
    return str(requested)
