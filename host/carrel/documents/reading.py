"""Reads a document with the plugin for its kind, and renders it as text."""

from __future__ import annotations

import json
import os
import threading
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import ArgumentError, ContractViolation, LoadError, SourceError, StorageError
from carrel.exchange import Call, Limits, ProgressHandler
from carrel.plugins.compiling.compile_news import COMPILING
from carrel.text.printable import printable
from carrel.text.utf8 import Utf8
from carrel.tools.document import as_utf8
from carrel.tools.host_tool import host_limits
from carrel.tools.naming import HOST

from .invisible import remove_invisible
from .parts import DocumentPart, SectionHeading, outline, take_part
from .readers import ReaderFormat, find_reader
from .sniff import Kind, sniff

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin import Plugin
    from carrel.plugins.plugin_set import PluginSet

#: The name of the call in errors, and of the tool.
NAME: Final = "document_read"
#: Default of `limits.wall_seconds`: includes the reader, the renderer, and compiling both.
WALL_SECONDS: Final = 180.0
#: The built-in plugin that renders documents.
RENDER: Final = "render"


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that was read.

    Attributes:
        format: the format that it was read as, such as `pdf`.
        plugin: the plugin that read it.
        document: the plugin's result, see `docs/reference/documents.md`.
        text: the whole text as Markdown, or as plain text if requested.
        headings: of its sections, in the order of the text.
    """

    format: str
    plugin: str
    document: dict[str, Any]
    text: str
    headings: tuple[SectionHeading, ...]

    @property
    def title(self) -> str | None:
        """The title, if it has one."""
        return self.document.get("title")

    @property
    def quality(self) -> str:
        """How much of the text was read: `complete`, `partial` or `none`."""
        return str(self.document["quality"])

    @property
    def identifiers(self) -> dict[str, Any]:
        """Identifiers of the document itself: `doi`, `arxiv`, `pmid`, `pmcid`, `isbn`."""
        return dict(self.document["identifiers"])

    def part(
        self, *, section: str | None = None, start: int = 0, max_chars: int | None = None
    ) -> DocumentPart:
        """Returns a part of the text; see `carrel.documents.parts.take_part`.

        Raises:
            ArgumentError: there is no such section, or `start` is behind the end.
        """
        return take_part(
            self.text, self.headings, section=section, start=start, max_chars=max_chars
        )

    def outline(self) -> tuple[list[dict[str, Any]], int]:
        """Returns headings with the start and tokens of sections, and how many are omitted."""
        return outline(self.text, self.headings)


class DocumentReader:
    """Reads documents with the plugins for their kinds. Thread-safe."""

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._plugins = plugins
        self._config = config
        self.limits = host_limits(config, WALL_SECONDS)

    @property
    def max_bytes(self) -> int:
        """Maximum size of a document in bytes."""
        return int(self._config.limits.get("response_bytes", Limits().response_bytes))

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a new call; its deadline starts now."""
        return Call(HOST, NAME, self.limits, on_progress)

    def read(
        self,
        data: bytes,
        call: Call,
        *,
        pages: str | None = None,
        plain: bool = False,
        media_type: str = "",
        visible_only: bool = False,
    ) -> ReadDocument:
        """Reads a document and renders it as text.

        Args:
            data: the unchanged file.
            call: from `new_call`; cancelling it from another thread interrupts the guests.
            pages: a range of pages, such as `3-7`, for readers that support it.
            plain: plain text instead of Markdown.
            media_type: the header `Content-Type` of a response, whose charset the built-in reader
                of pages and texts uses.
            visible_only: without invisible characters, which can spell a text for a model.

        Raises:
            SourceError: `invalid_document` or `too_large`; no plugin reads it, or it is damaged.
            ArgumentError: the reader does not support pages.
            CarrelError: the plugin could not be loaded, or exceeded a limit.
        """
        reader, raw = self._parsed(data, call, pages, media_type)
        document = _decoded(raw, reader)
        if visible_only:
            raw = self._seen(document, raw)
        call.explain("rendering")
        text, headings = self._rendered(raw, reader, call, plain=plain)
        return ReadDocument(reader.format, reader.plugin, document, text, headings)

    def render(
        self, document: object, call: Call, *, name: str, plugin: str, plain: bool = False
    ) -> ReadDocument:
        """Renders a document that a plugin's tool returned, without invisible characters.

        Args:
            document: of the shape of a reader's result.
            call: from `new_call`.
            name: of the format, for the result and errors.
            plugin: that made it.
            plain: plain text instead of Markdown.

        Raises:
            ContractViolation: it is not a document.
            CarrelError: as `read`.
        """
        reader = ReaderFormat(plugin, name, (), takes_bytes=False)
        raw = memoryview(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
        checked = _decoded(raw, reader)
        raw = self._seen(checked, raw)
        call.explain("rendering")
        text, headings = self._rendered(raw, reader, call, plain=plain)
        return ReadDocument(name, plugin, checked, text, headings)

    @staticmethod
    def _seen(document: dict[str, Any], raw: memoryview) -> memoryview:
        """Removes invisible characters from a document; returns its JSON."""
        removed = remove_invisible(document, raw)
        if not removed:
            return raw
        warnings = document.setdefault("warnings", [])
        message = f"{removed} invisible characters were removed"
        warnings.insert(0, {"code": "invisible_characters", "message": message})
        del warnings[100:]
        return memoryview(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))

    def _parsed(
        self, data: bytes, call: Call, pages: str | None, media_type: str
    ) -> tuple[ReaderFormat, memoryview]:
        if not data:
            raise SourceError("invalid_document", "the file is empty", plugin="", tool="read")
        data, kind = _unpacked(data, self.max_bytes)
        reader = find_reader(self._plugins, self._config, kind)
        name, document_format = reader.plugin, reader.format
        if pages is not None and not reader.takes_bytes:
            raise ArgumentError(
                [f"pages: {kind.what} has no pages"], plugin=name, tool=document_format
            )
        plugin = self._plugin(name, call)
        call.explain(f"reading as {document_format}")
        if reader.takes_bytes:
            options = {"pages": pages} if pages is not None else None
            if "charset" in media_type.lower() and self._takes_charset(reader):
                options = {"charset": printable(media_type, 200)}
            return reader, plugin.parse_bytes(document_format, data, options, whole=call)
        text = as_utf8(data, name="document", plugin=name, document_format=document_format)
        return reader, plugin.parse(document_format, text, whole=call)

    def _rendered(
        self, raw: memoryview, reader: ReaderFormat, call: Call, *, plain: bool
    ) -> tuple[str, tuple[SectionHeading, ...]]:
        entry = self._config.plugin(RENDER)
        if entry is None or not (entry.enabled and entry.is_builtin):
            raise LoadError(
                "documents are shown by the built-in plugin render, which the configuration has "
                "switched off or replaced; take the entry plugins.render out",
                plugin=RENDER,
            )
        shown = "document_text" if plain else "document_markdown"
        renderer = self._plugin(RENDER, call)
        try:
            rendered = json.loads(bytes(renderer.parse(shown, Utf8(bytes(raw)), whole=call)))
        except SourceError as error:
            if error.error_code != "invalid_document":
                raise
            raise ContractViolation(
                f"{reader.plugin}: {reader.format} returned {error.message}",
                plugin=reader.plugin,
                tool=reader.format,
            ) from None
        return rendered["text"], tuple(
            SectionHeading(**heading) for heading in rendered["headings"]
        )

    def _takes_charset(self, reader: ReaderFormat) -> bool:
        """Whether a reader has the option `charset`: the built-in one of pages and texts."""
        entry = self._config.plugin(reader.plugin)
        return entry is not None and entry.url == "builtin:page"

    def _plugin(self, name: str, call: Call) -> Plugin:
        return self._plugins.plugin(name, partial(call.explain, f"{name}: {COMPILING}"))


