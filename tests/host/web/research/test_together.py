"""Tests of searching and reading together, of scores, paragraphs and claims."""

from __future__ import annotations

import threading
import time
from datetime import date
from typing import Any

import pytest

from carrel.errors import SourceError
from carrel.exchange import Call, Limits
from carrel.web.research.claims import cover
from carrel.web.research.pages import PageText
from carrel.web.research.paragraphs import cut, without_repeated
from carrel.web.research.scoring import WEIGHTS, score_page
from carrel.web.research.side_by_side import side_by_side
from carrel.web.research.together import TogetherRequest, search_and_read
from support.research_doubles import FakeWeb

SAME = "Every desk of the hall has walls on three sides, and a lamp above them."
A, B, C = (f"https://{name}.example.org/" for name in "abc")


def run(web: FakeWeb, call: Call, **more: Any) -> dict[str, Any]:
    return search_and_read(TogetherRequest(query="walls of desks", **more), web, web, call).data


class TestTogether:
    @pytest.mark.requirement("web-researcher:together:status")
    def test_all_read_is_complete_and_ranked(self, call: Call) -> None:
        web = FakeWeb({A: "Lamps and nothing else.", B: f"Walls of desks.\n\n{SAME}"})
        result = run(web, call)
        assert result["status"] == "complete"
        assert [one["url"] for one in result["sources"]] == [B, A]
        assert result["combined_content"].startswith("## Title of")
        assert result["summary"]["urls_scraped"] == 2
        assert result["trust"] == result["sources"][0]["trust"] == "untrusted-external-content"

    def test_a_page_that_fails_makes_it_partial_and_is_named(self, call: Call) -> None:
        error = SourceError(
            "invalid_document",
            "a challenge",
            plugin="",
            tool="web_read",
            extra={"page": "challenge"},
        )
        result = run(FakeWeb({A: SAME, B: error}), call)
        assert result["status"] == "partial"
        [failure] = result["failures"]
        assert (failure["url"], failure["kind"]) == (B, "blocked")
        assert (result["summary"]["urls_scraped"], result["summary"]["urls_failed"]) == (1, 1)

    def test_nothing_read_is_failed_with_a_note(self, call: Call) -> None:
        error = SourceError("timeout", "too slow", plugin="", tool="web_read")
        result = run(FakeWeb({A: error}), call)
        assert result["status"] == "failed"
        assert "no page could be read" in result["note"]
        assert "hints" not in result
        assert run(FakeWeb(), call)["hints"] == {"reason": "no_match"}

    @pytest.mark.parametrize(("pages", "count"), [({}, 3), ({"pages": 10}, 10), ({"pages": 1}, 1)])
    @pytest.mark.requirement("web-researcher:together-count")
    def test_three_pages_are_read_unless_the_call_says_otherwise(
        self, call: Call, pages: dict[str, int], count: int
    ) -> None:
        web = FakeWeb({f"https://example.org/{n}": f"text {n}" for n in range(12)})
        assert len(run(web, call, **pages)["sources"]) == count
        assert len(web.reads) == count

    @pytest.mark.requirement("web-researcher:together:paragraphs")
    def test_exact_paragraphs_are_returned_once(self, call: Call) -> None:
        web = FakeWeb({A: f"First.\n\n{SAME}", B: f"Second.\n\n  {SAME} \n\nThird."})
        assert run(web, call)["combined_content"].count(SAME) == 1
        assert run(web, call, deduplicate=False)["combined_content"].count(SAME) == 2

    @pytest.mark.requirement("web-researcher:together-bytes")
    def test_lengths_are_bytes_of_a_page_and_of_all(self, call: Call) -> None:
        web = FakeWeb({A: "ä" * 60_000, B: "ö" * 60_000})
        result = run(web, call)
        assert all(len(one["content"].encode()) <= 50_000 for one in result["sources"])
        result = run(web, call, page_bytes=1000, all_bytes=1500)
        assert len(result["combined_content"].encode()) <= 1500

    def test_without_sources_their_texts_are_in_the_combined_one_only(self, call: Call) -> None:
        result = run(FakeWeb({A: SAME}), call, sources=False)
        assert "content" not in result["sources"][0]
        assert SAME in result["combined_content"]

    def test_a_filter_leaves_out_pages_without_the_querys_words(self, call: Call) -> None:
        result = run(FakeWeb({A: "Cooking with rice.", B: SAME}), call, filtered=True)
        assert [one["url"] for one in result["sources"]] == [B]
        assert result["filtered_out"] == 1

    def test_a_claim_returns_the_sentences_about_it(self, call: Call) -> None:
        result = run(FakeWeb({A: f"Rain. {SAME} Snow."}), call, claim="desks have walls")
        assert result["sources"][0]["claim_signal"] == SAME
        assert result["sources"][0]["key_sentences"] == [SAME]

    @pytest.mark.requirement("web-researcher:together-at-once")
    def test_at_most_five_pages_are_read_at_once(self, call: Call) -> None:
        lock, now, most = threading.Lock(), 0, 0

        def work(_item: int, _part: Call) -> int:
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.02)
            with lock:
                now -= 1
            return 1

        assert side_by_side(range(20), work, call, most=5) == [1] * 20
        assert most <= 5

    def test_what_hangs_is_named_and_the_others_are_returned(self) -> None:
        call = Call("carrel", "t", Limits(wall_seconds=0.3))
        ended = threading.Event()

        def work(item: int, _part: Call) -> int:
            if item:
                ended.wait(5)
            return item

        first, second = side_by_side([0, 1], work, call, most=2)
        ended.set()
        assert first == 0
        assert getattr(second, "error_code", "") == "timeout"


