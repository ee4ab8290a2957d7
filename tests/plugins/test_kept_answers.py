"""Tests cached responses: only readable ones, absence for minutes, and `refresh`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, builtin
from carrel.errors import CarrelError
from carrel.features import FEATURES
from carrel.fetch import FetchClient, FetchSettings
from carrel.fetch.clock import SystemClock
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.pubmed import BASE, articles, found, summaries
from support.upstream import Reply, Upstream

ARXIV, CROSSREF = "export.arxiv.org", "api.crossref.org"
EUTILS = "eutils.ncbi.nlm.nih.gov"
QUERY = {"search_query": "ti:sandbox", "verify_source_url": False}
FIXTURES = Path(__file__).parents[1] / "fixtures"
XML = [("Content-Type", "application/atom+xml")]
JSON = [("Content-Type", "application/json")]
FEED = (FIXTURES / "arxiv" / "new_generation" / "response.xml").read_bytes()
GOOD = Reply(body=FEED, headers=XML)
WORK = Reply(
    body=json.dumps({"status": "ok", "message-type": "work", "message": {"DOI": "10.5555/a"}})
    .encode(),
    headers=JSON,
)  # fmt: skip


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(ARXIV, "arxiv.org", CROSSREF, EUTILS) as server:
        yield server


class LaterClock(SystemClock):
    """The wall clock plus an offset; calls' deadlines are on the monotonic clock.

    Waits for a slot of the upstream's pace end immediately and increase the offset.
    """

    def __init__(self) -> None:
        self.later = 0.0

    def wall(self) -> float:
        return super().wall() + self.later

    async def sleep(self, seconds: float) -> None:
        self.later += seconds
        await super().sleep(0)


@pytest.fixture
def clock() -> LaterClock:
    return LaterClock()


Open = Callable[..., Toolbox]


@pytest.fixture
def open_toolbox(
    upstream: Upstream, clock: LaterClock, tmp_path: Path, code_folder: Path
) -> Iterator[Open]:
    """Opens a host with the same cache, as a new process does."""
    opened: list[tuple[Toolbox, FetchClient]] = []

    def make(*plugins: str) -> Toolbox:
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path,
            plugins=tuple(map(builtin, plugins or ("arxiv", "crossref"))),
        )
        client = FetchClient(
            FetchSettings(
                cache_path=tmp_path / "answers.sqlite",
                ca_bundle=upstream.write_authority(tmp_path),
                retries=0,
            ),
            resolver=upstream.names,
            dialer=upstream.dial,
            clock=clock,
        )
        plugin_set = PluginSet(config, fetch_client=client)
        toolbox = Toolbox(config, features=FEATURES, plugin_set=plugin_set)
        opened.append((toolbox, client))
        return toolbox

    yield make
    for toolbox, client in opened:
        toolbox.close()
        client.close()


def eprints(*ids: str, total: int | None = None) -> Reply:
    """Returns an arXiv feed with the newest versions of some e-prints."""
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/{one}v1</id><title>Oak</title></entry>" for one in ids
    )
    return Reply(
        body=(
            '<feed xmlns="http://www.w3.org/2005/Atom" '
            'xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
            f"<o:totalResults>{len(ids) if total is None else total}</o:totalResults>"
            f"<o:startIndex>0</o:startIndex>{entries}</feed>"
        ).encode(),
        headers=XML,
    )


def asked(upstream: Upstream) -> int:
    return len([seen for seen in upstream.seen if seen.method == "GET"])


@pytest.mark.requirement("result:typed:unreadable-is-not-kept")
@pytest.mark.parametrize(
    "bad",
    [
        Reply(body=b"<html><body>Sign in to the network</body></html>", headers=XML),
        Reply(body=b'{"error": "backend busy"}', headers=XML),
        Reply(body=FEED[: len(FEED) // 2], headers=XML),
        Reply(body=b"", headers=XML),
    ],
    ids=["page", "gateway", "truncated", "empty"],
)
def test_an_unreadable_response_is_fetched_again(
    open_toolbox: Open, upstream: Upstream, bad: Reply
) -> None:
    upstream.on("/api/query", bad, GOOD)
    first = open_toolbox()
    with pytest.raises(CarrelError):
        first.call_sync("arxiv_query", QUERY)
    again = first.call_sync("arxiv_query", QUERY).data
    assert again["entries"]
    assert asked(upstream) == 2
    assert open_toolbox().call_sync("arxiv_query", QUERY).data == again
    assert asked(upstream) == 2, "a good answer is kept, for other processes too"


@pytest.mark.requirement("result:typed:unreadable-is-not-kept")
def test_an_unreadable_response_is_not_cached_for_other_processes(
    open_toolbox: Open, upstream: Upstream
) -> None:
    upstream.on(
        "*", Reply(body=b"<html>", headers=JSON), Reply(body=b'{"status": "ok"', headers=JSON), WORK
    )
    for _ in range(2):
        with pytest.raises(CarrelError):
            open_toolbox().call_sync("crossref_work", {"doi": "10.5555/a"})
    found = open_toolbox().call_sync("crossref_work", {"doi": "10.5555/a"}).data
    assert found["work"]["ids"]["doi"] == "10.5555/a"


LINKS = (
    b"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>9</Id></IdList><LinkSetDb>"
    b"<DbTo>pubmed</DbTo><LinkName>pubmed_pubmed</LinkName><Link><Id>1</Id></Link></LinkSetDb>"
    b"</LinkSet></eLinkResult>"
)
PARTS: dict[str, tuple[dict[str, Any], str]] = {
    "pubmed_search": ({"query_term": "oak", "fetch_brief_summaries": 1}, "brief_summaries"),
    "pubmed_related": ({"source_pmid": "9"}, "related_articles"),
}


@pytest.mark.requirement("result:typed:discarded-is-not-kept")
@pytest.mark.parametrize("tool", PARTS)
@pytest.mark.parametrize("again", ["same process", "new process"])
@pytest.mark.parametrize(
    "bad",
    [b"<html>busy</html>", b"<eSummaryResult><ERROR>Invalid uid</ERROR></eSummaryResult>"],
    ids=["page", "report"],
)
def test_only_the_unreadable_response_is_fetched_again(
    open_toolbox: Open, upstream: Upstream, tool: str, again: str, bad: bytes
) -> None:
    arguments, part = PARTS[tool]
    busy = Reply(body=bad, headers=[("Content-Type", "text/xml")])
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1")))
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=LINKS))
    upstream.on(f"{BASE}/esummary.fcgi", busy)
    toolbox = open_toolbox("eutils")
    degraded = toolbox.call_sync(tool, arguments).data
    assert "retractions among them are not known" in degraded["notices"][-1]
    first = asked(upstream)
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("1")))
    if again == "new process":
        toolbox = open_toolbox("eutils")
    whole = toolbox.call_sync(tool, arguments).data
    assert "notices" not in whole
    assert whole[part][0]["title"] == "Oak 1"
    assert asked(upstream) == first + 1, "the part alone is asked for"
    assert open_toolbox("eutils").call_sync(tool, arguments).data == whole
    assert asked(upstream) == first + 1, "and what could be read is kept"


@pytest.mark.requirement("result:typed:discarded-is-not-kept")
def test_a_result_with_absent_ids_is_fetched_again(open_toolbox: Open, upstream: Upstream) -> None:
    known = [f"2301.0000{number}" for number in range(1, 4)]
    arguments = {
        "id_list": ",".join([*known, "2301.00009"]),
        "max_results": 1,
        "verify_source_url": False,
    }

    def answer(path: str, whole: Reply) -> Reply:
        return eprints(known[0], total=3) if "max_results=1" in path else whole

    upstream.on("/api/query", lambda seen: answer(seen.path, Reply(body=b"<html>", headers=XML)))
    degraded = open_toolbox().call_sync("arxiv_query", arguments).data
    assert "which, is not known" in degraded["notices"][0]
    assert "not_found" not in degraded
    upstream.on("/api/query", lambda seen: answer(seen.path, eprints(*known)))
    before = asked(upstream)
    named = open_toolbox().call_sync("arxiv_query", arguments).data["not_found"]
    assert named == ["2301.00009"]
    assert asked(upstream) == before + 1


@pytest.mark.requirement("result:typed:discarded-is-not-kept")
def test_an_identifier_with_an_unreadable_record_is_looked_up_again(
    open_toolbox: Open, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"<html>", headers=JSON), WORK)
    counts = [
        len(open_toolbox().call_sync("work_lookup", {"ids": ["10.5555/a"]}).data["works"])
        for _ in range(2)
    ]
    assert counts == [0, 1]


@pytest.mark.requirement("result:typed:absence-is-kept-for-minutes")
def test_a_doi_that_is_registered_a_little_later_is_found(
    open_toolbox: Open, upstream: Upstream, clock: LaterClock
) -> None:
    there = False
    upstream.on("*", lambda _: WORK if there else Reply(404, body=b"Resource not found."))
    toolbox = open_toolbox()

    def code() -> str | None:
        try:
            toolbox.call_sync("crossref_work", {"doi": "10.5555/a"})
        except CarrelError as error:
            return str(error.to_dict()["code"])
        return None

    assert code() == "not_found"
    first = asked(upstream)
    assert code() == "not_found"
    assert asked(upstream) == first, "absence is kept, too"
    there = True
    assert code() == "not_found"
    clock.later += 301
    assert code() is None
    clock.later += 3600
    assert code() is None
    assert asked(upstream) == first + 1, "presence is kept for longer"


@pytest.mark.requirement("result:typed:absence-is-kept-for-minutes")
def test_an_article_that_was_absent_is_looked_up_again_minutes_later(
    open_toolbox: Open, upstream: Upstream, clock: LaterClock
) -> None:
    """NCBI's response for a missing article is status 200 with an empty set."""
    there = False
    upstream.on("*", lambda _: Reply(body=articles(*(["7"] if there else []))))
    toolbox = open_toolbox("eutils")

    def count() -> int:
        return len(toolbox.call_sync("work_lookup", {"ids": ["pmid:7"]}).data["works"])

    assert count() == 0
    there = True
    first = asked(upstream)
    assert (count(), asked(upstream)) == (0, first), "absence is kept, too"
    clock.later += 301
    assert count() == 1
    asked_then = asked(upstream)
    clock.later += 3600
    assert (count(), asked(upstream)) == (1, asked_then), "presence is kept for longer"


