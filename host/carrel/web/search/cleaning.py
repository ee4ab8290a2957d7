"""Makes results of what a provider returned: clean texts, canonical addresses, no duplicates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from carrel.text.printable import printable

from .addresses import canonical_url, display_link, host_of, is_below, same_page
from .claim import claim_signal
from .reputation import reputation_of
from .results import WebResult

#: Characters of a title, of a snippet and of a source; plugins cut too, but another's may not.
_TITLE, _SNIPPET, _SOURCE = 300, 1000, 100
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def clean_results(
    raw: Sequence[Mapping[str, Any]],
    *,
    count: int,
    hosts: Sequence[str] = (),
    excluded: str | None = None,
    claim: str | None = None,
) -> tuple[WebResult, ...]:
    """Returns at most `count` results.

    Args:
        raw: as the provider's plugin returned them.
        count: the most.
        hosts: the only ones whose pages are kept, with those below; any if empty. Providers do not
            all keep to their operators.
        excluded: terms that no title and no snippet may have.
        claim: to find the closest sentence for.
    """
    results: list[WebResult] = []
    seen: set[str] = set()
    unwanted = _terms(excluded or "")
    for item in raw:
        url = canonical_url(item["url"])
        if url is None or same_page(url) in seen:
            continue
        host = host_of(url)
        if hosts and not any(is_below(host, allowed) for allowed in hosts):
            continue
        title = clean_text(item["title"], _TITLE)
        snippet = clean_text(item["snippet"], _SNIPPET)
        if any(term in f"{title} {snippet}".casefold() for term in unwanted):
            continue
        seen.add(same_page(url))
        published = item.get("published", "")
        results.append(
            WebResult(
                title=title or display_link(host),
                url=url,
                snippet=snippet,
                display_link=display_link(host),
                published=published if _DAY.fullmatch(published) else None,
                source=clean_text(item.get("source", ""), _SOURCE) or None,
                reputation=reputation_of(host),
                claim_signal=None if claim is None else claim_signal(claim, snippet),
            )
        )
        if len(results) == count:
            break
    return tuple(results)


def clean_text(text: str, limit: int) -> str:
    """Returns a text on one line without control, bidi, zero-width and tag characters."""
    return " ".join(printable(text, limit).replace("\xad", "").split())


def _terms(excluded: str) -> list[str]:
    """Returns words and quoted phrases, without minus signs."""
    found = re.findall(r'"([^"]+)"|([^\s",]+)', excluded.casefold())
    terms = (" ".join((phrase or word).strip("-").split()) for phrase, word in found)
    return [term for term in terms if term]
