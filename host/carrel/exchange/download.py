"""The interface for downloads: a file that is received piece by piece and never whole in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from .call import Call
from .request import Headers, Outcome

#: Statuses whose body is the file, or a part of it.
FILE_STATUSES = frozenset({200, 206})


class FileHead(NamedTuple):
    """The head of a response that carries a file.

    Attributes:
        url: the URL of the last hop, without anything the host attached.
        headers: names in lower case.
        offset: of the body's first byte in the file: 0, or that of a partial response.
        size: bytes of the whole file, as the server states them; None when it does not.
    """

    url: str
    headers: Mapping[str, str]
    offset: int = 0
    size: int | None = None


class FileRefusedError(Exception):
    """The sink refuses the rest of a file. The message is for a person."""


class FileSink(Protocol):
    """Receives a file. Called from one thread at a time, which is not that of the caller."""

    def range_headers(self) -> Headers:
        """Returns the headers that request the rest of a file, or none for the whole of it.

        Called before every attempt, so a retry after a broken connection resumes.
        """
        ...

    def begin(self, head: FileHead) -> None:
        """Prepares for the body of a response.

        Raises:
            FileRefusedError: the file is not wanted; nothing more is received.
        """
        ...

    def write(self, piece: bytes) -> None:
        """Takes the next bytes.

        Raises:
            FileRefusedError: as `begin`.
        """
        ...


class MemorySink:
    """A sink that receives a file of limited size into memory.

    Args:
        most: bytes of the largest file.
        what: the refusal's words for the file.
        advice: what the refusal suggests.

    Attributes:
        data: what has been received.
        refusal: why the file was refused; empty if it was not.
    """

    def __init__(self, most: int, what: str = "the file", advice: str = "") -> None:
        self._most = most
        self._what = what
        self._advice = advice
        self.data = bytearray()
        self.refusal = ""

    def range_headers(self) -> Headers:
        """Requests the whole file at every attempt."""
        return ()

    def begin(self, head: FileHead) -> None:
        """Begins anew; refuses a file that is stated to be too large."""
        self.data.clear()
        if head.size is not None and head.size > self._most:
            self._refuse()

    def write(self, piece: bytes) -> None:
        """Takes a piece unless the file is then too large."""
        if len(self.data) + len(piece) > self._most:
            self._refuse()
        self.data += piece

    def _refuse(self) -> None:
        advice = f"; {self._advice}" if self._advice else ""
        self.refusal = f"{self._what} has more than {self._most:,} bytes{advice}"
        raise FileRefusedError(self.refusal)


@runtime_checkable
class FileFetcher(Protocol):
    """A fetcher that downloads files."""

    def download(self, url: str, sink: FileSink, call: Call, *, accept: str = "*/*") -> Outcome:
        """Downloads a file under the fetcher's policy.

        Neither coalesced nor cached. Redirects, retries, pace and denials are those of
        `carrel.exchange.Fetcher.fetch_all`; the limit of a file's size is the sink's.

        Args:
            url: of the file.
            sink: receives the body of a response with status 200 or 206.
            call: its clocks and its budget of requests.
            accept: the header `Accept`.

        Returns:
            A response with an empty body once the sink has the whole file; a response with another
            status and its text; or a failure. That the sink refused the file is `UNDECODABLE`, and
            the sink knows why.
        """
        ...
