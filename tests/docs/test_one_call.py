"""Tests that `docs/explanation/one-call.md` names the files that a call enters, in order."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from support.stdio_client import StdioClient
from support.upstream import Reply, Upstream

TESTS = Path(__file__).parents[1]
SERVER = TESTS / "support" / "traced_server.py"
FEED = TESTS / "fixtures" / "arxiv" / "new_generation" / "response.xml"
DOCS = TESTS.parent / "docs"
PAGE = DOCS / "explanation" / "one-call.md"
DECISION = DOCS / "decisions" / "0040-files-of-a-request.md"


def files_of_a_call(folder: Path) -> list[str]:
    """Returns the files that a second call of a tool enters, from the line it comes by to its
    answer.
    """
    with Upstream("export.arxiv.org") as upstream:
        upstream.on("/api/query", Reply(body=FEED.read_bytes()))
        authority = upstream.write_authority(folder)
        command = [sys.executable, str(SERVER), str(authority), str(upstream.port), str(folder)]
        with StdioClient(command) as client:
            client.open()
            client.result("arxiv_query", id_list="2301.00001", verify_source_url=False)
            time.sleep(0.5)  # work that the first call leaves running is not part of the second
            os.kill(client.process.pid, signal.SIGUSR1)
            client.result("arxiv_query", id_list="2301.00002", verify_source_url=False)
            os.kill(client.process.pid, signal.SIGUSR2)
            assert client.finish() == 0
    trace: list[str] = json.loads((folder / "trace.json").read_text("utf-8"))
    return trace


def rows() -> list[str]:
    """Returns the files in the page's table."""
    return re.findall(r"^\| `([a-z0-9_/]+\.py)` \|", PAGE.read_text("utf-8"), flags=re.MULTILINE)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGUSR1")
def test_the_page_names_the_files_that_a_call_enters_in_their_order(tmp_path: Path) -> None:
    entered = files_of_a_call(tmp_path)
    assert len(entered) > 40
    assert rows() == entered


def test_the_decision_counts_the_files_of_the_fetch_layer_in_the_table() -> None:
    title = DECISION.read_text("utf-8").splitlines()[0]
    passed = [file for file in rows() if file.startswith("fetch/")]
    assert title == f"# 0040 A request passes {len(passed)} files of the fetch layer"


def test_the_diagram_names_files_of_the_table() -> None:
    participants = re.findall(r"^ +participant .*$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    named = re.findall(r"[a-z0-9_/]+\.(?:py|rs)", " ".join(participants))
    host = [file for file in named if file.endswith(".py")]
    assert len(host) > 5
    assert set(host) <= set(rows())
    assert all((TESTS.parent / file).exists() for file in named if file.endswith(".rs"))
