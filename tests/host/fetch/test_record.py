from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import LimitExceeded, NotRecordedError, StorageError
from carrel.exchange import (
    Call,
    Failure,
    FailureKind,
    Limits,
    Outcome,
    Request,
    Response,
)
from carrel.fetch import RecordingFetcher, ReplayingFetcher
from carrel.fetch.policy.rules import HostRule, Policy
from carrel.fetch.recording import Recordings
from support.fetch_harness import ARXIV, MakeHarness
from support.upstream import Reply, Upstream

URL = f"https://{ARXIV}/api/query?search_query=all:%22dark+matter%22&start=0"
XML = (("content-type", "application/atom+xml; charset=utf-8"), ("x-two", "1"), ("x-two", "2"))
FEED = Response(200, URL, XML, "<feed>caf\u00e9\r\n\u2028\0</feed>\r\n", 25)
SLOW = Failure(FailureKind.RATE_LIMITED, URL, "slower", seconds=2.5)

pytestmark = pytest.mark.requirement("replay:exact:exchange")


class Scripted:
    """A fetcher with a table of responses."""

    def __init__(self, outcomes: dict[Request, Outcome]) -> None:
        self.outcomes = outcomes

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        return [self.outcomes[request] for request in requests]


EXCHANGES: dict[Request, Outcome] = {
    Request("GET", URL): FEED,
    Request("GET", URL, (("accept", "application/json"),)): Response(
        200, URL, (("content-type", "application/json"),), '{"a": 1}', 8
    ),
    Request("HEAD", URL): Response(404, URL, (), "", 0),
    Request("POST", URL, body="ids=1"): Response(200, URL, (), "one", 3),
    Request("POST", URL, body="ids=2"): SLOW,
    Request("GET", "https://evil.example/"): Failure(
        FailureKind.DENIED, "https://evil.example/", "refused", reason="host_not_declared"
    ),
    Request("GET", "not a url"): Failure(
        FailureKind.DENIED, "not a url", "refused", reason="malformed_url", grant="none"
    ),
}


def record(folder: Path, exchanges: dict[Request, Outcome]) -> Call:
    call = Call("arxiv", "query")
    RecordingFetcher(Scripted(exchanges), folder).fetch_all(list(exchanges), call)
    return call


def replay(folder: Path, *requests: Request) -> list[Outcome]:
    call = Call("arxiv", "query")
    outcomes = ReplayingFetcher(folder).fetch_all(requests, call)
    assert call.fatal is None
    return outcomes


def test_a_recording_is_replayed_byte_for_byte(tmp_path: Path) -> None:
    record(tmp_path, EXCHANGES)
    assert replay(tmp_path, *EXCHANGES) == list(EXCHANGES.values())


def test_the_files_can_be_read_by_a_person(tmp_path: Path) -> None:
    record(tmp_path, EXCHANGES)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == len(EXCHANGES) + 3
    assert names[0].startswith("001-GET-export-arxiv-org-api-query-search-query")
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".xml", ".txt"}
    exchange = json.loads((tmp_path / names[0]).read_text(encoding="utf-8"))
    assert exchange["request"] == {"method": "GET", "url": URL}
    body = tmp_path / exchange["response"]["body"]
    assert body.suffix == ".xml"
    assert body.read_bytes() == FEED.body.encode()


def test_a_request_is_the_same_in_another_spelling_but_not_in_another_order(
    tmp_path: Path,
) -> None:
    record(tmp_path, {Request("GET", f"https://{ARXIV}/a?x=1&y=2"): FEED})
    spelled = Request("GET", f"HTTPS://{ARXIV.upper()}:443/b/../a?x=1&y=2#part", body="ignored")
    assert replay(tmp_path, spelled) == [FEED]
    call = Call("arxiv", "query")
    ReplayingFetcher(tmp_path).fetch_all([Request("GET", f"https://{ARXIV}/a?y=2&x=1")], call)
    assert isinstance(call.fatal, NotRecordedError)


def test_an_exchange_that_was_not_recorded_ends_the_call_by_name(tmp_path: Path) -> None:
    record(tmp_path, {Request("GET", URL): FEED})
    call = Call("arxiv", "query")
    asked = [Request("GET", URL), Request("GET", f"https://{ARXIV}/other")]
    outcomes = ReplayingFetcher(tmp_path).fetch_all(asked, call)
    assert outcomes[0] == FEED
    assert isinstance(outcomes[1], Failure)
    assert isinstance(call.fatal, NotRecordedError)
    assert f"{ARXIV}/other" in call.fatal.message
    assert str(tmp_path) in call.fatal.message