@pytest.mark.requirement("result:typed:absence-is-kept-for-minutes")
def test_an_article_that_appears_a_little_later_is_fetched_beside_others(
    open_toolbox: Open, upstream: Upstream, clock: LaterClock
) -> None:
    there = ["7"]
    upstream.on("*", lambda _: Reply(body=articles(*there)))
    toolbox = open_toolbox("eutils")

    def missing() -> list[str]:
        result = toolbox.call_sync("pubmed_fetch", {"pmids": ["7", "8"]}).data
        return list(result.get("not_found_pmids", []))

    assert missing() == ["8"]
    first = asked(upstream)
    there.append("8")
    assert (missing(), asked(upstream)) == (["8"], first), "absence is kept, too"
    clock.later += 301
    assert missing() == []
    then = asked(upstream)
    clock.later += 3600
    assert (missing(), asked(upstream)) == ([], then), "presence is kept for longer"


@pytest.mark.requirement("result:typed:absence-is-kept-for-minutes")
@pytest.mark.parametrize("again", ["same process", "new process"])
def test_an_e_print_that_appears_a_little_later_is_found(
    open_toolbox: Open, upstream: Upstream, clock: LaterClock, again: str
) -> None:
    """arXiv's response for a missing id is status 200 with a feed without its entry."""
    there = ["2301.00001"]
    upstream.on("/api/query", lambda _: eprints(*there))
    asks = {"id_list": "2301.00001,arXiv:2301.00002", "verify_source_url": False}
    toolbox = open_toolbox()

    def missing() -> list[str]:
        result = toolbox.call_sync("arxiv_query", asks).data
        return list(result["not_found"])

    assert missing() == ["2301.00002"]
    first = asked(upstream)
    there.append("2301.00002")
    if again == "new process":
        toolbox = open_toolbox()
    assert (missing(), asked(upstream)) == (["2301.00002"], first), "absence is kept, too"
    clock.later += 360
    assert missing() == []
    then = asked(upstream)
    clock.later += 1800
    assert (missing(), asked(upstream)) == ([], then), "presence is kept for longer"


