"""Tests that progress of the real server names the reason for a wait, and counts only work."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trustme

from support.compiled_code import share_code
from support.stdio_client import MODERN, StdioClient
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.long("servers")

TESTS = Path(__file__).parents[1]
SERVER = TESTS / "support" / "upstream_server.py"
ARXIV = "export.arxiv.org"
NCBI = "eutils.ncbi.nlm.nih.gov"
FIXTURES = TESTS / "fixtures"

FEED = (FIXTURES / "arxiv" / "old_generation" / "response.xml").read_bytes()

Report = dict[str, Any]


class Server:
    """The real server with a local upstream."""

    def __init__(self, upstream: Upstream, folder: Path, cache: Path) -> None:
        self.upstream = upstream
        settings = folder / "carrel.json"
        authority = str(upstream.write_authority(folder))
        folders = {"cache_dir": str(cache), "data_dir": str(folder)}
        fetch = {"ca_bundle": authority, "cache_max_bytes": 0}
        settings.write_text(json.dumps({**folders, "fetch": fetch}), "utf-8")
        command = [sys.executable, str(SERVER), str(upstream.port)]
        self.client = StdioClient([*command, "serve", "--config", str(settings)])

    def reports(self, token: str) -> list[Report]:
        """Returns a call's progress reports so far."""
        return [
            frame["params"]
            for frame, _ in self.client.pairs
            if frame.get("method") == "notifications/progress"
            and frame["params"]["progressToken"] == token
        ]

    def wait_for(self, token: str, message: str) -> None:
        """Waits until a call reports this message."""
        self.client.wait_for(
            lambda frame: (
                frame.get("method") == "notifications/progress"
                and frame["params"]["progressToken"] == token
                and message in frame["params"].get("message", "")
            )
        )


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, str(TESTS)]))
    cache = tmp_path / "cache"
    share_code(cache)
    with Upstream(ARXIV, NCBI, authority=trustme.CA()) as upstream:
        served = Server(upstream, tmp_path, cache)
        with served.client:
            yield served


def assert_honest(reports: Sequence[Report]) -> None:
    """Checks that progress is rising whole numbers, with a total that is never exceeded."""
    numbers = [report["progress"] for report in reports]
    assert all(isinstance(number, int) for number in numbers), numbers
    assert numbers == sorted(set(numbers))
    for report in reports:
        total = report.get("total")
        assert total is None or (isinstance(total, int) and 0 < report["progress"] <= total)


def messages(reports: Sequence[Report]) -> list[str]:
    """Returns the messages, without heartbeats."""
    texts = [report["message"] for report in reports]
    return [one for one in texts if not one.startswith("still working")]


@pytest.mark.requirement("serve:alive:why-it-waits")
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_the_waits_for_the_slot_and_for_the_response_are_reported(
    server: Server, revision: str
) -> None:
    release = threading.Event()
    server.upstream.on("/api/query", Reply(body=FEED), Reply(body=FEED, hold=release))
    server.client.open(revision)
    server.client.result("arxiv_query", search_query="one")
    second = server.client.start_call("arxiv_query", token="second", search_query="two")
    server.wait_for("second", "waiting for export.arxiv.org to answer")
    release.set()
    assert server.client.answer(second)["result"].get("isError", False) is False
    reports = server.reports("second")
    assert messages(reports)[:3] == [
        "asking arXiv",
        "waiting for a slot at arXiv (1 request in 3 s)",
        "waiting for export.arxiv.org to answer",
    ]
    assert any(
        re.fullmatch(r"still working after \d+ s: .*slot.*", one["message"]) for one in reports
    )
    assert_honest(reports)
    assert server.client.finish() == 0


@pytest.mark.requirement("serve:alive:why-it-waits")
def test_a_retry_after_pause_is_reported(server: Server) -> None:
    busy = Reply(429, headers=[("Retry-After", "5")])
    server.upstream.on("*", busy, Reply(body=b"<eSpellResult><Query>x</Query></eSpellResult>"))
    server.client.open()
    call = server.client.start_call("pubmed_spell", token="spell", term="asthmma")
    server.wait_for("spell", "PubMed asked to wait 5 s")
    server.client.notify("notifications/cancelled", {"requestId": call})
    assert_honest(server.reports("spell"))
    assert server.client.finish() == 0


@pytest.mark.requirement("serve:alive:why-it-waits")
def test_a_retry_is_reported_with_its_reason(server: Server) -> None:
    server.upstream.on("*", Reply(503), Reply(503), Reply(503), Reply(body=FEED))
    server.client.open()
    call = server.client.start_call("arxiv_query", token="again", search_query="one")
    server.wait_for("again", "export.arxiv.org answered with status 503; trying again in ")
    server.client.notify("notifications/cancelled", {"requestId": call})
    assert_honest(server.reports("again"))
    assert server.client.finish() == 0
