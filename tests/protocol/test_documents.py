"""Tests `document_read` with the real server and the built-in plugins in their sandboxes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.articles import article, long_article
from support.mcp_schema import assert_frames_valid
from support.stdio_client import MODERN, StdioClient, error_of


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "my papers"
    folder.mkdir()
    (folder / "short.xml").write_bytes(article())
    (folder / "long.xml").write_bytes(long_article())
    return folder


def settings(folder: Path, code_folder: Path, *granted: Path) -> Path:
    path = folder / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(folder)}
    documents = {"folders": [str(one) for one in granted]}
    path.write_text(json.dumps({**folders, "documents": documents}), encoding="utf-8")
    return path


@pytest.fixture(params=["2025-11-25", MODERN])
def session(
    request: pytest.FixtureRequest, papers: Path, tmp_path: Path, code_folder: Path
) -> Iterator[StdioClient]:
    path = settings(tmp_path, code_folder, papers)
    command = [sys.executable, "-m", "carrel", "serve", "--config", str(path)]
    with StdioClient(command) as client:
        opened = client.open(request.param)
        assert "document_read (outline, then sections)" in json.dumps(opened)
        yield client
        assert client.finish() == 0
        assert_frames_valid(request.param, client.pairs)


@pytest.mark.requirement("documents:granted:session")
def test_a_model_can_request_one_section(session: StdioClient, papers: Path) -> None:
    listed = {tool["name"]: tool for tool in session.request("tools/list")["result"]["tools"]}
    assert listed["document_read"]["annotations"]["readOnlyHint"] is True

    first = session.result("document_read", path="long.xml")["structuredContent"]
    assert [one["heading"] for one in first["outline"]][:2] == ["Abstract", "1 Introduction"]
    result = session.result("document_read", path="long.xml", section="results", max_chars=500)
    part = result["structuredContent"]
    assert part["text"].startswith("## 3 Results\n")
    assert part["next"] > part["from"]
    assert json.loads(result["content"][0]["text"]) == part
    assert result["_meta"]["carrel/content"] == "untrusted-external-content"

    refused = error_of(session.result("document_read", path="../carrel.json"))
    assert refused["code"] == "denied"
    assert refused["denial_context"]["grant"] == "documents.folders"
    missing = error_of(session.result("document_read", path="none.xml"))
    assert (missing["code"], papers.name in missing["message"]) == ("not_found", False)


def test_without_a_grant_there_is_no_such_tool(tmp_path: Path, code_folder: Path) -> None:
    path = settings(tmp_path, code_folder)
    command = [sys.executable, "-m", "carrel", "serve", "--config", str(path)]
    with StdioClient(command) as client:
        assert "document_read" not in json.dumps(client.open())
        names = {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
        assert "document_read" not in names
        assert client.call("document_read", path="x")["error"]["code"] == -32602
        assert client.finish() == 0
