"""Finds plugins that read a kind of document, by their manifests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from carrel.errors import CarrelError, SourceError

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

    from .sniff import Kind

#: Required members of every document, by `contract/v1/document.schema.json`.
_OF_A_DOCUMENT = {"identifiers", "sections", "quality"}


class ReaderFormat(NamedTuple):
    """A document format and its plugin.

    Attributes:
        plugin: its name in the configuration.
        format: the format's name.
        media_types: of documents in it.
        takes_bytes: whether documents are bytes, not text.
    """

    plugin: str
    format: str
    media_types: tuple[str, ...]
    takes_bytes: bool


def find_reader(plugins: PluginSet, config: Config, kind: Kind) -> ReaderFormat:
    """Returns the reader of a kind of document.

    A format reads a kind if it has its name or its media type, and its results are documents. Of
    several, a built-in plugin's is used, else the first in the configuration.

    Raises:
        SourceError: `invalid_document`; no plugin reads it. The message names supported kinds.
    """
    found: dict[str, ReaderFormat] = {}
    for reader in _readers(plugins, config):
        if _reads(reader, kind):
            return reader
        found.setdefault(reader.format, reader)
    supported = ", ".join(sorted(found)) or "nothing: no plugin that reads documents is on"
    raise SourceError(
        "invalid_document",
        f"found {kind.what}, which no plugin reads; what can be read: {supported}",
        plugin="",
        tool="read",
        extra={"found": kind.name},
    )


def _reads(reader: ReaderFormat, kind: Kind) -> bool:
    return reader.format == kind.name or (
        bool(kind.media_type) and kind.media_type in reader.media_types
    )


def _readers(plugins: PluginSet, config: Config) -> Iterator[ReaderFormat]:
    """Yields all reader formats, built-in ones first; skips plugins that cannot be loaded."""
    external = []
    for name in (*config.unlisted_readers, *plugins.names()):
        entry = config.plugin(name)
        if entry is not None and entry.is_builtin:
            yield from _of_plugin(plugins, name)
        else:
            external.append(name)
    for name in external:
        yield from _of_plugin(plugins, name)


def _of_plugin(plugins: PluginSet, name: str) -> Iterator[ReaderFormat]:
    try:
        formats = plugins.formats(name)
    except CarrelError:
        return
    for entry in formats:
        if set(entry["output_schema"].get("required", ())) >= _OF_A_DOCUMENT:
            media_types = tuple(entry.get("media_types", ()))
            yield ReaderFormat(name, entry["name"], media_types, bool(entry.get("bytes")))
