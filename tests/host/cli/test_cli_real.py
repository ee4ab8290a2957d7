"""Tests the command line with the built-in arXiv plugin in its sandbox, without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import CommandLine

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
  <opensearch:totalResults>1</opensearch:totalResults>
  <opensearch:startIndex>0</opensearch:startIndex>
  <opensearch:itemsPerPage>1</opensearch:itemsPerPage>
  <entry>
    <id>http://arxiv.org/abs/2301.00001v2</id>
    <title>A made-up
      title with é</title>
    <summary>Nothing.</summary>
    <published>2023-01-01T00:00:00Z</published>
    <updated>2023-01-02T00:00:00Z</updated>
    <author><name>Ada Example</name></author>
  </entry>
</feed>
"""


@pytest.fixture(scope="module")
def carrel(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Returns a home directory for all tests of this file, so that the plugin is compiled once."""
    return CommandLine(tmp_path_factory.mktemp("home"), real=True)


@pytest.mark.requirement("sandbox:parse:command-line")
def test_a_feed_is_printed_as_the_documented_json(carrel: CommandLine) -> None:
    done = carrel("parse", "arxiv", "feed", carrel.write("feed.xml", FEED))
    assert (done.code, done.err) == (0, "")
    [entry] = json.loads(done.out)["entries"]
    assert (entry["id"], entry["title"]) == ("2301.00001v2", "A made-up title with é")


def test_options_lead_to_the_same_output(carrel: CommandLine) -> None:
    carrel.write("empty.toml", "")
    plain = carrel("parse", "arxiv", "feed", stdin=FEED.encode())
    optioned = carrel("parse", "arxiv", "feed", "--config", "empty.toml", stdin=FEED.encode())
    assert plain == optioned


def test_several_documents_give_a_line_each(carrel: CommandLine) -> None:
    carrel.write("feed.xml", FEED)
    carrel.write("cut.xml", FEED[:-200])
    carrel.write("page.html", "<html><body>maintenance</body></html>")
    carrel.write("latin.xml", FEED.replace("UTF-8", "ISO-8859-1").encode("latin-1"))
    names = ["feed.xml", "cut.xml", "page.html", "none.xml", "latin.xml"]
    done = carrel("parse", "arxiv", "feed", *names)
    assert (done.code, done.err) == (1, "")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["file"] for line in lines] == names
    assert lines[0]["result"] == lines[4]["result"]
    assert [line.get("error", {}).get("code") for line in lines] == [
        None,
        "invalid_document",
        "invalid_document",
        "invalid_arguments",
        None,
    ]


def test_an_unknown_format_is_misuse_and_names_the_nearest(carrel: CommandLine) -> None:
    done = carrel("parse", "arxiv", "fed", stdin=FEED.encode())
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'feed'?" in done.err


def test_an_unknown_argument_is_misuse_and_names_the_nearest(carrel: CommandLine) -> None:
    done = carrel("call", "arxiv_query", "sarch_query=x")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'search_query'?" in done.err


@pytest.mark.requirement("replay:exact:missing-is-loud")
def test_a_replay_without_the_exchange_fails_and_says_what_to_do(carrel: CommandLine) -> None:
    (carrel.home / "recordings").mkdir(exist_ok=True)
    done = carrel("call", "arxiv_query", "id_list=2301.00001", "--replay", "recordings")
    assert (done.code, done.out) == (1, "")
    assert "no recording of GET https://export.arxiv.org/" in done.err
    assert "--record" in done.err


@pytest.mark.requirement("sandbox:hosts:denied-exits-with-three")
def test_a_host_that_is_not_granted_is_denied_with_the_grant_that_would_help(
    carrel: CommandLine,
) -> None:
    carrel.write("none.toml", "plugins.arxiv.runtime_config.allowed_hosts = []")
    words = ("call", "arxiv_query", "id_list=2301.00001", "--config", "none.toml")
    done = carrel(*words)
    assert (done.code, done.out) == (3, "")
    assert "export.arxiv.org" in done.err
    assert "plugins.arxiv.runtime_config.allowed_hosts" in done.err


def test_the_tools_the_plugin_and_the_doctor_agree(carrel: CommandLine) -> None:
    names = [tool["name"] for tool in json.loads(carrel("tools").out)]
    assert (names[0], names[-1]) == ("arxiv_query", "paper_retractions")
    inspected = json.loads(carrel("plugin", "inspect", "arxiv").out)
    assert all(host["granted"] for host in inspected["hosts"])
    assert "carrel:plugin/http@1.0.0" in inspected["imports"]
    doctor = carrel("doctor")
    assert doctor.code == 0
    assert json.loads(doctor.out)["ok"] is True


@pytest.mark.skipif(sys.platform == "win32", reason="paths of modules are compared as on POSIX")
def test_parsing_imports_nothing_that_it_does_not_need(carrel: CommandLine) -> None:
    carrel.write("feed.xml", FEED)
    code = "import sys; from carrel.__main__ import main; main(sys.argv[1:])"
    command = [sys.executable, "-X", "importtime", "-c", code, "parse", "arxiv", "feed", "feed.xml"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=carrel.environment(),
        cwd=Path(carrel.home),
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "wasmtime" in imported
    heavy = {"click", "rich", "mcp", "httpx2", "platformdirs", "pydantic", "pydantic_core"}
    heavy |= {"jsonschema_rs", "asyncio", "sqlite3", "tomllib", "wasmtime.component"}
    assert imported & heavy == set()
