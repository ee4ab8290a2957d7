"""Tests that captured arXiv feeds are parsed as independent readers parse them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import feedparser  # type: ignore[import-untyped]  # it has no types
import pytest

from carrel.api import Carrel
from carrel.config import Config
from carrel.errors import SourceError
from conftest import CORPUS
from plugins.arxiv_oracle import read_feed

pytestmark = pytest.mark.long("corpus")

BROKEN_ENCODING = re.compile("[\x80-\x9f]")
FEEDS = sorted((CORPUS / "arxiv").glob("*.xml")) if CORPUS.is_dir() else []


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(config)


def normal(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns an entry without the fields that the oracle omits when they are empty."""
    kept = {key: value for key, value in entry.items() if value not in ([], None)}
    kept["authors"] = [
        {key: value for key, value in author.items() if value != []}
        for author in entry.get("authors", [])
    ]
    return {key: value for key, value in kept.items() if value != []}


def test_the_captured_feeds_are_there(corpus: Path) -> None:
    assert len(list((corpus / "arxiv").glob("*.xml"))) >= 30


@pytest.mark.parametrize("path", FEEDS, ids=lambda path: path.stem)
def test_a_captured_feed_reads_as_lxml_reads_it(api: Carrel, path: Path) -> None:
    expected = read_feed(path.read_bytes())
    document = path.read_text("utf-8")
    if "error" in expected:
        with pytest.raises(SourceError) as caught:
            api.parse("arxiv", "feed", document)
        assert caught.value.error_code == "upstream_error"
        assert expected["error"] in caught.value.message
        return
    feed = api.parse("arxiv", "feed", document)
    assert [normal(entry) for entry in feed["entries"]] == [
        normal(entry) for entry in expected["entries"]
    ]
    for key in ("total_results", "start_index"):
        if key in expected:
            assert feed[key] == expected[key]
    assert feed["items_per_page"] == len(feed["entries"]) or feed["items_per_page"] == expected.get(
        "items_per_page"
    )


@pytest.mark.parametrize("path", FEEDS, ids=lambda path: path.stem)
def test_a_captured_feed_has_the_entries_that_feedparser_finds(api: Carrel, path: Path) -> None:
    expected = feedparser.parse(path.read_bytes()).entries
    try:
        entries = api.parse("arxiv", "feed", path.read_text("utf-8"))["entries"]
    except SourceError:
        assert len(expected) == 1
        return
    assert len(entries) == len(expected)
    for ours, theirs in zip(entries, expected, strict=True):
        assert ours["id"] in theirs.id
        # feedparser repairs text with a broken encoding; lxml and Carrel keep it.
        if not BROKEN_ENCODING.search(ours.get("title", "")):
            assert ours.get("title", "") == " ".join(theirs.get("title", "").split())
        assert len(ours["authors"]) == len(theirs.get("authors", []))
        assert len(ours["categories"]) == len(theirs.get("tags", []))
