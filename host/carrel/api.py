"""Calls tools and parses documents from Python, in-process.

    >>> import carrel
    >>> with carrel.Carrel() as api:
    ...     feed = api.parse("arxiv", "feed", text)

`Carrel` blocks, `AsyncCarrel` is for asyncio; both load the plugins of one configuration.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .awaiting import run_in_thread

if TYPE_CHECKING:
    from .citations import CitationEngine
    from .config import Config
    from .documents import DocumentReader, ReadDocument
    from .exchange import Call, ProgressHandler
    from .lookup import Lookup, LookupResult
    from .plugins.state import PluginState
    from .tools import Result, Tool, Toolbox
    from .tools.document import Document, Options
    from .tools.resources import Resource, Template


class Carrel:
    """Calls the tools and parsers of a configuration. A context manager; thread-safe.

    Args:
        config: the user's configuration when None; see `carrel.config.load_config`.
    """

    def __init__(self, config: Config | None = None) -> None:
        from .features import FEATURES
        from .tools import Toolbox

        if config is None:
            from .config import load_config

            config = load_config()
        self._toolbox = Toolbox(config, features=FEATURES)

    @property
    def toolbox(self) -> Toolbox:
        """The toolbox, for programs that serve the tools."""
        return self._toolbox

    def tools(self) -> Sequence[Tool]:
        """Returns the offered tools."""
        return self._toolbox.tools()

    def tool(self, name: str) -> Tool:
        """Returns the tool of that name.

        Raises:
            carrel.CarrelError: no such tool, or the configuration hides it.
        """
        return self._toolbox.tool(name)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: ProgressHandler | None = None,
        refresh: bool = False,
    ) -> Result:
        """Calls a tool.

        Args:
            name: as listed, such as `arxiv_query`.
            arguments: as the tool's input schema says.
            on_progress: called from another thread with done, total or None, and a message.
            refresh: bypass the cache.

        Raises:
            carrel.CarrelError: with `code`, `retryable` and `action`; see `carrel.errors`.
        """
        return self._toolbox.call_sync(name, arguments, on_progress=on_progress, refresh=refresh)

    def lookup(
        self,
        ids: Sequence[str],
        *,
        sources: Sequence[str] | None = None,
        on_progress: ProgressHandler | None = None,
    ) -> LookupResult:
        """Looks up works by identifier in every source that resolves its kind.

        Args:
            ids: 1 to 100 DOIs, arXiv ids, PMIDs and PMCIDs in any mix.
            sources: names of the plugins to query; all when None.
            on_progress: called with done, total and a message.

        Returns:
            The works, merged over sources, and for each identifier the outcome at every source.

        Raises:
            carrel.CarrelError: no source could be queried; a single source's failure is in the
                result.
        """
        lookup = _make_lookup(self._toolbox)
        return lookup.run(ids, lookup.new_call(on_progress), sources=sources)

    def resources(self) -> Sequence[Resource]:
        """Returns the resources of plugins and of the host; when replaying, only recorded ones."""
        return self._toolbox.resources()

    def resource_templates(self) -> Sequence[Template]:
        """Returns the resource templates of plugins and of the host."""
        return self._toolbox.resource_templates()

    def read_resource(self, uri: str) -> Result:
        """Reads the resource at a URI that is listed or matches a template.

        Raises:
            carrel.CarrelError: no plugin offers it, or its plugin or source failed.
        """
        return self._toolbox.read_resource_sync(uri)

    def read(
        self,
        document: str | os.PathLike[str] | bytes,
        *,
        pages: str | None = None,
        plain: bool = False,
        on_progress: ProgressHandler | None = None,
    ) -> ReadDocument:
        """Reads a paper or page with the plugin that reads its kind, found by its content.

        Args:
            document: the path of a file, or what is in one.
            pages: a range of pages, such as `3-7`, for formats with pages.
            plain: plain text in place of Markdown.
            on_progress: called with done, total or None, and a message.

        Returns:
            The text with its headings, and the document itself; see `docs/reference/documents.md`.

        Raises:
            carrel.CarrelError: `invalid_document`: damaged, or no plugin reads it.
        """
        reader = _make_reader(self._toolbox)
        call = reader.new_call(on_progress)
        return _read(reader, document, call, pages=pages, plain=plain)

    def citation_engine(self) -> CitationEngine:
        """Returns the engine that renders citations and bibliographies in any CSL style.

        >>> engine = api.citation_engine()
        >>> [entry.text for entry in engine.bibliography(items, "ieee").entries]
        """
        from .citations import CitationEngine

        return CitationEngine(self._toolbox.plugin_set)

    def takes_bytes(self, plugin: str, document_format: str) -> bool:
        """Whether a plugin reads documents of a format as bytes, and not as text."""
        return self._toolbox.takes_bytes(plugin, document_format)

    def parse(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> dict[str, Any]:
        """Reads a document with a plugin's sandboxed parser, without a network.

        Args:
            plugin: such as `arxiv`.
            document_format: one of the plugin's formats, such as `feed`.
            document: bytes or text. A binary format takes bytes unchanged, and text as
                UTF-8. For a text format, bytes are text by their byte order mark, their XML
                declaration, or else UTF-8.
            options: of a binary format; a text format has none.

        Raises:
            carrel.CarrelError: `invalid_document` gives the position.
        """
        return self._toolbox.parse(plugin, document_format, document, options)

    def parse_text(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> str:
        """As `parse`, but the component's own JSON text."""
        return self._toolbox.parse_text(plugin, document_format, document, options)

    def parse_utf8(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> bytes:
        """As `parse_text`, but in UTF-8, as it left the sandbox."""
        return self._toolbox.parse_utf8(plugin, document_format, document, options)

    def parse_view(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> memoryview:
        """Like `parse_utf8`, without copying a large result."""
        return self._toolbox.parse_view(plugin, document_format, document, options)

    def plugins(self) -> list[PluginState]:
        """Returns the state of every configured plugin."""
        return self._toolbox.plugins()

    def health(self) -> dict[str, Any]:
        """Returns the state of configuration, plugins and folders, without secrets."""
        return self._toolbox.health()

    def close(self) -> None:
        """Closes threads and connections."""
        self._toolbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _make_reader(toolbox: Toolbox) -> DocumentReader:
    """Returns the reader of documents over a toolbox's plugins."""
    from .documents import DocumentReader

    return DocumentReader(toolbox.plugin_set, toolbox.config)


def _read(
    reader: DocumentReader, document: str | os.PathLike[str] | bytes, call: Call, **options: Any
) -> ReadDocument:
    from .documents.reading import read_file, read_interruptibly

    if isinstance(document, (bytes, bytearray, memoryview)):
        data = bytes(document)
    else:
        data = read_file(document, reader.max_bytes)
    return read_interruptibly(reader, data, call, **options)


def _make_lookup(toolbox: Toolbox) -> Lookup:
    """Returns the lookup over a toolbox's plugins."""
    from .lookup import Lookup

    return Lookup(toolbox.plugin_set, toolbox.config)


class AsyncCarrel:
    """`Carrel` for asyncio: cancelling a task cancels its call and interrupts its guest."""

    def __init__(self, config: Config | None = None) -> None:
        self._carrel = Carrel(config)

    def tools(self) -> Sequence[Tool]:
        """Returns the offered tools."""
        return self._carrel.tools()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: ProgressHandler | None = None,
        refresh: bool = False,
    ) -> Result:
        """Calls a tool; see `Carrel.call`."""

        def started(call: Call) -> None:
            call.refresh = refresh

        return await self._carrel.toolbox.call(
            name, arguments, on_progress=on_progress, call_started=started
        )

    async def lookup(
        self,
        ids: Sequence[str],
        *,
        sources: Sequence[str] | None = None,
        on_progress: ProgressHandler | None = None,
    ) -> LookupResult:
        """Looks up works by identifier; see `Carrel.lookup`."""
        import asyncio

        lookup = _make_lookup(self._carrel.toolbox)
        call = lookup.new_call(on_progress)
        try:
            return await run_in_thread(partial(lookup.run, ids, call, sources=sources))
        except asyncio.CancelledError:
            call.cancel()
            raise

    async def read(
        self,
        document: str | os.PathLike[str] | bytes,
        *,
        pages: str | None = None,
        plain: bool = False,
        on_progress: ProgressHandler | None = None,
    ) -> ReadDocument:
        """Reads a paper or page; see `Carrel.read`."""
        import asyncio

        reader = _make_reader(self._carrel.toolbox)
        call = reader.new_call(on_progress)
        try:
            return await run_in_thread(
                partial(_read, reader, document, call, pages=pages, plain=plain)
            )
        except asyncio.CancelledError:
            call.cancel()
            raise

    async def parse(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> dict[str, Any]:
        """Reads a document with a plugin's sandboxed parser; see `Carrel.parse`."""
        return await run_in_thread(self._carrel.parse, plugin, document_format, document, options)

    async def aclose(self) -> None:
        """Closes threads and connections."""
        await run_in_thread(self._carrel.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