def test_recording_again_replaces_the_exchange_files(tmp_path: Path) -> None:
    request = Request("GET", URL)
    record(tmp_path, EXCHANGES)
    before = {path.name for path in tmp_path.iterdir()}
    record(tmp_path, {request: Response(200, URL, (("content-type", "text/html"),), "<p>", 3)})
    after = {path.name for path in tmp_path.iterdir()}
    assert {name.rpartition(".")[2] for name in before ^ after} == {"xml", "html"}
    (replayed,) = replay(tmp_path, request)
    assert isinstance(replayed, Response)
    assert replayed.body == "<p>"
    record(tmp_path, {request: SLOW})
    assert replay(tmp_path, request) == [SLOW]
    assert not list(tmp_path.glob("*.html"))
    assert not list(tmp_path.glob(".*"))


def test_a_replay_charges_the_calls_budgets(tmp_path: Path) -> None:
    record(tmp_path, EXCHANGES)
    fetcher = ReplayingFetcher(tmp_path)
    call = Call("arxiv", "query", limits=Limits(fetches=1))
    fetcher.fetch_all([Request("GET", URL)] * 2, call)
    assert isinstance(call.fatal, LimitExceeded)
    call = Call("arxiv", "query", limits=Limits(fetched_bytes=30))
    fetcher.fetch_all([Request("GET", URL)] * 2, call)
    assert isinstance(call.fatal, LimitExceeded)
    call = Call("arxiv", "query", limits=Limits(response_bytes=10))
    (outcome,) = fetcher.fetch_all([Request("GET", URL)], call)
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.TOO_LARGE


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2}', '{"format": 1}', '{"format": 1, "request": {}}']
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "001-GET-x-12345678.json").write_text(text)
    with pytest.raises(StorageError, match="001-GET-x"):
        ReplayingFetcher(tmp_path)


def test_a_recording_that_loses_its_body_or_points_outside_ends_the_call(tmp_path: Path) -> None:
    record(tmp_path, {Request("GET", URL): FEED})
    (path,) = tmp_path.glob("*.json")
    exchange = json.loads(path.read_text(encoding="utf-8"))
    for name in ("missing.xml", "../outside.xml", ".."):
        exchange["response"]["body"] = name
        path.write_text(json.dumps(exchange))
        call = Call("arxiv", "query")
        ReplayingFetcher(tmp_path).fetch_all([Request("GET", URL)], call)
        assert isinstance(call.fatal, StorageError)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="nowhere"):
        ReplayingFetcher(tmp_path / "nowhere")


def test_a_recording_that_cannot_be_written_ends_the_call(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "gone", create=True)
    (tmp_path / "gone").rmdir()
    call = Call("arxiv", "query")
    exchanges = {Request("GET", URL): FEED}
    RecordingFetcher(Scripted(dict(exchanges)), recordings).fetch_all(list(exchanges), call)
    assert isinstance(call.fatal, StorageError)


def test_a_cancelled_call_records_nothing(tmp_path: Path) -> None:
    call = Call("arxiv", "query")
    call.cancel()
    request = Request("GET", URL)
    RecordingFetcher(Scripted({request: SLOW}), tmp_path).fetch_all([request], call)
    assert not list(tmp_path.iterdir())


def test_bodies_that_are_json_are_not_taken_for_exchanges(tmp_path: Path) -> None:
    record(tmp_path, EXCHANGES)
    assert len(Recordings(tmp_path)) == len(EXCHANGES)
    assert len(list(tmp_path.glob("*.body.json"))) == 1


