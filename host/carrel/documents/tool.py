"""The tool `document_read`: files in granted folders, as clients see them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.plugins.manifests.manifest import ToolSpec
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.text.printable import printable
from carrel.tools.host_tool import start_in_thread

from .folders import read_granted
from .reading import NAME, DocumentReader, ReadDocument
from .schema import DEFAULT_CHARS, INPUT_SCHEMA, OUTPUT_SCHEMA

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call, ProgressHandler
    from carrel.plugins.calls.result import Result
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools.host_tool import HostTool

_DESCRIPTION: Final = """\
WHEN TO USE: Read a paper or page that is a file: PDF, HTML, Office, JATS, TeX.
INPUTS: path; then section, or from.
OUTPUTS: text. Of a document longer than max_chars first its outline and what is before the first \
section: ask for the section you need.
COSTS: No request; tokens says what the text takes.
SIDE EFFECTS: None.
LIMITS: Folders that the operator granted."""

#: Documents that are kept, so that the next section does not cost another reading, and the
#: characters of text that all of them may have.
_KEPT, _KEPT_CHARS = 8, 2**24
#: Warnings that are told.
_WARNINGS = 10


def make_tools(plugins: PluginSet, config: Config, manifests: Sequence[Manifest]) -> list[HostTool]:
    """Returns the tool where a folder is granted; see `carrel.tools.feature`."""
    del manifests  # its readers are loaded when a document needs them
    if not config.documents.folders:
        return []
    return [DocumentReadTool(DocumentReader(plugins, config), config)]


class DocumentReadTool:
    """A host tool, see `carrel.tools.host_tool.HostTool`."""

    def __init__(self, reader: DocumentReader, config: Config) -> None:
        self._reader = reader
        self._folders = config.documents.folders
        self._kept = _RecentDocuments()
        self.spec = ToolSpec(
            name=NAME,
            title="Read a document",
            description=_DESCRIPTION,
            input_schema=INPUT_SCHEMA,
            output_schema=OUTPUT_SCHEMA,
            read_only=True,
            destructive=False,
            idempotent=True,
            open_world=True,
        )
        self._validator = compile_schema(self.spec.input_schema)

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """A call that starts its clocks now."""
        return self._reader.new_call(on_progress)

    def argument_faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """What is wrong with arguments."""
        return validation_faults(self._validator, arguments)

    def start(self, arguments: Mapping[str, Any], call: Call) -> RunningCall[Result]:
        """Starts the reading in a thread of its own."""

        def work() -> bytes:
            told = self._answer(arguments, call)
            text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
            return text.encode("utf-8", "replace")

        return start_in_thread(work, "carrel-document", call)

    def _answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        data = read_granted(arguments["path"], self._folders, self._reader.max_bytes)
        call.check()
        read = self._read(data, call, plain=arguments.get("format") == "text")
        section, start = arguments.get("section"), arguments.get("from")
        most = int(arguments.get("max_chars", DEFAULT_CHARS))
        told: dict[str, Any] = {"format": read.format}
        for name in ("title", "kind", "quality", "quality_reason", "identifiers", "pages"):
            if name in read.document:
                told[name] = read.document[name]
        if section is None and start is None and len(read.text) > most and read.headings:
            told["outline"], left_out = read.outline()
            if left_out:
                told["outline_left_out"] = left_out
            # What is before the first section: title, authors, abstract.
            first = next((one.start for one in read.headings if one.part != "abstract"), most)
            most = min(most, first) or most
        part = read.part(section=section, start=start or 0, max_chars=most)
        told |= {"text": part.text, "from": part.start}
        if part.next is not None:
            told["next"] = part.next
        told |= {"length": part.length, "tokens": part.tokens}
        if warnings := _warnings(read):
            told["warnings"] = warnings
        return told

    def _read(self, data: bytes, call: Call, *, plain: bool) -> ReadDocument:
        key = hashlib.sha256(data).digest() + bytes([plain])
        read = self._kept.get(key)
        if read is None:
            read = self._reader.read(data, call, plain=plain)
            self._kept.put(key, read)
        return read


def _warnings(read: ReadDocument) -> list[str]:
    told = []
    for one in read.document.get("warnings", ())[:_WARNINGS]:
        place = f" ({one['place']})" if "place" in one else ""
        told.append(printable(f"{one.get('message', '')}{place}", 300))
    return told


class _RecentDocuments:
    """The documents that were read last, by what is in their files. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._documents: OrderedDict[bytes, ReadDocument] = OrderedDict()

    def get(self, key: bytes) -> ReadDocument | None:
        with self._lock:
            found = self._documents.get(key)
            if found is not None:
                self._documents.move_to_end(key)
            return found

    def put(self, key: bytes, read: ReadDocument) -> None:
        with self._lock:
            self._documents[key] = read
            while len(self._documents) > 1 and (
                len(self._documents) > _KEPT
                or sum(len(one.text) for one in self._documents.values()) > _KEPT_CHARS
            ):
                self._documents.popitem(last=False)
