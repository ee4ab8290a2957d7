"""Circuit breaker, cache, lenses, reputation, claims, hints."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import ArgumentError, Cancelled, ConfigError
from carrel.exchange import Call
from carrel.web.search.cache import SearchCache
from carrel.web.search.circuit import FAILURES, OPEN_SECONDS, Circuit
from carrel.web.search.claim import claim_signal
from carrel.web.search.cleaning import clean_results
from carrel.web.search.hints import explain_nothing
from carrel.web.search.lenses import FOLDER, choose_lens, read_lenses
from carrel.web.search.query import read_query
from carrel.web.search.reputation import data_set, reputation_of
from carrel.web.search.results import FRESH_SECONDS

from .conftest import Clock, result


class TestCircuit:
    def make(self, jitter: float = 0.0) -> tuple[Circuit, Clock]:
        clock = Clock()
        return Circuit(clock, lambda: jitter), clock

    def fail(self, circuit: Circuit, times: int) -> None:
        for _ in range(times):
            assert circuit.admit() == 0
            circuit.failed()

    def test_five_failures_in_a_row_open_it_for_a_minute(self) -> None:
        circuit, clock = self.make()
        self.fail(circuit, FAILURES - 1)
        assert circuit.wait == 0
        self.fail(circuit, 1)
        assert circuit.wait == OPEN_SECONDS
        clock.now += OPEN_SECONDS - 1
        assert circuit.admit() == 1
        clock.now += 1
        assert circuit.admit() == 0

    def test_a_success_between_failures_starts_the_count_again(self) -> None:
        circuit, _ = self.make()
        self.fail(circuit, FAILURES - 1)
        circuit.succeeded()
        self.fail(circuit, FAILURES - 1)
        assert circuit.wait == 0

    @pytest.mark.requirement("web-researcher:search-routing:limited")
    def test_a_429_opens_it_at_once_for_as_long_as_is_asked(self) -> None:
        circuit, _ = self.make()
        circuit.limited()
        assert circuit.wait == OPEN_SECONDS
        circuit.limited(600)
        assert circuit.wait == 600
        circuit.limited(1e9)
        assert circuit.wait == 3600

    def test_jitter_makes_it_longer(self) -> None:
        circuit, _ = self.make(jitter=1.0)
        circuit.limited()
        assert circuit.wait == pytest.approx(OPEN_SECONDS * 1.2)

    def test_half_open_lets_one_probe_pass(self) -> None:
        circuit, clock = self.make()
        circuit.limited()
        clock.now += OPEN_SECONDS
        assert circuit.admit() == 0
        assert circuit.admit() > 0
        circuit.succeeded()
        assert circuit.admit() == 0
        assert circuit.admit() == 0

    def test_a_probe_that_fails_opens_it_again(self) -> None:
        circuit, clock = self.make()
        circuit.limited()
        clock.now += OPEN_SECONDS
        circuit.admit()
        circuit.failed()
        assert circuit.wait == OPEN_SECONDS

    @pytest.mark.requirement("web-researcher:search-routing:payment")
    def test_payment_errors_never_count(self) -> None:
        circuit, clock = self.make()
        for _ in range(20):
            assert circuit.admit() == 0
            circuit.spared()
        circuit.limited()
        clock.now += OPEN_SECONDS
        assert circuit.admit() == 0
        circuit.spared()
        assert circuit.admit() == 0, "the next request probes"


class TestCache:
    def test_an_answer_is_kept_for_half_an_hour(self) -> None:
        clock = Clock()
        cache: SearchCache[int] = SearchCache(clock)
        call, made = Call("x", "y"), iter(range(10))
        assert cache.get_or_make("k", lambda: next(made), call) == (0, None)
        clock.now += FRESH_SECONDS - 1
        assert cache.get_or_make("k", lambda: next(made), call) == (0, FRESH_SECONDS - 1)
        clock.now += 1
        assert cache.get_or_make("k", lambda: next(made), call) == (1, None)

    def test_a_failure_is_not_kept(self) -> None:
        cache: SearchCache[int] = SearchCache(Clock())
        call = Call("x", "y")
        with pytest.raises(ZeroDivisionError):
            cache.get_or_make("k", lambda: 1 // 0, call)
        assert cache.get_or_make("k", lambda: 7, call) == (7, None)

    def test_refresh_makes_it_anew_for_all(self) -> None:
        cache: SearchCache[int] = SearchCache(Clock())
        cache.get_or_make("k", lambda: 1, Call("x", "y"))
        assert cache.get_or_make("k", lambda: 2, Call("x", "y", refresh=True)) == (2, None)
        assert cache.get_or_make("k", lambda: 3, Call("x", "y"))[0] == 2

    def test_calls_at_the_same_time_make_it_once(self) -> None:
        cache: SearchCache[int] = SearchCache(Clock())
        started, go, made = threading.Event(), threading.Event(), []

        def make() -> int:
            made.append(1)
            started.set()
            assert go.wait(10)
            return 5

        answers: list[int] = []

        def ask() -> None:
            answers.append(cache.get_or_make("k", make, Call("x", "y"))[0])

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        assert started.wait(10)
        go.set()
        for thread in threads:
            thread.join(10)
        assert (answers, made) == ([5] * 5, [1])
        assert cache._pending == {}

    def test_a_waiting_call_can_be_cancelled(self) -> None:
        cache: SearchCache[int] = SearchCache(Clock())
        call = Call("x", "y")
        call.cancel()
        with cache._locked("k", Call("x", "y")), pytest.raises(Cancelled):
            cache.get_or_make("k", lambda: 1, call)
        assert cache._pending == {}

    def test_the_oldest_are_dropped(self) -> None:
        cache: SearchCache[int] = SearchCache(Clock())
        call = Call("x", "y")
        for number in range(600):
            cache.get_or_make(str(number), lambda: 1, call)
        assert len(cache._answers) == 500


class TestLenses:
    def test_carrels_own_are_lists_of_hosts(self) -> None:
        lenses = read_lenses(None)
        assert {"academic", "legal", "medical", "technical"} <= set(lenses)
        for lens in lenses.values():
            assert lens.hosts
            assert lens.about
            assert lens.engine is None

    def test_the_operators_take_precedence(self, tmp_path: Path) -> None:
        (tmp_path / "academic.toml").write_text('hosts = ["Example.org"]\ncx = "abc:1"\n')
        (tmp_path / "desks.toml").write_text('hosts = ["möbel.example", "example.org"]\n')
        lenses = read_lenses(tmp_path)
        assert (lenses["academic"].hosts, lenses["academic"].engine) == (("example.org",), "abc:1")
        assert lenses["desks"].hosts == ("xn--mbel-5qa.example", "example.org")

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("hosts = []", "1 to 500 hosts"),
            ("hosts = [5]", "expected a host"),
            ('hosts = ["localhost"]', "expected a host"),
            ('hosts = ["example.org"]\ncolour = 1', "unknown key 'colour'"),
            ('hosts = ["example.org"]\ncx = "a b"', "cx"),
            ("hosts = ", "Invalid value"),
        ],
    )
    def test_a_file_that_is_none_is_a_fault_of_the_configuration(
        self, tmp_path: Path, text: str, word: str
    ) -> None:
        (tmp_path / "bad.toml").write_text(text)
        with pytest.raises(ConfigError, match=word):
            read_lenses(tmp_path)

    def test_a_missing_folder_is_a_fault(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="lens_folder"):
            read_lenses(tmp_path / "none")

    @pytest.mark.requirement("web-researcher:search-lenses")
    def test_an_unknown_lens_names_the_known_ones(self) -> None:
        with pytest.raises(ArgumentError, match="known: academic, financial"):
            choose_lens(read_lenses(None), "poetry")

    def test_the_package_has_eight_lenses(self) -> None:
        assert len(list(FOLDER.glob("*.toml"))) >= 8


class TestReputation:
    def test_every_row_has_a_basis_and_a_source(self) -> None:
        assert len(data_set()) >= 50
        for name, row in data_set().items():
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", name), name
            assert row.tier in {"high", "mixed", "low"}
            assert row.basis.endswith(".")
            assert row.source.startswith("https://")

    def test_no_host_is_listed_twice(self) -> None:
        import tomllib

        from carrel.web.search.reputation import FILE

        rows = tomllib.loads(FILE.read_text("utf-8"))["host"]
        names = [name for row in rows for name in row["names"]]
        assert len(names) == len(set(names))

    def test_the_nearest_name_counts(self) -> None:
        nih, wiki = reputation_of("www.nih.gov"), reputation_of("de.wikipedia.org")
        assert nih is not None
        assert nih.tier == "high"
        assert wiki is not None
        assert wiki.tier == "mixed"

    @pytest.mark.parametrize("host", ["example.org", "notnature.com", "nature.com.example", "org"])
    def test_an_unlisted_host_is_unknown(self, host: str) -> None:
        assert reputation_of(host) is None


class TestClaim:
    @pytest.mark.parametrize(
        ("claim", "snippet", "signal"),
        [
            (
                "Carrels were built for monks in 1200",
                "Desks are old. The first carrels were built for monks around 1200. Buy one now!",
                "The first carrels were built for monks around 1200.",
            ),
            ("walled desks", "Nothing fits here. Nor here.", ""),
            ("the and of", "The and of.", ""),
            ("desk prices", "A desk ... The price of desks rose … More", "The price of desks rose"),
            ("x", "", ""),
            ("机", "一句。机。", ""),
            (
                "Die Wände der Kabine",
                "Die Kabine hat Wände. Sonst nichts.",
                "Die Kabine hat Wände.",
            ),
        ],
    )
    def test_the_closest_sentence(self, claim: str, snippet: str, signal: str) -> None:
        found = claim_signal(claim, snippet)
        assert found == signal or (claim == "机" and found in {"", "机。"})


class TestCleaning:
    @pytest.mark.requirement("web-researcher:search-unique")
    def test_texts_are_cleaned_and_duplicates_left_out(self) -> None:
        raw = [
            result("https://example.org/a?utm_source=x", "A\u202e de\u200bsk\x07"),
            result("http://www.example.org/a/", "the same"),
            result("javascript:x", "script"),
            result("https://b.example.org/", "", source="s\U000e0041", published="soon"),
        ]
        found = clean_results(raw, count=10)
        assert [(one.title, one.url) for one in found] == [
            ("A desk", "https://example.org/a"),
            ("b.example.org", "https://b.example.org/"),
        ]
        assert (found[1].source, found[1].published) == ("s", None)

    @pytest.mark.requirement("web-researcher:search-site")
    def test_hosts_are_kept_to_even_if_the_provider_does_not(self) -> None:
        raw = [result(f"https://{host}/") for host in ("example.org", "a.example.org", "x.example")]
        found = clean_results(raw, count=10, hosts=["example.org"])
        assert [one.display_link for one in found] == ["example.org", "a.example.org"]

    def test_excluded_terms_are_left_out_even_if_the_provider_does_not(self) -> None:
        raw = [result("https://a.example/", "Flat pack desk"), result("https://b.example/", "Desk")]
        found = clean_results(raw, count=10, excluded='-sale "flat pack"')
        assert [one.title for one in found] == ["Desk"]

    def test_huge_texts_are_cut(self) -> None:
        [one] = clean_results([result(title="x" * 10_000, snippet="y" * 10_000)], count=1)
        assert (len(one.title), len(one.snippet)) == (301, 1001)


class TestHints:
    @pytest.mark.requirement("web-researcher:search-warning")
    def test_without_filters_nothing_matched(self) -> None:
        hints = explain_nothing(read_query({"query": "x"}), ["brave"], ["brave", "exa"]).to_json()
        assert hints == {
            "reason": "no_match",
            "filters_applied": {},
            "suggested_actions": [{"action": "try_different_provider", "providers": ["exa"]}],
            "epistemic_warning": (
                "nothing was found by brave; that does not prove that there is nothing"
            ),
        }

    @pytest.mark.requirement("web-researcher:search-constraints")
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("site", "example.org"),
            ("lens", "academic"),
            ("time_range", "day"),
            ("country", "AT"),
            ("language", "de"),
            ("exact_terms", "walled desks"),
            ("exclude_terms", "lamps"),
        ],
    )
    def test_each_constraint_is_named(self, name: str, value: str) -> None:
        hints = explain_nothing(read_query({"query": "x", name: value}), [], []).to_json()
        assert (hints["reason"], hints["filters_applied"]) == (
            "filters_too_restrictive",
            {name: value},
        )
        assert hints["suggested_actions"] == [{"action": "remove_filter", "filter": name}]

    @pytest.mark.parametrize("given", [{"safe": "high"}, {"num_results": 1}, {"claim": "c"}])
    def test_what_leaves_no_result_out_is_no_constraint(self, given: dict[str, Any]) -> None:
        hints = explain_nothing(read_query({"query": "x", **given}), [], []).to_json()
        assert (hints["reason"], hints["filters_applied"]) == ("no_match", {})

    def test_more_general_words_are_advised_where_nothing_else_can_help(self) -> None:
        hints = explain_nothing(read_query({"query": "x"}), ["brave"], ["brave"]).to_json()
        assert hints["suggested_actions"] == [{"action": "broaden_query"}]

    @pytest.mark.requirement("web-researcher:search-actions")
    def test_filters_are_named_and_may_be_removed(self) -> None:
        asked = read_query(
            {"query": "x", "site": "example.org", "time_range": "day", "safe": "off"}
        )
        hints = explain_nothing(asked, ["brave"], ["brave"]).to_json()
        assert hints["reason"] == "filters_too_restrictive"
        assert hints["filters_applied"] == {"site": "example.org", "time_range": "day"}
        assert hints["suggested_actions"] == [
            {"action": "remove_filter", "filter": "site"},
            {"action": "remove_filter", "filter": "time_range"},
        ]
