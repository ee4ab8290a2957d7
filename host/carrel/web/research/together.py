"""Searches the web and reads what is found, a few pages side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError
from carrel.text.printable import printable
from carrel.web.answers import (
    TRUST,
    WebFailure,
    estimated_tokens,
    size_category,
    web_failure,
)

from .claims import cover
from .paragraphs import cut, without_repeated
from .scoring import Scores, score_page
from .side_by_side import side_by_side
from .words import terms_of

if TYPE_CHECKING:
    from carrel.exchange import Call

    from .pages import Pages, PageText
    from .searching import FoundPage, FoundPages, WebSearch

#: Pages that are read at the same time, and seconds for one.
_AT_ONCE: Final = 5
_PAGE_SECONDS: Final = 45.0
#: Bytes of one page, and of all pages together, unless the call says otherwise.
PAGE_BYTES: Final = 50_000
ALL_BYTES: Final = 300_000
#: Share of a query's words that a page needs when pages are filtered by the query.
_RELEVANT: Final = 0.3
#: Words below which a text may be a stub.
_SPARSE: Final = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherRequest:
    """A search whose pages are read.

    Attributes:
        query: words.
        pages: pages to read.
        sources: whether each page is returned by itself with its text.
        deduplicate: whether paragraphs that occur on several pages are returned once.
        page_bytes: of one page's text.
        all_bytes: of the combined text.
        filtered: whether pages with few of the query's words are left out.
        provider: the only provider to ask.
        claim: that the pages are read for; empty for none.
    """

    query: str
    pages: int = 3
    sources: bool = True
    deduplicate: bool = True
    page_bytes: int = PAGE_BYTES
    all_bytes: int = ALL_BYTES
    filtered: bool = False
    provider: str | None = None
    claim: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    found: FoundPage
    page: PageText
    text: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class Together:
    """The result of a search whose pages were read.

    Attributes:
        data: as JSON.
        found: what the search found.
        failures: of pages, by address.
    """

    data: dict[str, Any]
    found: FoundPages
    failures: Sequence[tuple[str, WebFailure]]


def search_and_read(
    request: TogetherRequest, search: WebSearch, pages: Pages, call: Call
) -> Together:
    """Searches, reads the pages side by side, ranks them, and combines their texts.

    Raises:
        CarrelError: the search failed, or the call was cancelled.
    """
    began = time.monotonic()
    found = search.search(request.query, call, limit=request.pages, provider=request.provider)
    requested = list(found.pages[: request.pages])
    answers = side_by_side(
        requested,
        lambda page, part: pages.read(page.url, part),
        call,
        most=_AT_ONCE,
        seconds=_PAGE_SECONDS,
    )
    failures: list[tuple[str, WebFailure]] = []
    read: list[_Read] = []
    seen: set[str] = set()
    today = datetime.now(tz=UTC).date()
    for page, answer in zip(requested, answers, strict=True):
        if isinstance(answer, CarrelError):
            failures.append((page.url, web_failure(answer)))
        else:
            read.append(_judged(request, page, answer, seen, today))
    left_out = 0
    if request.filtered:
        relevant = [result for result in read if _is_relevant(request.query, result.page)]
        left_out, read = len(read) - len(relevant), relevant
    read.sort(key=lambda result: (-result.scores.overall, result.found.url))
    data = _to_json(request, found, read, failures)
    if left_out:
        data["filtered_out"] = left_out
    data["summary"] = {
        "urls_searched": len(requested),
        "urls_scraped": len(requested) - len(failures),
        "urls_failed": len(failures),
        "sparse_sources": sum(len(result.text.split()) < _SPARSE for result in read),
        "processing_time_ms": round((time.monotonic() - began) * 1000),
    }
    return Together(data, found, failures)


def _judged(
    request: TogetherRequest, found: FoundPage, page: PageText, seen: set[str], today: date
) -> _Read:
    text = without_repeated(page.text, seen) if request.deduplicate else page.text
    text, _ = cut(text, request.page_bytes)
    return _Read(found, page, text, score_page(request.query, page, found.published, today))


def _is_relevant(query: str, page: PageText) -> bool:
    terms = set(terms_of(query))
    return not terms or len(terms & set(terms_of(page.text))) / len(terms) >= _RELEVANT


def _to_json(
    request: TogetherRequest,
    found: FoundPages,
    read: Sequence[_Read],
    failures: Sequence[tuple[str, WebFailure]],
) -> dict[str, Any]:
    combined, _ = cut(
        "\n\n".join(_headed(result) for result in read if result.text), request.all_bytes
    )
    status = "failed" if not read else "partial" if failures else "complete"
    payload: dict[str, Any] = {
        "query": request.query,
        "status": status,
        "sources": [_source(request, result) for result in read],
        "combined_content": combined,
        "trust": TRUST,
    }
    if failures:
        payload["failures"] = [_failure(url, failure) for url, failure in failures]
    if status == "failed":
        payload["note"] = _note(request, found)
        if not found.pages and found.hints is not None:
            payload["hints"] = dict(found.hints)
    tokens = estimated_tokens(combined)
    payload["size_metadata"] = {
        "total_length": len(combined),
        "estimated_tokens": tokens,
        "size_category": size_category(tokens),
    }
    return payload


def _headed(result: _Read) -> str:
    title = printable(result.page.title or result.found.title or result.page.url, 300)
    return f"## {title}\n\nSource: {result.page.url}\n\n{result.text}"


def _source(request: TogetherRequest, result: _Read) -> dict[str, Any]:
    source: dict[str, Any] = {
        "url": result.page.url,
        "title": printable(result.page.title or result.found.title, 300),
        "content": result.text,
        "content_type": result.page.content_type,
        "trust": TRUST,
        "scores": result.scores.to_json(),
        "extraction_quality": "complete" if result.page.complete else "partial",
        "word_count": len(result.text.split()),
        **(result.page.facts or {}),
    }
    if not request.sources:
        del source["content"]
    published = result.page.published or result.found.published
    if published:
        source["published_at"] = published
    if request.claim:
        coverage = cover(request.claim, result.page.text)
        source |= {"claim_signal": coverage.strongest, "key_sentences": list(coverage.sentences)}
    return source


def _failure(url: str, failure: WebFailure) -> dict[str, Any]:
    return {
        "url": url,
        "kind": failure.kind,
        "reason": failure.message,
        "retryable": failure.retryable,
        "suggested_action": failure.action,
    }


def _note(request: TogetherRequest, found: FoundPages) -> str:
    if not found.pages:
        return "the search found no pages; use fewer or other words, or another provider"
    if request.filtered:
        return (
            "no page that could be read has enough of the query's words; search without the filter"
        )
    return "no page could be read; the failures say why. Search for other pages, or read one by one"
