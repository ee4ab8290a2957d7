from __future__ import annotations

import logging
from typing import Any

import pytest

from carrel.fetch import HostRule
from support.fetch_harness import ARXIV, EVERY_METHOD, MakeHarness
from support.upstream import Reply, Upstream


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.fetch for record in caplog.records if hasattr(record, "fetch")]


def test_every_request_and_hop_writes_one_line(
    make_harness: MakeHarness, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("/a", Reply(302, [("Location", "/b?secret=1")]))
    upstream.on("/b", Reply(body=b"12345"))
    harness = make_harness(rules=(HostRule(ARXIV, EVERY_METHOD, cache_seconds=60),))
    with caplog.at_level(logging.INFO, "carrel.fetch"):
        harness.fetch("/a?search=private")
        harness.fetch("/a?search=private")
        harness.fetch("https://evil.example/x")
        harness.fetch("not a url")
    first, second, hit, denied, malformed = lines(caplog)
    assert (first["host"], first["path"], first["status"], first["cache"]) == (
        ARXIV, "/a", 302, "miss",
    )  # fmt: skip
    assert (second["path"], second["status"], second["bytes"], second["hop"]) == ("/b", 200, 5, 1)
    assert (hit["cache"], hit["status"], hit["bytes"]) == ("hit", 200, 5)
    assert (denied["host"], denied["denied"]) == ("evil.example", "host_not_declared")
    assert (malformed["host"], malformed["denied"]) == ("-", "malformed_url")
    assert {line["plugin"] for line in lines(caplog)} == {"arxiv"}
    assert {line["tool"] for line in lines(caplog)} == {"query"}
    assert "private" not in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.requirement("sandbox:secrets:log-injection")
def test_no_part_of_a_request_can_start_a_new_log_line(
    make_harness: MakeHarness, caplog: pytest.LogCaptureFixture
) -> None:
    harness = make_harness()
    with caplog.at_level(logging.INFO, "carrel.fetch"):
        call = harness.call()
        call.tool = "query\nplugin=other status=200 \x1b[31m\u202e"
        harness.fetch("https://evil.example/a%0Aplugin=other", call=call)
        harness.fetch("https://evil.example/\nplugin=other", call=call)
    assert len(caplog.records) == 2
    for record in caplog.records:
        text = record.getMessage()
        assert text.isprintable()
        assert text.isascii()
        assert text.startswith('plugin=arxiv tool="query?plugin=other status=200 ?[31m?" method=')


def test_a_failure_names_its_case(
    make_harness: MakeHarness, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("*", Reply(body=b"\xff"))
    with caplog.at_level(logging.INFO, "carrel.fetch"):
        make_harness().fetch("/a")
    assert [line["failed"] for line in lines(caplog)] == ["undecodable"]
