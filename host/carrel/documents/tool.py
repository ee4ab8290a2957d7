"""Implements the tool `document_read`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.tools.host_spec import host_spec
from carrel.tools.host_tool import HostTool

from .answer import read_answer
from .folders import read_granted
from .reading import NAME, DocumentReader, ReadDocument
from .recent import RecentDocuments
from .schema import INPUT_SCHEMA, OUTPUT_SCHEMA

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
        self._recent: RecentDocuments[bytes, ReadDocument] = RecentDocuments()
        spec = host_spec(NAME, "Read a document", _DESCRIPTION, INPUT_SCHEMA, OUTPUT_SCHEMA)
        super().__init__(spec, reader.limits)

    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Reads a file of a granted folder, and returns a part of it or its outline."""
        data = read_granted(arguments["path"], self._folders, self._reader.max_bytes)
        call.check()
        read = self._read(data, call, plain=arguments.get("format") == "text")
        return {"format": read.format, **read_answer(read, arguments)}

    def _read(self, data: bytes, call: Call, *, plain: bool) -> ReadDocument:
        key = hashlib.sha256(data).digest() + bytes([plain])
        read = self._recent.get(key)
        if read is None:
            read = self._reader.read(data, call, plain=plain)
            self._recent.put(key, read)
        return read
