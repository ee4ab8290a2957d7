"""Tests the sentences about large results, which are links, and about the age of an answer."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from support.web_world import web_researcher

from .conftest import BIG, Session

pytestmark = pytest.mark.long("surfaces")


@pytest.mark.requirement("web-researcher:scrape-raw")
@pytest.mark.requirement("web-researcher:link-inline")
def test_a_small_source_is_inline_and_verbatim(answers: Session) -> None:
    source = answers.data("raw")
    assert source["raw"] is True
    assert source["content"] == "Walls of desks."
    assert source["contentType"] == "text/plain"
    assert not {"extractionQuality", "metadata", "structuredData"} & source.keys()


@pytest.mark.requirement("web-researcher:link")
@pytest.mark.requirement("web-researcher:link-summary")
@pytest.mark.requirement("web-researcher:link-id")
@pytest.mark.requirement("web-researcher:link-template")
@pytest.mark.requirement("web-researcher:link-tools")
def test_a_large_source_is_a_summary_and_a_link(answers: Session) -> None:
    text, link = answers.results["raw big"].content
    summary = json.loads(text.text)
    assert summary == answers.results["raw big"].structured_content
    assert summary["resource"] == str(link.uri)
    assert link.type == "resource_link"
    assert set(summary) == {
        "resource", "bytes", "mimeType", "summary", "expiresAt", "linked", "contentSizeBytes",
    }  # fmt: skip
    assert (summary["linked"], summary["mimeType"]) == (True, "application/json")
    assert summary["contentSizeBytes"] == 45_000
    body = answers.artifact.text.encode()
    assert (len(body), answers.artifact.mime_type) == (summary["bytes"], "application/json")
    assert summary["resource"] == f"research://artifact/{hashlib.sha256(body).hexdigest()}"
    assert json.loads(body)["content"].startswith("walls of desks\n")
    assert answers.templates == ["research://artifact/{id}"]


@pytest.mark.requirement("web-researcher:link-expiry")
def test_an_artifact_that_is_not_there_is_not_found(answers: Session) -> None:
    assert answers.missing is not None
    assert answers.missing.error.code in {-32002, -32602}


@pytest.mark.requirement("web-researcher:link-store")
def test_what_is_kept_is_encrypted(
    tmp_path: Path, settings: dict[str, Any], code_folder: Path
) -> None:
    words = web_researcher(tmp_path, {**settings, "data_dir": str(tmp_path / "data")})

    async def drive() -> None:
        server = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            answer = await client.call_tool("scrape_page", {"url": BIG, "mode": "raw"})
            assert answer.structured_content["linked"]

    anyio.run(drive)
    files = [one for one in (tmp_path / "data").rglob("*") if one.is_file()]
    assert any(one.name.startswith("artifacts") for one in files)
    assert all(b"walls of desks" not in one.read_bytes() for one in files)


@pytest.mark.requirement("web-researcher:freshness")
@pytest.mark.requirement("web-researcher:link-meta")
def test_a_cached_page_says_how_old_it_is(answers: Session) -> None:
    assert "cached" not in (answers.results["page"].meta or {})
    meta = answers.results["page again"].meta
    assert meta["cached"] is True
    assert meta["maxAgeSeconds"] == 3600
    assert meta["ageSeconds"] >= 0
    assert meta["freshness"] == "cached"
