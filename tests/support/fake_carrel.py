"""The command line with a test double of the host: `python fake_carrel.py WORD…`.

The arguments define the double's behaviour, so that pipes, terminals and signals can be tested with
real processes, but without a sandbox or a network.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from carrel.__main__ import main
from carrel.cli.session import Session
from carrel.config import Config
from carrel.errors import (
    ArgumentError,
    CarrelError,
    LoadError,
    SourceError,
    Trap,
    UnknownNameError,
)
from carrel.exchange import ProgressHandler
from carrel.text.utf8 import Utf8
from carrel.tools.resources import Resource, Template

if TYPE_CHECKING:
    from carrel.plugins.state import PluginState

QUERY_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "start": {"type": "integer"},
        "exact": {"type": "boolean"},
        "score": {"type": ["number", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "years": {"type": "array", "items": {"type": "integer"}},
        "options": {"$ref": "#/$defs/options"},
        "order": {"enum": ["asc", "desc"]},
    },
    "$defs": {"options": {"type": "object"}},
}

#: Formatted unlike Python's JSON: a pipe must output exactly this text.
RESULT = '{"total_results":1,  "entries":[{"id":"2301.00001v1","title":"Ti\\u0074le"}]}'


@dataclass(frozen=True)
class Tool:
    name: str = "fake_query"
    title: str = "Query"
    description: str = "Searches nothing.\nAt length."
    input_schema: dict[str, Any] = field(default_factory=lambda: QUERY_SCHEMA)
    output_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = True
    plugin: str = "fake"
    hints: dict[str, bool | str] | None = None


@dataclass(frozen=True)
class Result:
    text: str
    content: tuple[dict[str, Any], ...] | None = None
    structured: bool = True

    @property
    def utf8(self) -> bytes:
        return self.text.encode()

    @property
    def data(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.text)
        return value


def state(name: str, error: CarrelError | None = None) -> PluginState:
    from carrel.plugins.state import PluginState

    return PluginState(
        name=name,
        url="builtin:fake",
        enabled=True,
        digest="ab" * 32,
        manifest=None,
        granted=(),
        error=error,
    )


class FakeHost:
    """A host with one tool and one format; arguments and documents define its behaviour."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return

    def tools(self) -> Sequence[Tool]:
        return [Tool()]

    def tool(self, name: str) -> Tool:
        if name != "fake_query":
            raise UnknownNameError("tool", name, known=["fake_query"])
        return Tool()

    def resources(self) -> Sequence[Resource]:
        return [
            Resource("fake://list", "list", "A list", "All of it.", "fake"),
            Resource("fake://bare", "bare", None, "", "fake", None, 12),
        ]

    def resource_templates(self) -> Sequence[Template]:
        return [Template("fake://{word}", "word", None, "One word.", "text/plain", "fake")]

    def read_resource(self, uri: str) -> Result:
        fail(uri.removeprefix("fake://"))
        if uri == "fake://list":
            return Result('{"length":1,  "same":"\\u0041"}')
        if uri.startswith("fake://"):
            block = {"uri": uri, "mimeType": "text/plain", "text": "one\x1b[2J\ntwo"}
            return Result(json.dumps({"contents": [block]}), content=(block,), structured=False)
        raise UnknownNameError("resource", uri, known=["fake://list", "fake://bare"])

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        on_progress: ProgressHandler | None = None,
    ) -> Result:
        if name != "fake_query":
            raise UnknownNameError("tool", name, known=["fake_query"])
        text = str(arguments.get("text", ""))
        fail(text)
        if text == "echo":
            return Result(json.dumps(dict(arguments)))
        if text == "where":
            return Result(
                json.dumps(
                    {"record": str(self.config.record_dir), "replay": str(self.config.replay_dir)}
                )
            )
        if text == "escape":
            return Result(
                json.dumps({"entries": [{"title": "a\x1b[31mred\u202e"}]}, ensure_ascii=False)
            )
        return Result(RESULT)

    def takes_bytes(self, plugin: str, document_format: str) -> bool:
        return plugin == "fake" and document_format == "bytes"

    def parse_view(
        self,
        plugin: str,
        document_format: str,
        document: bytes | Utf8,
        options: Mapping[str, Any] | None = None,
    ) -> memoryview:
        if plugin != "fake":
            raise UnknownNameError("plugin", plugin, known=["fake"])
        if document_format == "bytes":
            assert isinstance(document, bytes)
            return memoryview(json.dumps({"size": len(document), "options": options}).encode())
        assert isinstance(document, Utf8)
        return self._parse_text(document_format, document.data.decode())

    def _parse_text(self, document_format: str, document: str) -> memoryview:
        if document_format != "feed":
            raise UnknownNameError("format of fake", document_format, known=["feed"])
        fail(document.strip())
        if document.startswith("pretty"):
            return memoryview(b'{\n  "a": "b"\r\n}')
        return memoryview(f'{{"length":{len(document)},  "same":"\\u0041"}}'.encode())

    def plugins(self) -> Sequence[PluginState]:
        if self.config.fetch.retries != 9:
            return [state("fake")]
        broken = LoadError("broken: no such component", plugin="broken")
        return [state("fake"), state("broken", broken)]

    def health(self) -> Mapping[str, Any]:
        return {"ok": True, "versions": {"carrel": "0.1.0"}, "plugins": []}


def fail(word: str) -> None:
    """Raises the error that `word` names."""
    errors: dict[str, Exception] = {
        "malformed": SourceError(
            "invalid_document",
            "expected </title>",
            plugin="fake",
            tool="feed",
            extra={"position": {"offset": 17, "path": "feed/title"}},
        ),
        "denied": SourceError(
            "denied",
            "example.org is not granted",
            plugin="fake",
            tool="query",
            extra={"denial_context": {"reason": "host_not_granted", "grant": "allowed_hosts"}},
        ),
        "limited": SourceError(
            "rate_limited",
            "too quick",
            plugin="fake",
            tool="query",
            extra={"retry_after_seconds": 2.5},
        ),
        "arguments": ArgumentError(["start: too small", "unknown argument 'x'"], plugin="fake"),
        "trap": Trap("unreachable", "it gave\x1b[2J up", plugin="fake", tool="query"),
        "bug": RuntimeError("secret detail"),
        "unloadable": LoadError("fake: digest differs", plugin="fake"),
    }
    if word in errors:
        raise errors[word]
    if word == "hang":
        sys.stderr.write("hanging\n")
        sys.stderr.flush()
        threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main(session=Session(opener=cast("Any", FakeHost))))
