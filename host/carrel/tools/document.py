"""A document in hand, however it is held, as the text or the bytes that go to a guest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.errors import ArgumentError, SourceError
from carrel.text.utf8 import Utf8

#: Text, undecoded bytes, or bytes that are known to be UTF-8.
Document = str | bytes | Utf8
#: Options of a document's format, such as `{"pages": "3-7"}`.
Options = Mapping[str, Any] | None
#: What errors call a document without a name.
DOCUMENT = "document"


def as_utf8(document: Document, *, name: str, plugin: str, document_format: str) -> Utf8:
    """Returns the document's text.

    Args:
        document: bytes are text by their byte order mark, their XML declaration, or else UTF-8.
        name: the document's, for the errors.
        plugin: for the errors.
        document_format: for the errors.

    Raises:
        ArgumentError: it is neither text nor bytes.
        SourceError: `invalid_document`, with the position: it is not text in its charset.
    """
    if isinstance(document, Utf8):
        return document
    if isinstance(document, str):
        return _encoded(document, name, plugin, document_format)
    if isinstance(document, (bytes, bytearray, memoryview)):
        return _decoded(bytes(document), name, plugin, document_format)
    raise ArgumentError([f"{name}: expected text or bytes but found {type(document).__name__}"])


def as_bytes(document: Document, *, name: str) -> bytes:
    """The document's bytes; those of text are its UTF-8.

    Args:
        document: whatever holds it.
        name: the document's, for the errors.

    Raises:
        ArgumentError: it is neither text nor bytes, or text with half a surrogate pair.
    """
    if isinstance(document, Utf8):
        return document.data
    if isinstance(document, (bytes, bytearray, memoryview)):
        return bytes(document)
    if not isinstance(document, str):
        raise ArgumentError([f"{name}: expected text or bytes but found {type(document).__name__}"])
    try:
        return document.encode()
    except UnicodeEncodeError as fault:
        raise ArgumentError(
            [f"{name}: character {fault.start} of {len(document)} is half a surrogate pair"]
        ) from None


def _encoded(text: str, name: str, plugin: str, document_format: str) -> Utf8:
    try:
        return Utf8.of(text)
    except UnicodeEncodeError as fault:
        raise SourceError(
            "invalid_document",
            f"{name}: character {fault.start} of {len(text)} is half a surrogate pair",
            plugin=plugin,
            tool=document_format,
            extra={"position": {"offset": len(text[: fault.start].encode())}},
        ) from None


def _decoded(data: bytes, name: str, plugin: str, document_format: str) -> Utf8:
    from carrel.fetch.decode import UndecodableError, decode_utf8

    try:
        return decode_utf8(data, "")
    except UndecodableError as error:
        wrong = error.__cause__
        position = {}
        if isinstance(wrong, UnicodeDecodeError):
            # The decoded bytes may start after a byte order mark.
            position = {"position": {"offset": len(data) - len(wrong.object) + wrong.start}}
        raise SourceError(
            "invalid_document",
            f"{name}: cannot be decoded: {error}",
            plugin=plugin,
            tool=document_format,
            extra=position,
        ) from None
