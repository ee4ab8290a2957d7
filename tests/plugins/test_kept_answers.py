"""An answer is kept when its plugin could read it, absence for minutes, and anyone can ask anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, builtin
from carrel.errors import CarrelError
from carrel.fetch import FetchClient, FetchSettings
from carrel.fetch.clock import SystemClock
from carrel.plugins.registry import Registry
from carrel.tools import Toolbox
from support.upstream import Reply, Upstream

ARXIV, CROSSREF = "export.arxiv.org", "api.crossref.org"
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
    with Upstream(ARXIV, "arxiv.org", CROSSREF) as server:
        yield server


class LaterClock(SystemClock):
    """The machine's clock, some seconds later; what a call may take is measured on the other."""

    def __init__(self) -> None:
        self.later = 0.0

    def wall(self) -> float:
        return super().wall() + self.later


@pytest.fixture
def clock() -> LaterClock:
    return LaterClock()


Open = Callable[[], Toolbox]


@pytest.fixture
def open_toolbox(
    upstream: Upstream, clock: LaterClock, tmp_path: Path, code_folder: Path
) -> Iterator[Open]:
    """Opens a host over the same cache each time, as a new process would."""
    opened: list[tuple[Toolbox, FetchClient]] = []

    def make() -> Toolbox:
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path,
            plugins=(builtin("arxiv"), builtin("crossref")),
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
        toolbox = Toolbox(config, registry=Registry(config, fetch_client=client))
        opened.append((toolbox, client))
        return toolbox

    yield make
    for toolbox, client in opened:
        toolbox.close()
        client.close()


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
def test_an_answer_that_the_plugin_could_not_read_is_asked_for_again(
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
def test_another_process_is_not_given_an_unreadable_answer_either(
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
    def test_an_unreadable_answer_to_a_refresh_leaves_the_old_one(
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
