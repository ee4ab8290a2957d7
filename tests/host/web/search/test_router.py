"""Priority, fallback, circuits, forced providers, lenses: over providers that a test plays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import ArgumentError, Cancelled, SourceError
from carrel.exchange import Call
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.web.search.schema import OUTPUT_SCHEMA

from .conftest import (
    BLOCKED,
    KEY,
    LIMITED,
    PAYMENT,
    REFUSED,
    TAKES_ALL,
    UNAVAILABLE,
    FakeProvider,
    MakeWorld,
    Turns,
    failure,
    found,
    result,
)


def error_of(world: Any, **arguments: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        world.search(**arguments)
    return caught.value


@pytest.mark.requirement("web-researcher:search-routing:priority")
def test_the_first_provider_answers(make_world: MakeWorld) -> None:
    world = make_world(brave=found(), exa=found())
    results = world.search()
    assert validation_faults(compile_schema(OUTPUT_SCHEMA), results.to_json()) == []
    assert results.to_json() == {
        "urls": ["https://desks.example.org/"],
        "query": "walled desks",
        "result_count": 1,
        "results": [
            {
                "title": "A desk",
                "url": "https://desks.example.org/",
                "snippet": "",
                "display_link": "desks.example.org",
            }
        ],
        "trust": "untrusted-external-content",
    }
    assert results.meta() == {
        "provider_used": "brave",
        "providers_attempted": ["brave"],
        "fallback": False,
        "cache_hit": False,
        "latency_ms": 0,
        "cached": False,
        "age_seconds": 0,
        "max_age_seconds": 1800,
        "freshness": "fresh",
    }
    assert world.asked() == {"brave": 1, "exa": 0}


@pytest.mark.parametrize("error", [UNAVAILABLE, LIMITED, PAYMENT, KEY, BLOCKED, REFUSED])
def test_another_provider_answers_if_the_first_fails(make_world: MakeWorld, error: Any) -> None:
    world = make_world(brave=error, exa=found())
    meta = world.search().meta()
    assert meta["provider_used"] == "exa"
    assert meta["providers_attempted"] == ["brave", "exa"]
    assert (meta["fallback"], meta["fallback_reason"]) == (True, "primary_unavailable")


def test_an_empty_answer_is_an_answer(make_world: MakeWorld) -> None:
    world = make_world(brave={"results": []}, exa=found())
    results = world.search(site="example.org")
    assert results.results == ()
    assert results.to_json()["urls"] == []
    assert results.to_json()["hints"] == {
        "reason": "filters_too_restrictive",
        "filters_applied": {"site": "example.org"},
        "suggested_actions": [
            {"action": "remove_filter", "filter": "site"},
            {"action": "try_different_provider", "providers": ["exa"]},
        ],
        "epistemic_warning": (
            "nothing was found by brave; that does not prove that there is nothing"
        ),
    }
    assert "hints" not in world.search(provider="exa").to_json()


@pytest.mark.requirement("web-researcher:search-alternatives")
def test_hints_name_only_providers_that_are_configured_and_healthy(make_world: MakeWorld) -> None:
    world = make_world(
        brave={"results": []},
        exa=LIMITED,
        google=FakeProvider(lambda _: found(), remedy="no key"),
        serper=found(),
    )
    error_of(world, provider="exa")
    [action] = world.search().to_json()["hints"]["suggested_actions"]
    assert action == {"action": "try_different_provider", "providers": ["serper"]}


@pytest.mark.requirement("web-researcher:search-routing:circuit")
def test_five_failures_open_the_circuit_and_a_probe_closes_it(make_world: MakeWorld) -> None:
    failing = [UNAVAILABLE] * 5
    world = make_world(brave=FakeProvider(Turns(*failing, found())), exa=found())
    for number in range(5):
        world.search(f"q{number}")
    meta = world.search("q5").meta()
    assert meta["providers_attempted"] == ["exa"]
    assert (meta["fallback"], meta["fallback_reason"]) == (True, "circuit_open")
    assert world.asked()["brave"] == 5
    world.clock.now += 61
    assert world.search("q6").meta()["provider_used"] == "brave"


def test_a_429_opens_the_circuit_at_once(make_world: MakeWorld) -> None:
    limited = failure("rate_limited", retry_after_seconds=120)
    world = make_world(brave=FakeProvider(Turns(limited, found())), exa=found())
    world.search("a")
    world.clock.now += 100
    assert world.search("b").meta()["fallback_reason"] == "circuit_open"
    world.clock.now += 21
    assert world.search("c").meta()["provider_used"] == "brave"


@pytest.mark.parametrize("error", [PAYMENT, KEY, REFUSED])
def test_payment_key_and_argument_errors_never_count(make_world: MakeWorld, error: Any) -> None:
    world = make_world(brave=error, exa=found())
    for number in range(10):
        world.search(f"q{number}")
    assert world.asked() == {"brave": 10, "exa": 10}


def test_a_forced_provider_has_no_fallback(make_world: MakeWorld) -> None:
    world = make_world(brave=found(), exa=UNAVAILABLE)
    error = error_of(world, provider="exa")
    assert world.asked() == {"brave": 0, "exa": 1}
    assert error.error_code == "upstream_unavailable"
    assert error.extra["alternatives"] == ["brave"]
    assert "use another provider: brave" in error.message


@pytest.mark.requirement("web-researcher:search-provider")
def test_an_unknown_provider_lists_all_without_duplicates(make_world: MakeWorld) -> None:
    world = make_world(brave=found(), lists=found())
    with pytest.raises(ArgumentError) as caught:
        world.search(provider="bing")
    listed = caught.value.message.rpartition("providers: ")[2].split(", ")
    assert listed == sorted(set(listed))
    assert {"brave", "google", "searxng", "tavily", "exa", "serper", "duckduckgo"} < set(listed)
    assert "lists" in listed
    assert caught.value.details() == {"kind": "config", "alternatives": ["brave", "lists"]}


def test_a_provider_that_is_not_enabled_says_so(make_world: MakeWorld) -> None:
    world = make_world(brave=found())
    with pytest.raises(ArgumentError, match="'exa' is not enabled here; enabled: brave"):
        world.search(provider="exa")


@pytest.mark.requirement("web-researcher:search-setup")
def test_a_missing_key_is_a_matter_of_the_configuration(make_world: MakeWorld) -> None:
    remedy = "api_key is not set; set CARREL_SECRET_BRAVE_API_KEY"
    world = make_world(brave=FakeProvider(lambda _: found(), remedy=remedy))
    error = error_of(world)
    assert (error.error_code, error.action) == ("config", "fix_configuration")
    assert remedy in error.message
    assert not error.retryable


@pytest.mark.parametrize(
    ("answers", "code", "action", "kind"),
    [
        ((UNAVAILABLE, LIMITED), "rate_limited", "retry_after_delay", "rate_limited"),
        ((LIMITED, KEY), "config", "fix_configuration", "auth_required"),
        ((KEY, REFUSED), "upstream_error", "fix_arguments", "validation"),
        ((PAYMENT, BLOCKED), "rate_limited", "ask_operator", "rate_limited"),
        ((BLOCKED, UNAVAILABLE), "upstream_error", "retry_later", "blocked"),
        ((failure("timeout"), failure("upstream_invalid")), "upstream_unavailable", None, None),
        ((failure("denied"), UNAVAILABLE), "denied", "ask_operator", "config"),
    ],
)
def test_of_several_failures_the_first_to_act_on_is_the_error(
    make_world: MakeWorld, answers: Any, code: str, action: str | None, kind: str | None
) -> None:
    error = error_of(make_world(brave=answers[0], exa=answers[1]))
    assert error.error_code == code
    if action is not None:
        assert (error.action, error.extra["kind"]) == (action, kind)
    assert [one["provider"] for one in error.extra["attempts"]] == ["brave", "exa"]


@pytest.mark.requirement("web-researcher:search-wait")
def test_a_rate_limit_says_how_long_to_wait(make_world: MakeWorld) -> None:
    error = error_of(make_world(brave=LIMITED))
    assert error.extra["retry_after_seconds"] == 60
    assert "wait 60 s" in error.message


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(7.0, 60), (0, 60), (-5.0, 60), (90, 90), (3600, 3600), (86_400.0, 3600), ("soon", 60)],
)
def test_the_seconds_of_a_rate_limit_are_those_of_the_circuit(
    make_world: MakeWorld, asked: Any, seconds: float
) -> None:
    limited = failure("rate_limited", retry_after_seconds=asked)
    world = make_world(brave=FakeProvider(Turns(limited, found())))
    error = error_of(world)
    assert error.extra["retry_after_seconds"] == seconds
    assert f"wait {seconds} s" in error.message
    world.clock.now += seconds - 1
    refused = error_of(world)
    assert refused.extra["attempts"][0]["outcome"] == "circuit_open"
    assert refused.extra["retry_after_seconds"] == 1
    world.clock.now += 1
    assert world.search().meta()["provider_used"] == "brave"


@pytest.mark.requirement("web-researcher:search-cached")
def test_an_answer_is_cached_and_a_failure_is_not(make_world: MakeWorld) -> None:
    world = make_world(brave=FakeProvider(Turns(UNAVAILABLE, found())))
    error_of(world)
    assert world.search().meta()["cached"] is False
    world.clock.now += 90
    meta = world.search().meta()
    assert (meta["cached"], meta["cache_hit"], meta["age_seconds"]) == (True, True, 90)
    assert meta["freshness"] == "cached"
    assert world.asked() == {"brave": 2}
    world.clock.now += 1800
    assert world.search().meta()["cached"] is False


def together(world: Any, count: int, **arguments: Any) -> list[Any]:
    """Returns what `count` equal searches at the same time return or raise."""
    outcomes: list[Any] = []
    start = threading.Barrier(count)

    def one() -> None:
        start.wait()
        try:
            outcomes.append(world.search(**arguments))
        except SourceError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def slow(answer: Any, count: int, world_of: Callable[[], Any]) -> FakeProvider:
    """Returns a provider that answers when `count` searches wait for it."""

    def answered(_arguments: Any) -> Any:
        [pending] = world_of().searcher._cache._pending.values()
        while pending.users < count:
            time.sleep(0.001)
        return answer

    return FakeProvider(answered)


@pytest.mark.parametrize("refresh", [False, True])
def test_fifty_equal_searches_are_one_request(make_world: MakeWorld, refresh: bool) -> None:
    worlds: list[Any] = []
    worlds.append(make_world(brave=slow(found(), 50, lambda: worlds[0])))
    call = Call("x", "y")
    call.refresh = refresh
    outcomes = together(worlds[0], 50, call=call)
    assert [one.to_json()["result_count"] for one in outcomes] == [1] * 50
    assert worlds[0].asked() == {"brave": 1}
    assert sum(not one.cached for one in outcomes) == 1


@pytest.mark.parametrize("error", [UNAVAILABLE, LIMITED, PAYMENT, KEY, BLOCKED])
def test_fifty_equal_searches_share_a_failure(make_world: MakeWorld, error: Any) -> None:
    worlds: list[Any] = []
    worlds.append(make_world(brave=slow(error, 50, lambda: worlds[0])))
    outcomes = together(worlds[0], 50)
    assert len({one.message for one in outcomes}) == 1
    assert worlds[0].asked() == {"brave": 1}


def test_a_search_after_a_failure_asks_again(make_world: MakeWorld) -> None:
    world = make_world(brave=FakeProvider(Turns(UNAVAILABLE, found())))
    error_of(world)
    assert world.search().cached is False


def test_calls_that_wait_for_a_cancelled_search_make_their_own(make_world: MakeWorld) -> None:
    first, entered, leave = Call("x", "y"), threading.Event(), threading.Event()

    def answered(_arguments: Any) -> Any:
        if entered.is_set():
            return found()
        entered.set()
        leave.wait(10)
        return Cancelled(plugin="x", tool="y")

    world = make_world(brave=FakeProvider(answered))
    ended: list[BaseException] = []

    def cancelled() -> None:
        with pytest.raises(Cancelled) as caught:
            world.search(call=first)
        ended.append(caught.value)

    leader = threading.Thread(target=cancelled)
    leader.start()
    entered.wait(10)
    outcomes: list[Any] = []
    follower = threading.Thread(target=lambda: outcomes.append(world.search()))
    follower.start()
    [pending] = world.searcher._cache._pending.values()
    while pending.users < 2:
        time.sleep(0.001)
    first.cancel()
    leave.set()
    leader.join()
    follower.join()
    assert len(ended) == 1
    assert outcomes[0].meta()["provider_used"] == "brave"
    assert world.asked() == {"brave": 2}


def test_one_call_probes_an_open_circuit_and_the_others_wait(make_world: MakeWorld) -> None:
    entered, leave = threading.Event(), threading.Event()

    def answered(arguments: Any) -> Any:
        if arguments["query"].startswith("fail"):
            return UNAVAILABLE
        entered.set()
        leave.wait(10)
        return found()

    world = make_world(brave=FakeProvider(answered))
    for number in range(5):
        error_of(world, query=f"fail {number}")
    world.clock.now += 61
    probe = threading.Thread(target=lambda: world.search("probe"))
    probe.start()
    entered.wait(10)
    refused = error_of(world, query="other")
    assert refused.extra["attempts"][0]["outcome"] == "circuit_open"
    leave.set()
    probe.join()
    assert world.search("other").meta()["provider_used"] == "brave"


def test_a_probe_that_fails_opens_the_circuit_again(make_world: MakeWorld) -> None:
    world = make_world(brave=UNAVAILABLE, exa=found())
    for number in range(5):
        world.search(f"q{number}")
    world.clock.now += 61
    assert world.search("probe").meta()["providers_attempted"] == ["brave", "exa"]
    assert world.search("next").meta()["providers_attempted"] == ["exa"]


@pytest.mark.parametrize("code", ["upstream_invalid", "timeout", "too_large", "trap"])
def test_an_answer_that_cannot_be_read_goes_to_the_next_and_counts(
    make_world: MakeWorld, code: str
) -> None:
    world = make_world(brave=failure(code), exa=found())
    for number in range(6):
        assert world.search(f"q{number}").meta()["provider_used"] == "exa"
    assert world.asked() == {"brave": 5, "exa": 6}


@pytest.mark.requirement("web-researcher:search-setup:all")
def test_without_any_key_every_variable_is_named(make_world: MakeWorld) -> None:
    def missing(name: str) -> FakeProvider:
        return FakeProvider(lambda _: found(), remedy=f"set CARREL_SECRET_{name}_API_KEY")

    error = error_of(make_world(brave=missing("BRAVE"), exa=missing("EXA")))
    assert error.error_code == "config"
    assert "CARREL_SECRET_BRAVE_API_KEY" in error.message
    assert "CARREL_SECRET_EXA_API_KEY" in error.message
    assert (error.retryable, "alternatives" in error.extra) == (False, False)


@pytest.mark.parametrize("code", ["upstream_unavailable", "upstream_invalid", "timeout"])
def test_an_outage_is_reported_before_what_is_not_configured(
    make_world: MakeWorld, code: str
) -> None:
    unset = FakeProvider(lambda _: found(), remedy="set CARREL_SECRET_EXA_API_KEY")
    error = error_of(make_world(brave=failure(code), exa=unset))
    assert (error.error_code, error.retryable) == ("upstream_unavailable", True)
    assert "CARREL_SECRET_EXA_API_KEY" in error.message


@pytest.mark.requirement("web-researcher:search-time-range")
@pytest.mark.requirement("web-researcher:search-filters")
def test_filters_reach_the_provider(make_world: MakeWorld) -> None:
    world = make_world(brave=found())
    world.search(
        time_range="week", safe="high", language="DE", country="at", site="Example.org",
        exact_terms="a desk", exclude_terms="sale", num_results=3,
    )  # fmt: skip
    assert world.providers["brave"].asked == [
        {
            "query": "walled desks",
            "count": 10,
            "time_range": "week",
            "language": "de",
            "country": "AT",
            "exact_terms": "a desk",
            "exclude_terms": "sale",
            "safe": "high",
            "sites": ["example.org"],
        }
    ]


def test_filters_that_a_provider_lacks_are_reported(make_world: MakeWorld) -> None:
    plain = FakeProvider(
        lambda _: found(unapplied=["country"]), takes=("query", "count", "since", "country")
    )
    world = make_world(exa=plain)
    meta = world.search(time_range="day", language="de", country="AQ", safe="off").meta()
    assert meta["filters_not_applied"] == ["language", "safe", "country"]
    assert len(plain.asked[0]["since"]) == 10


def test_a_query_that_is_too_long_for_one_provider_goes_to_another(make_world: MakeWorld) -> None:
    world = make_world(brave=FakeProvider(lambda _: found(), query=400), exa=found())
    assert world.search("x" * 450).meta()["provider_used"] == "exa"
    alone = make_world(brave=FakeProvider(lambda _: found(), query=400))
    assert error_of(alone, query="x" * 450).error_code == "invalid_arguments"


class TestLens:
    def folder(self, tmp_path: Path, engine: str = "") -> Path:
        hosts = ", ".join(f'"h{number}.example"' for number in range(12))
        folder = tmp_path / "lenses"
        folder.mkdir()
        (folder / "desks.toml").write_text(f"hosts = [{hosts}]\n{engine}")
        return folder

    def test_its_hosts_are_named_as_far_as_the_provider_takes_them(
        self, make_world: MakeWorld, tmp_path: Path
    ) -> None:
        answer = found("https://h1.example/", "https://a.h11.example/", "https://x.example/")
        brave = FakeProvider(lambda _: answer, sites=5)
        world = make_world(self.folder(tmp_path), brave=brave)
        results = world.search(lens="desks")
        assert brave.asked[0]["sites"] == [f"h{number}.example" for number in range(5)]
        assert results.meta()["lens_hosts"] == 5
        assert [one.display_link for one in results.results] == ["h1.example", "a.h11.example"]

    @pytest.mark.requirement("web-researcher:search-lens-engine")
    def test_an_engine_of_its_own_is_asked_directly(
        self, make_world: MakeWorld, tmp_path: Path
    ) -> None:
        google = FakeProvider(lambda _: found(), takes=(*TAKES_ALL, "engine"))
        world = make_world(self.folder(tmp_path, 'cx = "abc:1"'), brave=found(), google=google)
        results = world.search(lens="desks")
        assert results.meta()["provider_used"] == "google"
        assert google.asked[0]["engine"] == "abc:1"
        assert "sites" not in google.asked[0]
        assert (results.meta()["fallback"], len(results.results)) == (False, 1)

    @pytest.mark.requirement("web-researcher:search-lens-sites")
    def test_without_that_provider_the_hosts_are_named(
        self, make_world: MakeWorld, tmp_path: Path
    ) -> None:
        google = FakeProvider(lambda _: UNAVAILABLE, takes=(*TAKES_ALL, "engine"))
        brave = FakeProvider(lambda _: found("https://h1.example/"))
        world = make_world(self.folder(tmp_path, 'cx = "abc:1"'), brave=brave, google=google)
        assert world.search(lens="desks").meta()["provider_used"] == "brave"
        assert len(brave.asked[0]["sites"]) == 10

    def test_an_unknown_lens_is_refused(self, make_world: MakeWorld) -> None:
        with pytest.raises(ArgumentError, match="there is no lens 'poetry'"):
            make_world(brave=found()).search(lens="poetry")


def test_a_claim_is_answered_on_every_result(make_world: MakeWorld) -> None:
    answer = {
        "results": [
            result("https://a.example/", snippet="Desks are old. Monks had walled desks."),
            result("https://b.example/", snippet="Nothing."),
        ]
    }
    world = make_world(brave=answer)
    signals = [one.claim_signal for one in world.search(claim="walled desks").results]
    assert signals == ["Monks had walled desks.", ""]
    assert [one.claim_signal for one in world.search().results] == [None, None]


def test_reputation_is_shown_where_it_is_known(make_world: MakeWorld) -> None:
    world = make_world(brave=found("https://en.wikipedia.org/wiki/Carrel", "https://x.example/"))
    first, second = world.search().to_json()["results"]
    assert first["source_reputation"]["tier"] == "mixed"
    assert "source_reputation" not in second


def test_a_cancelled_call_ends_and_does_not_count(make_world: MakeWorld) -> None:
    call = Call("x", "y")

    def cancelled(_arguments: Any) -> Any:
        call.cancel()
        return Cancelled(plugin="x", tool="y")

    world = make_world(brave=FakeProvider(cancelled), exa=found())
    with pytest.raises(Cancelled):
        world.search(call=call)
    assert world.asked() == {"brave": 1, "exa": 0}
    assert world.searcher.providers() == ["brave", "exa"]


def test_one_result_is_the_least_and_more_than_ten_are_reported(make_world: MakeWorld) -> None:
    urls = [f"https://h{number}.example/" for number in range(20)]
    payload = make_world(brave=found(*urls)).search(num_results=50).to_json()
    assert (payload["result_count"], payload["requested_num_results"]) == (10, 50)
