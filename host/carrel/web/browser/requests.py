"""Answers the requests of a browser through Carrel's own fetch layer, or refuses them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from carrel.exchange import (
    FILE_STATUSES,
    Call,
    Failure,
    FileHead,
    FileRefusedError,
    Headers,
)
from carrel.plugins.grants.public_web import page_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.exchange import FileFetcher
    from carrel.web.download import DownloadedPage

#: Kinds of requests that are answered; others, such as pictures and sockets, are refused.
_KINDS: Final = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})
#: Requests of one page, and bytes of one answer and of all.
MOST_REQUESTS: Final = 60
_LONGEST: Final = 8 * 2**20
_ALL: Final = 32 * 2**20
#: Headers of a response that the browser gets.
_HEADERS: Final = frozenset(
    {"content-type", "content-security-policy", "x-content-type-options", "content-language"}
)


class BrowserRequests:
    """Decides on the requests of one page.

    Args:
        fetcher: under the grant of the public web.
        page: that was downloaded; the browser's first request for it is answered with it.
        call: of the reading.
    """

    def __init__(self, fetcher: FileFetcher, page: DownloadedPage, call: Call) -> None:
        self._fetcher = fetcher
        self._page: DownloadedPage | None = page
        self._call = call
        self.made = 0
        self.refused = 0
        self._bytes = 0

    def answer(self, paused: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Returns the command that answers a paused request, and its parameters.

        Args:
            paused: the event `Fetch.requestPaused`.
        """
        number = paused["requestId"]
        request = paused.get("request", {})
        url = str(request.get("url", "")).partition("#")[0]
        allowed = request.get("method") == "GET" and paused.get("resourceType") in _KINDS
        if not allowed or not url.startswith(("https://", "http://")):
            return self._refuse(paused)
        if self._page is not None and url == self._page.url:
            page, self._page = self._page, None
            headers = [("content-type", page.media_type or "text/html")]
            return _fulfil(number, page.status, headers, page.data)
        if self.made >= MOST_REQUESTS or self._bytes >= _ALL:
            return self._refuse(paused)
        checked = page_url(url)
        if not isinstance(checked, str):
            return self._refuse(paused)
        self.made += 1
        sink = _Sink()
        outcome = self._fetcher.download(checked, sink, self._call)
        if isinstance(outcome, Failure) or outcome.status not in FILE_STATUSES:
            return self._refuse(paused)
        self._bytes += len(sink.data)
        return _fulfil(number, 200, sink.headers, bytes(sink.data))

    def _refuse(self, paused: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        self.refused += 1
        # A navigation that is aborted leaves the page as it is; a blocked one replaces it.
        reason = "Aborted" if paused.get("resourceType") == "Document" else "BlockedByClient"
        return "Fetch.failRequest", {"requestId": paused["requestId"], "errorReason": reason}


def _fulfil(
    number: str, status: int, headers: list[tuple[str, str]], body: bytes
) -> tuple[str, dict[str, Any]]:
    response_headers = [{"name": name, "value": value} for name, value in headers]
    # Every answer came without cookies, so what may read it is nobody's secret.
    response_headers.append({"name": "access-control-allow-origin", "value": "*"})
    return "Fetch.fulfillRequest", {
        "requestId": number,
        "responseCode": status,
        "responseHeaders": response_headers,
        "body": base64.b64encode(body).decode("ascii"),
    }


class _Sink:
    """Receives an answer into memory; a `carrel.exchange.FileSink`."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.headers: list[tuple[str, str]] = []

    def range_headers(self) -> Headers:
        """Requests the whole file at every attempt."""
        return ()

    def begin(self, head: FileHead) -> None:
        """Begins anew; refuses a part, and what is stated to be too large."""
        self.data.clear()
        self.headers = [(name, value) for name, value in head.headers.items() if name in _HEADERS]
        if head.offset or (head.size is not None and head.size > _LONGEST):
            raise FileRefusedError("it is too large for a page's part")

    def write(self, piece: bytes) -> None:
        """Takes a piece unless the answer is then too large."""
        if len(self.data) + len(piece) > _LONGEST:
            raise FileRefusedError("it is too large for a page's part")
        self.data += piece
