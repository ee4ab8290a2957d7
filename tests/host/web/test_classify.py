"""Tests what kind of source a page is."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import carrel.web.sites
from carrel.web.sites.classify import AUTHORITY_TIERS, CATEGORIES, SOURCE_TYPES, PageClass, classify

HOSTS = {
    "https://www.nature.com/articles/x": ("peer_reviewed", "high", "academic"),
    "https://www.nejm.org/doi/full/x": ("peer_reviewed", "high", "medical"),
    "https://arxiv.org/abs/2301.00001": ("unknown", "medium", "academic"),
    "https://www.cdc.gov/flu": ("government", "high", "medical"),
    "https://www.sec.gov/x": ("government", "high", "financial"),
    "https://eur-lex.europa.eu/x": ("government", "high", "legal"),
    "https://ec.europa.eu/x": ("government", "high", "general"),
    "https://www.anytown.gov/x": ("government", "high", "general"),
    "https://ministry.gov.uk/x": ("government", "high", "general"),
    "https://www.bag.admin.ch/x": ("government", "high", "general"),
    "https://www.service.gouv.fr/x": ("government", "high", "general"),
    "https://www.some.edu/~x": ("unknown", "medium", "academic"),
    "https://www.some.ac.uk/x": ("unknown", "medium", "academic"),
    "https://docs.python.org/3/": ("official_docs", "high", "technical"),
    "https://docs.some-tool.dev/": ("official_docs", "high", "technical"),
    "https://sample.readthedocs.io/en/latest/": ("official_docs", "high", "technical"),
    "https://www.reuters.com/world/x": ("news_publication", "medium", "general"),
    "https://www.ft.com/content/x": ("news_publication", "medium", "financial"),
    "https://en.wikipedia.org/wiki/Desk": ("wiki", "medium", "general"),
    "https://wiki.desks.example/x": ("wiki", "medium", "general"),
    "https://news.ycombinator.com/item?id=1": ("forum", "low", "technical"),
    "https://stackoverflow.com/q/1": ("forum", "low", "technical"),
    "https://forum.desks.example/t/1": ("forum", "low", "general"),
    "https://someone.substack.com/p/x": ("blog", "low", "general"),
    "https://blog.desks.example/x": ("blog", "low", "general"),
    "https://x.com/a/status/1": ("social_media", "low", "general"),
    "https://github.com/a/b": ("unknown", "low", "technical"),
    "https://desks.example/": ("unknown", "low", "general"),
    "https://nature.com.evil.example/": ("unknown", "low", "general"),
    "https://notnature.com/": ("unknown", "low", "general"),
    "https://govt.example/": ("unknown", "low", "general"),
    "https://www.cambridge.org/core/journals/x": ("peer_reviewed", "high", "academic"),
    "https://www.cambridge.org/us/x": ("unknown", "low", "general"),
}


def stated(*places: str, **members: Any) -> dict[str, Any]:
    return {"metadata": [{"name": "x", "value": "y", "from": place} for place in places], **members}


@pytest.mark.parametrize("url", HOSTS)
def test_a_host_decides(url: str) -> None:
    assert classify(url, {}) == PageClass(*HOSTS[url])


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (stated("meta citation_journal_title"), "peer_reviewed"),
        (stated("json-ld ScholarlyArticle.headline"), "peer_reviewed"),
        (stated("json-ld NewsArticle.headline"), "news_publication"),
        (stated("json-ld BlogPosting.headline"), "blog"),
        (stated("json-ld DiscussionForumPosting.headline"), "forum"),
        (stated("meta og:title"), "unknown"),
        ({"kind": "forum"}, "forum"),
        ({"metadata": [{"name": "generator", "value": "MediaWiki 1.4", "from": "meta generator"}]},
         "wiki"),
    ],
)  # fmt: skip
def test_an_unknown_host_is_what_its_page_states(document: dict[str, Any], kind: str) -> None:
    assert classify("https://desks.example/", document).type == kind


def test_a_post_cannot_state_that_it_was_reviewed() -> None:
    document = stated("meta citation_journal_title")
    for url in ("https://x.com/a", "https://someone.substack.com/p/x", "https://arxiv.org/abs/1"):
        assert classify(url, document).type != "peer_reviewed"


def test_the_record_of_a_published_work_is_peer_reviewed() -> None:
    found = classify("https://doi.org/10.5555/x", {}, is_scholarly=True)
    assert found == PageClass("peer_reviewed", "high", "academic")


def test_every_entry_has_known_words_and_says_where_it_is_from() -> None:
    path = Path(carrel.web.sites.__file__).with_name("sources.toml")
    data = tomllib.loads(path.read_text("utf-8"))
    assert set(data["authority"]) == set(SOURCE_TYPES)
    seen: set[str] = set()
    for group in data["group"]:
        assert group["kind"] in SOURCE_TYPES
        assert group["category"] in CATEGORIES
        assert group.get("authority", "low") in AUTHORITY_TIERS
        assert len(group["basis"]) > 10
        assert not seen & set(group["hosts"]), seen & set(group["hosts"])
        seen |= set(group["hosts"])
    for one in data["name"]:
        assert one["kind"] in SOURCE_TYPES
        assert len(one["basis"]) > 10
