"""Receives a PDF into the store's partial file, and holds what came in place of one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from carrel.exchange import Call, FileHead, FileRefusedError, Headers
from carrel.papers.errors import PaperError
from carrel.papers.store.incoming import MAX_FILE_BYTES, PDF_MAGIC, size_cap_exceeded

if TYPE_CHECKING:
    from carrel.papers.store.incoming import IncomingFile

#: Bytes of a page that are kept to say what it is.
PAGE_BYTES: Final = 512 * 1024


class PdfSink:
    """A `carrel.exchange.FileSink` for one copy of a paper.

    A copy whose first bytes are not those of a PDF is held in memory instead, as far as it takes to
    say what it is, and refused.

    Args:
        file: receives the PDF. What an earlier attempt at the same address left is resumed.
        url: of the copy.
        call: reports the progress.

    Attributes:
        error: why the file was refused or could not be stored; None if neither.
        refused_page: whether what came in place of a PDF was larger than is kept of it.
        page: the beginning of what came in place of a PDF; empty if a PDF came.
        content_type: of the response, as the server states it.
    """

    def __init__(self, file: IncomingFile, url: str, call: Call) -> None:
        self.error: PaperError | None = None
        self.page = bytearray()
        self.refused_page = False
        self.content_type = ""
        self._file = file
        self._url = url
        self._call = call
        self._total: int | None = None
        self._is_page: bool | None = None
        self._lock = threading.Lock()
        self._closed = False

    def range_headers(self) -> Headers:
        """See `carrel.exchange.FileSink`."""
        with self._lock:
            validators = self._file.validators
            if self._closed or not self._file.size or validators.get("url") != self._url:
                return ()
            etag = validators.get("etag", "")
            # A weak tag does not promise the same bytes (RFC 9110, section 13.1.5).
            unchanged = (
                etag if etag and not etag.startswith("W/") else validators.get("last_modified")
            )
            if not unchanged:
                return ()
            return (("Range", f"bytes={self._file.size}-"), ("If-Range", unchanged))

    def begin(self, head: FileHead) -> None:
        """See `carrel.exchange.FileSink`."""
        with self._lock:
            self._require_open()
            self.content_type = head.headers.get("content-type", "")
            if head.offset not in {0, self._file.size}:
                raise FileRefusedError("it answers with another part than was requested")
            self._total = head.size
            if head.size is not None and head.size > MAX_FILE_BYTES:
                self._file.discard()
                self.error = size_cap_exceeded(MAX_FILE_BYTES, head.size)
                raise FileRefusedError(self.error.message)
            self._is_page = False if head.offset else None
            self.page.clear()
            validators = {
                "url": self._url,
                "etag": head.headers.get("etag", ""),
                "last_modified": head.headers.get("last-modified", ""),
            }
            try:
                self._file.begin(validators, at=head.offset)
            except PaperError as error:
                self._refuse(error)

    def write(self, piece: bytes) -> None:
        """See `carrel.exchange.FileSink`."""
        with self._lock:
            self._require_open()
            if self._is_page is not False:
                self.page += piece
                if len(self.page) < len(PDF_MAGIC):
                    return
                self._is_page = not self.page.startswith(PDF_MAGIC)
                if not self._is_page:
                    piece = bytes(self.page)
                    self.page.clear()
            if self._is_page:
                if len(self.page) > PAGE_BYTES:
                    self.refused_page = True
                    raise FileRefusedError("it is not a PDF")
                return
            try:
                self._file.write(piece)
            except PaperError as error:
                self._refuse(error)
            size = self._file.size
        self._call.progress(size, self._total, "downloading")

    def close(self) -> None:
        """Takes nothing more; waits for a write that is under way."""
        with self._lock:
            self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise FileRefusedError("the download has ended")

    def _refuse(self, error: PaperError) -> None:
        self.error = error
        raise FileRefusedError(error.message) from error