def test_a_replay_of_real_exchanges_opens_no_connection_and_equals_them(
    make_harness: MakeHarness, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("/a", Reply(302, [("Location", "/b")]))
    upstream.on("/b", Reply(body="caf\u00e9".encode("latin-1"),
                            headers=[("Content-Type", "text/plain; charset=latin-1")]))  # fmt: skip
    upstream.on("/c", Reply(404, body=b"none"))
    harness = make_harness()
    urls = [f"https://{ARXIV}/a", f"https://{ARXIV}/c", "https://evil.example/"]
    requests = [Request("GET", url) for url in urls]
    folder = tmp_path / "recorded"
    live = RecordingFetcher(harness.fetcher, folder).fetch_all(requests, harness.call())
    harness.client.close()
    dialled = len(upstream.dialled)
    assert replay(folder, *requests) == live
    assert len(upstream.dialled) == dialled


def by_hand(folder: Path, name: str, url: str = URL, **changes: object) -> None:
    """Returns an exchange as a person writes one, with only the required fields."""
    exchange = {"format": 1, "request": {"method": "GET", "url": url}, "response": {"status": 200}}
    (folder / name).write_text(json.dumps(exchange | changes), "utf-8")


def skipped(folder: Path) -> dict[str, str]:
    return {one.name: one.reason for one in Recordings(folder).skipped}


@pytest.mark.parametrize("name", ["lamps.json", "a b.JSON", "1-GET.json", "exchange.v2.json"])
def test_an_exchange_written_by_hand_is_replayed_whatever_its_name(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "lamps.txt").write_text("caf\u00e9", "utf-8")
    by_hand(tmp_path, name, response={"status": 200, "body": "lamps.txt"})
    assert replay(tmp_path, Request("GET", URL)) == [Response(200, URL, (), "caf\u00e9", 5)]
    assert skipped(tmp_path) == {}


def test_files_that_are_no_exchange_are_listed_with_the_reason(tmp_path: Path) -> None:
    record(tmp_path, EXCHANGES)
    assert skipped(tmp_path) == {}
    files = {
        "broken.json": '{"format": 1,',
        "list.json": "[]",
        "old.json": '{"format": 2, "request": {}}',
        "bare.json": '{"request": {"method": "GET"}, "response": {}}',
        "answer.xml": "<a/>",
        "lost.body.json": "{}",
        "README.md": "notes",
        ".hidden": "notes",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "deeper").mkdir()
    found = skipped(tmp_path)
    assert {name: reason.partition(":")[0] for name, reason in found.items()} == {
        "answer.xml": "it is neither a .json file nor the body of an exchange",
        "bare.json": 'an exchange begins with "format"',
        "broken.json": "it is not JSON",
        "deeper": "it is a folder",
        "list.json": "it is not an exchange",
        "lost.body.json": "no exchange names it as its body",
        "old.json": 'its "format" is not 1',
    }
    assert replay(tmp_path, *EXCHANGES) == list(EXCHANGES.values())


def test_of_two_exchanges_of_one_request_the_first_is_listed_as_skipped(tmp_path: Path) -> None:
    by_hand(tmp_path, "a.json", response={"status": 200})
    by_hand(tmp_path, "b.json", response={"status": 404})
    assert replay(tmp_path, Request("GET", URL)) == [Response(404, URL, (), "", 0)]
    assert skipped(tmp_path) == {"a.json": "b.json answers the same request"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"request": {"method": "GET"}}, "no member 'url'"),
        ({"response": {}}, "no member 'status'"),
        ({"response": {"status": 200, "body": "gone.xml"}}, "lamps.json, its body: No such file"),
        ({"failure": {"kind": "timout", "url": URL, "message": "m"}}, "'timout' is not a valid"),
        ({"failure": {"kind": "timeout", "why": "x"}}, "failure has unknown members: why"),
    ],
)
def test_an_invalid_exchange_is_reported_with_its_fault(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    by_hand(tmp_path, "lamps.json", **changes)
    with pytest.raises(StorageError) as caught:
        Recordings(tmp_path).find(Request("GET", URL))
    assert says in str(caught.value)
    assert "lamps.json" in str(caught.value)


def test_recording_over_a_hand_written_exchange_changes_only_that_file(tmp_path: Path) -> None:
    other = f"{URL}1"
    (tmp_path / "lamps.xml").write_text("<old/>", "utf-8")
    by_hand(tmp_path, "lamps.json", response={"status": 200, "body": "lamps.xml"})
    by_hand(tmp_path, "lamps.second.json", other)
    by_hand(tmp_path, "[x].json", f"{URL}2")
    record(tmp_path, {Request("GET", URL): FEED})
    recorded = json.loads((tmp_path / "lamps.json").read_text("utf-8"))
    assert replay(tmp_path, Request("GET", URL), Request("GET", other)) == [
        FEED,
        Response(200, other, (), "", 0),
    ]
    names = {path.name for path in tmp_path.iterdir()}
    body = recorded["response"]["body"]
    assert names == {"lamps.json", body, "lamps.second.json", "[x].json"}


@pytest.mark.requirement("sandbox:hosts:replay")
def test_a_replay_refuses_what_the_network_would_refuse(tmp_path: Path) -> None:
    away = "https://elsewhere.example.org/x"
    asked: dict[Request, Outcome] = {
        Request("GET", URL): FEED,
        Request("GET", away): Response(200, away, (), "loot", 4),
        Request("GET", f"https://{ARXIV}/away"): Response(200, away, (), "loot", 4),
        Request("GET", f"https://{ARXIV}/cookie", (("cookie", "x"),)): FEED,
    }
    record(tmp_path, asked)
    policy = Policy("arxiv", [HostRule(ARXIV, frozenset({"GET"}))])
    for request, reason in zip(
        asked, ("", "host_not_declared", "host_not_declared", "header_not_allowed"), strict=True
    ):
        call = Call("arxiv", "query")
        (outcome,) = ReplayingFetcher(tmp_path, policy).fetch_all([request], call)
        if not reason:
            assert outcome == FEED
            assert call.denial is None
        else:
            assert isinstance(outcome, Failure)
            assert outcome.reason == reason
            assert call.denial == outcome
        assert call.fatal is None