def _unpacked(data: bytes, most: int) -> tuple[bytes, Kind]:
    """Returns a document and its kind; unpacks a gzip file that contains one document.

    Raises:
        SourceError: `too_large`; the unpacked document is larger than `most`.
    """
    kind = sniff(data)
    if kind.name != "gzip":
        return data, kind
    try:
        unpacker = zlib.decompressobj(wbits=31)
        inner = unpacker.decompress(data, most + 1)
    except zlib.error as error:
        raise SourceError(
            "invalid_document", f"the gzip file is damaged: {error}", plugin="", tool="read"
        ) from None
    if len(inner) > most:
        raise SourceError(
            "too_large",
            f"the gzip file unpacks to more than {most:,} bytes",
            plugin="",
            tool="read",
        )
    return inner, sniff(inner)


def _decoded(raw: memoryview, reader: ReaderFormat) -> dict[str, Any]:
    value = json.loads(bytes(raw))
    fits = isinstance(value, dict) and isinstance(value.get("quality"), str)
    if not fits or not isinstance(value.get("identifiers"), dict):
        raise ContractViolation(
            f"{reader.plugin}: {reader.format} returned no document",
            plugin=reader.plugin,
            tool=reader.format,
        )
    return dict(value)


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """Returns the content of a file, at most `most` bytes.

    Raises:
        ArgumentError: the file does not exist, or is a folder.
        StorageError: the file cannot be read.
        SourceError: `too_large`.
    """
    shown = os.fsdecode(path)
    try:
        with Path(os.fsdecode(path)).open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise ArgumentError([f"{shown}: there is no such file"]) from None
    except (IsADirectoryError, NotADirectoryError):
        raise ArgumentError([f"{shown}: is a folder, not a file"]) from None
    except OSError as error:
        raise StorageError(shown, f"cannot be read: {error.strerror or error}") from error
    if len(data) > most:
        raise too_large(shown, most)
    return data


def too_large(name: str, most: int) -> SourceError:
    """Returns the error of a file with more than `most` bytes."""
    return SourceError(
        "too_large",
        f"{name}: the file has more than {most:,} bytes; the setting limits.response_bytes changes "
        "the limit",
        plugin="",
        tool="read",
    )


def read_interruptibly(
    reader: DocumentReader, data: bytes, call: Call, **options: Any
) -> ReadDocument:
    """Like `DocumentReader.read`, but a keyboard interrupt cancels the call.

    Python does not interrupt a guest in the main thread, so the guest runs in another one.
    """
    if threading.current_thread() is not threading.main_thread():
        return reader.read(data, call, **options)
    outcome: Queue[ReadDocument | Exception] = Queue()

    def work() -> None:
        try:
            outcome.put(reader.read(data, call, **options))
        except Exception as error:  # noqa: BLE001 - raised to the thread that waits
            outcome.put(error)

    threading.Thread(target=work, name="carrel-document", daemon=True).start()
    try:
        ended = outcome.get()
    except KeyboardInterrupt:
        call.cancel()
        raise
    if isinstance(ended, Exception):
        raise ended
    return ended
