"""Names what a site shows in place of a page: a challenge, a login, a paywall, nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from carrel.errors import SourceError
from carrel.text.printable import printable

from .download import NAME, DownloadedPage, refused_status

if TYPE_CHECKING:
    from carrel.documents import ReadDocument

#: Kind of a page, as its reader says → what it is, for a person.
_WALLS: Final = {
    "challenge": "a challenge, which tests for a person; open the page in a browser",
    "login": "a form to log in; log in with a browser and save the page",
    "consent": "only a question about cookies; answer it in a browser and save the page",
    "paywall": "a paywall; at most the beginning of the text is free",
    "empty": "a page without a text",
}


def needs_browser(read: ReadDocument) -> bool:
    """Whether a page has no text, and scripts that may write one."""
    return read.document.get("kind") == "empty" and any(
        warning.get("code") == "needs_browser" for warning in read.document.get("warnings", ())
    )


def require_page(read: ReadDocument, page: DownloadedPage) -> None:
    """Requires that a document is a page's content.

    Raises:
        SourceError: `not_found` if the site says that there is no such page, also with status 200;
            `invalid_document` with the member `page` if something else is shown in its place.
    """
    kind = str(read.document.get("kind", "")) if read.format == "html" else ""
    url = printable(page.url, 500)
    if kind == "not_found":
        raise SourceError(
            "not_found",
            f"{url}: the site says that there is no such page (status {page.status})",
            plugin="",
            tool=NAME,
            extra={"page": kind, "status": page.status},
        )
    if kind not in _WALLS and read.format == "html" and not read.text.strip():
        kind = "empty"
    if kind in _WALLS:
        extra: dict[str, Any] = {"page": kind, "status": page.status}
        description = _WALLS[kind]
        if needs_browser(read):
            extra["needs_browser"] = True
            description += (
                ", which its scripts write in a browser; save it in a browser, or let the operator "
                "set web.browser"
            )
        raise SourceError(
            "invalid_document",
            f"{url}: the site shows {description}",
            plugin="",
            tool=NAME,
            action="none",
            extra=extra,
        )
    if page.status >= 400:
        raise refused_status(url, page.status)
    if read.quality == "none":
        reason = read.document.get("quality_reason", "nothing to read")
        raise SourceError(
            "invalid_document",
            f"{url}: {read.format} whose text cannot be read: {printable(str(reason), 100)}",
            plugin="",
            tool=NAME,
            action="none",
        )
