"""Implements the tool `document_read`."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.plugins.manifests.manifest import ToolSpec
from carrel.text.printable import printable
from carrel.tools.host_tool import HostTool

from .folders import read_granted
from .reading import NAME, DocumentReader, ReadDocument
from .schema import DEFAULT_CHARS, INPUT_SCHEMA, OUTPUT_SCHEMA

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet

_DESCRIPTION: Final = """\
WHEN TO USE: Read a paper or page that is a file: PDF, HTML, Office, JATS, TeX.
INPUTS: path; then section, or from.
OUTPUTS: text. Of a document longer than max_chars first its outline and what is before the first \
section: ask for the section you need.
COSTS: No request; tokens says what the text takes.
SIDE EFFECTS: None.
LIMITS: Folders that the operator granted."""

#: Documents that are cached, so that a call for the next section does not read the file again, and
#: the characters of text that all of them may have.
_CACHED, _CACHED_CHARS = 8, 2**24
#: Warnings that a result may have.
_MAX_WARNINGS = 10


def make_tools(plugins: PluginSet, config: Config, manifests: Sequence[Manifest]) -> list[HostTool]:
    """Returns the tool if a folder is granted; see `carrel.tools.feature`."""
    del manifests  # readers are loaded when a document needs them
    if not config.documents.folders:
        return []
    return [DocumentReadTool(DocumentReader(plugins, config), config)]


class DocumentReadTool(HostTool):
    """The host tool `document_read`."""

    def __init__(self, reader: DocumentReader, config: Config) -> None:
        self._reader = reader
        self._folders = config.documents.folders
        self._recent = _RecentDocuments()
        spec = ToolSpec(
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
        super().__init__(spec, reader.limits)

    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Reads a file of a granted folder, and returns a part of it or its outline."""
        data = read_granted(arguments["path"], self._folders, self._reader.max_bytes)
        call.check()
        read = self._read(data, call, plain=arguments.get("format") == "text")
        section, start = arguments.get("section"), arguments.get("from")
        most = int(arguments.get("max_chars", DEFAULT_CHARS))
        result: dict[str, Any] = {"format": read.format}
        for name in ("title", "kind", "quality", "quality_reason", "identifiers", "pages"):
            if name in read.document:
                result[name] = read.document[name]
        if section is None and start is None and len(read.text) > most and read.headings:
            result["outline"], left_out = read.outline()
            if left_out:
                result["outline_left_out"] = left_out
            # The text before the first section: title, authors, abstract.
            first = next((one.start for one in read.headings if one.part != "abstract"), most)
            most = min(most, first) or most
        part = read.part(section=section, start=start or 0, max_chars=most)
        result |= {"text": part.text, "from": part.start}
        if part.next is not None:
            result["next"] = part.next
        result |= {"length": part.length, "tokens": part.tokens}
        if warnings := _warnings(read):
            result["warnings"] = warnings
        return result

    def _read(self, data: bytes, call: Call, *, plain: bool) -> ReadDocument:
        key = hashlib.sha256(data).digest() + bytes([plain])
        read = self._recent.get(key)
        if read is None:
            read = self._reader.read(data, call, plain=plain)
            self._recent.put(key, read)
        return read


def _warnings(read: ReadDocument) -> list[str]:
    texts = []
    for one in read.document.get("warnings", ())[:_MAX_WARNINGS]:
        place = f" ({one['place']})" if "place" in one else ""
        texts.append(printable(f"{one.get('message', '')}{place}", 300))
    return texts


class _RecentDocuments:
    """Caches the documents that were read last, by their files' content. Thread-safe."""

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
                len(self._documents) > _CACHED
                or sum(len(one.text) for one in self._documents.values()) > _CACHED_CHARS
            ):
                self._documents.popitem(last=False)
