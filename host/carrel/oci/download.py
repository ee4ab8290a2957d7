"""One blob from a registry, over as many connections as it takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from carrel.errors import RegistryError
from carrel.fetch.registry_http import Answer, RegistryIoError

from .client import RegistryClient, Reply
from .repository import Descriptor

#: Bytes so far, bytes in all, and what they are of.
ProgressHandler = Callable[[float, float | None, str], None]


class Download:
    """One blob on its way, over as many connections as it takes."""

    def __init__(
        self,
        client: RegistryClient,
        descriptor: Descriptor,
        what: str,
        on_progress: ProgressHandler,
    ) -> None:
        self._client = client
        self._descriptor = descriptor
        self._what = what
        self._on_progress = on_progress
        self._data = bytearray()
        self._hash = hashlib.sha256()

    def attempt(self) -> Reply:
        """Takes what one connection brings.

        Raises:
            RegistryIoError: it broke off; what came is kept.
            RegistryError: what came is not what was announced.
        """
        url = self._client.url(f"blobs/{self._descriptor.digest}")
        headers = {"Range": f"bytes={len(self._data)}-"} if self._data else {}
        if len(self._data) == self._descriptor.size and self._data:
            return Reply(url, 200, {}, b"")
        with self._client.open("GET", url, headers=headers) as (at, answer):
            if answer.status not in {200, 206}:
                if answer.status == 416:  # the range is not taken: from the beginning, then
                    self._restart()
                    raise RegistryIoError(f"{self._what} cannot be resumed", retryable=True)
                head = b"".join(self._some(answer, 64 * 2**10))
                return Reply(at, answer.status, answer.headers, head)
            self._take(answer)
            return Reply(at, answer.status, answer.headers, b"")

    def finish(self) -> bytes:
        """The blob, if it is the one that was asked for."""
        found = f"sha256:{self._hash.hexdigest()}"
        size = len(self._data)
        if size != self._descriptor.size:
            raise RegistryError(
                f"{self._what} was announced with {self._descriptor.size} bytes and has {size}"
            )
        if found != self._descriptor.digest:
            raise RegistryError(f"{self._what}: the registry sent {found} in its place")
        return bytes(self._data)

    def _take(self, answer: Answer) -> None:
        size = self._descriptor.size
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise RegistryError(f"{self._what} comes in an encoding that was not asked for")
        if answer.status == 200:
            self._restart()
        elif not answer.headers.get("content-range", "").startswith(f"bytes {len(self._data)}-"):
            self._restart()
            raise RegistryIoError(f"{self._what} came in another part", retryable=True)
        length = answer.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:18]) + len(self._data) != size:
            raise RegistryError(
                f"{self._what} was announced with {size} bytes, but "
                f"{int(length[:18]) + len(self._data)} are sent"
            )
        for chunk in answer.chunks():
            if len(self._data) + len(chunk) > size:
                raise RegistryError(f"{self._what} has more than the {size} bytes announced")
            self._data += chunk
            self._hash.update(chunk)
            self._on_progress(len(self._data), size, "bytes")

    def _restart(self) -> None:
        self._data.clear()
        self._hash = hashlib.sha256()

    @staticmethod
    def _some(answer: Answer, limit: int) -> Iterator[bytes]:
        for chunk in answer.chunks():
            yield chunk[:limit]
            limit -= len(chunk)
            if limit <= 0:
                return