class TestScores:
    def page(self, url: str = A, text: str = SAME, **more: Any) -> PageText:
        return PageText(url, "Walls of desks", text, "html", **more)

    @pytest.mark.requirement("web-researcher:together:scores")
    def test_the_weights_are_35_20_25_20(self) -> None:
        assert WEIGHTS == {
            "relevance": 0.35,
            "freshness": 0.20,
            "authority": 0.25,
            "content_quality": 0.20,
        }

    def test_the_sum_is_that_of_its_parts(self) -> None:
        scores = score_page("walls", self.page(), None, date(2026, 1, 1)).to_json()
        parts = sum(WEIGHTS[name] * scores[name] for name in WEIGHTS)
        assert scores["overall"] == pytest.approx(parts, abs=0.001)
        assert all(0 <= value <= 1 for value in scores.values())

    @pytest.mark.parametrize(
        ("published", "value"),
        [("2026-01-01", 1.0), ("2024-01-02", 0.5), (None, 0.5), ("soon", 0.5), ("2027", 1.0)],
    )
    def test_freshness_halves_in_two_years(self, published: str | None, value: float) -> None:
        page = self.page(published=published)
        scores = score_page("walls", page, None, date(2026, 1, 1))
        assert scores.freshness == pytest.approx(value, abs=0.01)

    def test_a_publisher_has_more_authority_than_an_unknown_host(self) -> None:
        today = date(2026, 1, 1)
        known = score_page("q", self.page("https://www.nature.com/x"), None, today)
        unknown = score_page("q", self.page("https://blog.example/x"), None, today)
        assert known.authority > unknown.authority


class TestTexts:
    def test_a_cut_is_behind_a_paragraph_and_never_inside_a_character(self) -> None:
        text = "a" * 80 + "\n\n" + "ö" * 40
        assert cut(text, 100) == ("a" * 80, True)
        assert cut("öö", 3) == ("ö", True)
        assert cut("öö", 4) == ("öö", False)

    def test_paragraphs_are_the_same_whatever_their_blanks(self) -> None:
        seen: set[str] = set()
        assert without_repeated("a b\n\nc", seen) == "a b\n\nc"
        assert without_repeated(" a  b \n \nd", seen) == "d"


class TestClaims:
    TEXT = "Walls keep out noise. Rain fell. However, walls do not keep out smells of food."

    @pytest.mark.parametrize(
        ("claim", "support"),
        [
            ("walls keep out noise", "addressed"),
            ("walls keep out noise, thieves, ghosts and winter storms", "partially_addressed"),
            ("volcanoes erupt under glaciers", "not_addressed"),
            ("the of and", "source_unavailable"),
        ],
    )
    def test_coverage_is_how_many_words_a_passage_has(self, claim: str, support: str) -> None:
        assert cover(claim, self.TEXT).support == support

    def test_sentences_are_in_the_order_of_the_text_and_contrast_is_marked(self) -> None:
        found = cover("walls keep out smells", self.TEXT)
        assert found.sentences[0] == "Walls keep out noise."
        assert found.strongest.startswith("However")
        assert found.contrast

    def test_words_that_are_spread_over_a_long_text_do_not_address_a_claim(self) -> None:
        filler = "Rain fell on the hill again. " * 10
        text = f"Walls stand. {filler} Noise is loud. {filler} Keep calm. {filler}"
        assert cover("walls keep noise out", text).support == "partially_addressed"

    def test_an_empty_text_is_no_source(self) -> None:
        assert cover("walls", " ").support == "source_unavailable"