class TestRefresh:
    @pytest.mark.requirement("result:typed:refresh")
    def test_a_call_can_pass_the_cache_by(self, open_toolbox: Open, upstream: Upstream) -> None:
        newer = FEED.replace(b"<title>", b"<title>New: ")
        upstream.on("/api/query", GOOD, Reply(body=newer, headers=XML))
        toolbox = open_toolbox()
        old = toolbox.call_sync("arxiv_query", QUERY).data
        assert toolbox.call_sync("arxiv_query", QUERY).data == old
        new = toolbox.call_sync("arxiv_query", QUERY, refresh=True).data
        assert new != old
        assert toolbox.call_sync("arxiv_query", QUERY).data == new, "and is kept in turn"
        assert asked(upstream) == 2

    @pytest.mark.requirement("result:typed:refresh")
    def test_an_unreadable_response_to_a_refresh_keeps_the_old_one(
        self, open_toolbox: Open, upstream: Upstream
    ) -> None:
        upstream.on("/api/query", GOOD, Reply(body=b"<html>", headers=XML))
        toolbox = open_toolbox()
        old = toolbox.call_sync("arxiv_query", QUERY).data
        with pytest.raises(CarrelError):
            toolbox.call_sync("arxiv_query", QUERY, refresh=True)
        assert toolbox.call_sync("arxiv_query", QUERY).data == old

    @pytest.mark.requirement("result:typed:refresh")
    def test_a_lookup_passes_it_by_in_every_source(
        self, open_toolbox: Open, upstream: Upstream
    ) -> None:
        upstream.on("*", WORK)
        toolbox = open_toolbox()
        arguments: dict[str, Any] = {"ids": ["10.5555/a"]}

        async def look(*, refresh: bool) -> None:
            def started(call: Any) -> None:
                call.refresh = refresh

            await toolbox.call("work_lookup", arguments, call_started=started)

        asyncio.run(look(refresh=False))
        before = asked(upstream)
        asyncio.run(look(refresh=False))
        assert asked(upstream) == before
        asyncio.run(look(refresh=True))
        assert asked(upstream) > before
