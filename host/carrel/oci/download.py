"""Downloads one blob, over several connections if needed."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator

from carrel.errors import RegistryError
from carrel.fetch.registries.client import RegistryResponse
from carrel.fetch.registries.url import RegistryUrl

from .client import RegistryClient, Reply
from .partial import PartialBlob
from .repository import Descriptor

_log = logging.getLogger("carrel.oci")

#: Bytes so far, bytes in all, and what they are of.
ProgressHandler = Callable[[float, float | None, str], None]


class Download:
    """The download of one blob, resumed over as many connections as needed.

    Args:
        client: of the registry.
        descriptor: of the blob.
        what: names the blob in errors.
        on_progress: called with the number of bytes so far.
        partial: stores the bytes as they arrive; None keeps them in memory only.
    """

    def __init__(
        self,
        client: RegistryClient,
        descriptor: Descriptor,
        what: str,
        on_progress: ProgressHandler,
        partial: PartialBlob | None = None,
    ) -> None:
        self._client = client
        self._descriptor = descriptor
        self._what = what
        self._on_progress = on_progress
        self._partial = partial
        self._data = bytearray(partial.read() if partial else b"")
        self._hash = hashlib.sha256(self._data)
        #: Whether another process stored the beginning, which may then be what is wrong.
        self._continues = bool(self._data)
        self._is_suspect = False

    def fetch(self) -> bytes:
        """Returns the blob of the descriptor's size and digest.

        A beginning that another process stored is hashed with the rest. When the digest is wrong,
        that beginning may be the reason, so the download is restarted once without it.

        Raises:
            RegistryError: the registry refuses, cannot be reached, or sends another blob. An
                interrupted download stays stored.
            StorageError: the disk refuses.
        """
        try:
            return self._bring()
        except RegistryError:
            if not self._is_suspect:
                raise
            _log.warning("%s: what was kept of it is wrong; it is fetched again", self._what)
        return self._bring()

    def _bring(self) -> bytes:
        reply = self._client.persist(self._attempt, lambda reply: (reply.status, reply.headers))
        if reply.status not in {200, 206}:
            raise self._client.refused(reply, f"read {self._what}")
        return self._finish()

    def _attempt(self) -> Reply:
        """Reads what one connection delivers.

        Raises:
            RegistryIoError: it broke off; the bytes so far stay stored.
            RegistryError: the response is not the announced one.
        """
        url = self._client.url(f"blobs/{self._descriptor.digest}")
        if self._data:
            if self._is_whole():
                return Reply(url, 200, {}, b"")
            headers = {"Range": f"bytes={len(self._data)}-"}
            with self._client.open("GET", url, headers=headers) as (at, answer):
                if not self._is_other_part(answer):
                    return self._receive(at, answer)
            self._restart()  # the rest is not available, so from the beginning
        with self._client.open("GET", url) as (at, answer):
            return self._receive(at, answer)

    def _is_other_part(self, answer: RegistryResponse) -> bool:
        """Whether a range was requested and another, or none, is returned."""
        if answer.status == 206:
            content_range = answer.headers.get("content-range", "")
            return not content_range.startswith(f"bytes {len(self._data)}-")
        return answer.status == 416

    def _receive(self, at: RegistryUrl, answer: RegistryResponse) -> Reply:
        head = b""
        if answer.status == 200:
            self._restart()
        if answer.status in {200, 206}:
            self._take(answer)
        else:
            head = b"".join(self._some(answer, 64 * 2**10))
        return Reply(at, answer.status, answer.headers, head)

    def _take(self, answer: RegistryResponse) -> None:
        size = self._descriptor.size
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise self._lie(f"{self._what} comes in an encoding that was not asked for")
        length = answer.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:18]) + len(self._data) != size:
            raise self._lie(
                f"{self._what} was announced with {size} bytes, but "
                f"{int(length[:18]) + len(self._data)} are sent"
            )
        for chunk in answer.chunks():
            if len(self._data) + len(chunk) > size:
                raise self._lie(f"{self._what} has more than the {size} bytes announced")
            if self._partial is not None:
                self._partial.append(chunk)
            self._data += chunk
            self._hash.update(chunk)
            self._on_progress(len(self._data), size, "bytes")

    def _finish(self) -> bytes:
        """Returns the blob if it has the digest."""
        if not self._is_whole():
            raise RegistryError(
                f"{self._what} was announced with {self._descriptor.size} bytes and has "
                f"{len(self._data)}"
            )
        if not self._is_right():
            found = self._hash.hexdigest()
            raise self._lie(f"{self._what}: the registry sent sha256:{found} in its place")
        if self._partial is not None:
            self._partial.keep()
        return bytes(self._data)

    def _is_whole(self) -> bool:
        return len(self._data) == self._descriptor.size

    def _is_right(self) -> bool:
        return f"sha256:{self._hash.hexdigest()}" == self._descriptor.digest

    def _lie(self, message: str) -> RegistryError:
        """Returns the error for bytes with another digest, and removes them."""
        self._is_suspect = self._continues
        self._restart()
        return RegistryError(message)

    def _restart(self) -> None:
        self._data.clear()
        self._hash = hashlib.sha256()
        self._continues = False
        if self._partial is not None:
            self._partial.clear()

    @staticmethod
    def _some(answer: RegistryResponse, limit: int) -> Iterator[bytes]:
        for chunk in answer.chunks():
            yield chunk[:limit]
            limit -= len(chunk)
            if limit <= 0:
                return
