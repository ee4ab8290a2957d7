"""Downloads a page under the grant of the public web."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import SourceError
from carrel.exchange import (
    FILE_STATUSES,
    Call,
    Failure,
    FailureKind,
    FileHead,
    FileRefusedError,
    MemorySink,
)

if TYPE_CHECKING:
    from carrel.exchange import FileFetcher

#: What errors name as the tool.
NAME: Final = "web_read"
#: The header `Accept`.
ACCEPT: Final = "text/html, application/xhtml+xml, application/pdf;q=0.9, */*;q=0.5"
#: Statuses that say that there is no such page.
_ABSENT: Final = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class DownloadedPage:
    """A response with a body.

    Attributes:
        url: the address after redirects.
        status: 200, or an error's, whose body may say more.
        media_type: the header `Content-Type`; empty if the server sent none.
        data: the body as it came; of an error in UTF-8.
    """

    url: str
    status: int
    media_type: str
    data: bytes


def download_page(fetcher: FileFetcher, url: str, most: int, call: Call) -> DownloadedPage:
    """Downloads a page.

    Args:
        fetcher: under the grant of the public web.
        url: of the page.
        most: bytes of the largest page.
        call: its deadline, its budget and its cancellation.

    Raises:
        SourceError: there is no response, or it is larger than `most`. `denied` names the grant
            that would allow the request, if one would.
        CarrelError: a budget is exhausted, or the call was cancelled.
    """
    sink = _PageSink(most)
    outcome = fetcher.download(url, sink, call, accept=ACCEPT)
    call.check()
    if call.fatal is not None:
        raise call.fatal
    if sink.refusal:
        raise SourceError("too_large", f"{url}: {sink.refusal}", plugin="", tool=NAME)
    if isinstance(outcome, Failure):
        raise as_error(outcome)
    if outcome.status in FILE_STATUSES:
        return DownloadedPage(outcome.url, outcome.status, sink.media_type, bytes(sink.data))
    media_type = dict(outcome.headers).get("content-type", "")
    if "html" in media_type.lower():
        # The fetch layer has decoded it, and the mark says so, whatever the page declares.
        body = ("\ufeff" + outcome.body).encode("utf-8", "replace")
        return DownloadedPage(outcome.url, outcome.status, media_type, body)
    raise refused_status(outcome.url, outcome.status)


def refused_status(url: str, status: int) -> SourceError:
    """Returns the error of a response that is no page."""
    if status in _ABSENT:
        code, reason = "not_found", "there is no such page"
    elif status in {401, 402, 403, 407, 451}:
        code, reason = "invalid_document", "the site does not give the page to programs"
    elif status >= 500:
        code, reason = "upstream_unavailable", "the site failed; try again later"
    else:
        code, reason = "invalid_document", "the site refused the request"
    action = "none" if code == "invalid_document" else None
    return SourceError(
        code,
        f"{url}: {reason} (status {status})",
        plugin="",
        tool=NAME,
        action=action,
        extra={"status": status},
    )


def as_error(failure: Failure) -> SourceError:
    """Returns the error of a request without a response."""
    extra: dict[str, Any] = {}
    if failure.kind is FailureKind.DENIED:
        context = {"reason": failure.reason, "url": failure.url, "grant": failure.grant}
        extra["denial_context"] = {name: value for name, value in context.items() if value}
    if failure.kind is FailureKind.RATE_LIMITED:
        extra["retry_after_seconds"] = failure.seconds
    return SourceError(failure.kind.error_code, failure.message, plugin="", tool=NAME, extra=extra)


class _PageSink(MemorySink):
    """Receives a page into memory."""

    def __init__(self, most: int) -> None:
        advice = "the setting limits.response_bytes changes the limit"
        super().__init__(most, "the page", advice)
        self.media_type = ""

    def begin(self, head: FileHead) -> None:
        """Begins anew; refuses a page that is stated to be too large, or a part of one."""
        self.media_type = head.headers.get("content-type", "")
        if head.offset:
            raise FileRefusedError("a part of the page was not requested")
        super().begin(head)
