"""Reads pages for the tools of research: the seam to `carrel.web.reading`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from carrel.errors import CarrelError
from carrel.web.answers import web_failure
from carrel.web.metadata import page_metadata

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.web.reading import ReadPage, WebReader


@dataclass(frozen=True, slots=True)
class PageText:
    """A page that was read.

    Attributes:
        url: the address after redirects.
        text: the whole text, in Markdown.
        content_type: such as html or pdf.
        published: year, or year-month, or a day; None if the page does not say.
        complete: whether the reader is sure that it has the whole text.
        doi: that the page declares for itself.
        facts: what else is known of it: source_type, authority_tier, domain_category.
    """

    url: str
    title: str
    text: str
    content_type: str
    published: str | None = None
    complete: bool = True
    doi: str | None = None
    facts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class LinkState:
    """Whether an address still leads to something.

    Attributes:
        live: None if that could not be found out, such as for a page that programs may not read.
        status: the HTTP status; None without an answer.
        reason: why it is not known to be live, in one line.
    """

    live: bool | None
    status: int | None = None
    reason: str = ""


class Pages(Protocol):
    """Reads pages of the public web."""

    def read(self, url: str, call: Call) -> PageText:
        """Reads a page.

        Raises:
            CarrelError: it cannot be downloaded, or is not a page's content.
        """
        ...

    def check(self, url: str, call: Call) -> LinkState:
        """Says whether an address leads to something."""
        ...


class WebPages:
    """Reads pages as `web_read` does, with the same cache, grant, pace and robots rules."""

    def __init__(self, reader: WebReader) -> None:
        self._reader = reader

    def read(self, url: str, call: Call) -> PageText:
        """See `Pages.read`."""
        page, _ = self._reader.read(url, call)
        assert page.document is not None, "only a page's source has no document"
        document = page.document.document
        facts = page_metadata(document)
        return PageText(
            page.url,
            str(facts.get("title") or ""),
            page.text,
            page.document.format,
            published=str(facts["published"]) if facts.get("published") else None,
            complete=page.document.quality == "complete",
            doi=page.document.identifiers.get("doi"),
            facts=_classification(page),
        )

    def check(self, url: str, call: Call) -> LinkState:
        """See `Pages.check`. The page is read, so that a soft 404 is no live link."""
        try:
            self._reader.read(url, call)
        except CarrelError as error:
            call.check()
            failure = web_failure(error)
            status = error.details().get("status")
            status_code = status if isinstance(status, int) else None
            live = False if failure.kind == "not_found" else None
            if status_code is not None and status_code < 400 and failure.kind != "not_found":
                live = True  # something is there, if not for programs
            return LinkState(live, status_code, failure.message)
        return LinkState(True, 200)


def _classification(page: ReadPage) -> dict[str, str]:
    """Returns what reading a page found out about its source; empty if it found nothing."""
    source = getattr(page, "source", None)
    names = {"type": "source_type", "authority": "authority_tier", "category": "domain_category"}
    found = {member: getattr(source, name, None) for name, member in names.items()}
    return {name: value for name, value in found.items() if isinstance(value, str)}
