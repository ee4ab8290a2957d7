"""Tests the tool `document_read` as clients see it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.documents.parts import estimated_tokens
from carrel.documents.schema import DEFAULT_CHARS
from carrel.errors import CarrelError
from carrel.exchange import Call
from carrel.plugins.schemas.schema import compile_schema
from support.articles import article, long_article, reader
from support.lookups import LOOP

from .conftest import Open


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "short.xml").write_bytes(article())
    (folder / "long.xml").write_bytes(long_article())
    (folder / "cut.xml").write_bytes(long_article()[:-50])
    (folder / "empty.xml").write_bytes(b"")
    return folder


@pytest.fixture
def granted(open_api: Open, papers: Path) -> Carrel:
    return open_api(papers)


def read(api: Carrel, path: str, **arguments: Any) -> dict[str, Any]:
    result = api.call("document_read", {"path": path, **arguments})
    schema = api.tool("document_read").output_schema
    assert schema is not None
    assert [error.message for error in compile_schema(schema).iter_errors(result.data)] == []
    return result.data


def code(api: Carrel, **arguments: Any) -> str:
    with pytest.raises(CarrelError) as caught:
        api.call("document_read", arguments)
    return caught.value.error_code


@pytest.mark.requirement("documents:granted:off")
def test_it_is_offered_only_where_a_folder_is_granted(open_api: Open, granted: Carrel) -> None:
    tool = granted.tool("document_read")
    assert (tool.plugin, tool.read_only, tool.open_world) == ("carrel", True, True)
    without = open_api()
    assert [one.name for one in without.tools()] == []
    assert code(without, path="short.xml") == "unknown_tool"


def test_its_announcement_is_short_and_has_the_six_sections(granted: Carrel) -> None:
    tool = granted.tool("document_read")
    labels = [line.split(":")[0] for line in tool.description.splitlines()]
    assert labels == ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]
    schema = json.dumps(tool.input_schema, separators=(",", ":"))
    assert len(tool.name + tool.description + schema) / 4 <= 280
    assert len(json.dumps(tool.output_schema, separators=(",", ":"))) / 4 <= 350


def test_a_short_document_is_returned_completely(granted: Carrel) -> None:
    result = read(granted, "short.xml")
    assert result["text"].startswith("# On stones\n")
    assert result["text"].endswith("twice.\n")
    assert (result["format"], result["title"], result["kind"], result["quality"]) == (
        "jats",
        "On stones",
        "research-article",
        "complete",
    )
    assert result["identifiers"] == {"doi": "10.5555/stones.1"}
    assert result["length"] == len(result["text"])
    assert result["tokens"] == estimated_tokens(result["text"].rstrip())
    assert not {"next", "outline"} & set(result)


def test_a_long_document_is_returned_as_an_outline_first(granted: Carrel) -> None:
    result = read(granted, "long.xml")
    assert [one["heading"] for one in result["outline"]] == [
        "Abstract",
        "1 Introduction",
        "2 Materials and Methods",
        "Sites",
        "3 Results",
    ]
    assert result["text"].endswith("## Abstract\n\nIn short.\n\n"), (
        "the text before the first section"
    )
    assert result["length"] > DEFAULT_CHARS
    assert result["next"] == result["outline"][1]["from"]
    assert result["tokens"] < 50
    methods = result["outline"][2]
    assert 1000 < methods["tokens"] < result["length"] / 4


def test_each_section_of_the_outline_can_be_requested(granted: Carrel) -> None:
    whole = granted.read(long_article())
    for entry in read(granted, "long.xml")["outline"]:
        result = read(granted, "long.xml", section=entry["heading"], max_chars=100_000)
        assert result["from"] == entry["from"]
        assert result["tokens"] in {entry["tokens"], entry["tokens"] - 1}
        assert whole.text[entry["from"] :].startswith(result["text"].rstrip())
        assert "outline" not in result
        assert "next" not in result


@pytest.mark.parametrize("text_format", ["markdown", "text"])
def test_parts_make_the_whole(granted: Carrel, text_format: str) -> None:
    pieces, start = [], 0
    while True:
        result = read(granted, "long.xml", **{"from": start}, format=text_format, max_chars=2000)
        assert len(result["text"]) <= 2001
        pieces.append(result["text"].rstrip("\n"))
        if "next" not in result:
            break
        assert not result["text"].rstrip().endswith("number"), "it ends with a paragraph"
        start = result["next"]
    whole = granted.read(long_article(), plain=text_format == "text")
    assert "\n\n".join(pieces) == whole.text.rstrip("\n")


def test_a_long_document_without_headings_is_returned_in_parts(
    open_api: Open, papers: Path
) -> None:
    words = {"kind": "paragraph", "text": "word " * 300}
    sections = [{"level": 1, "blocks": [words] * 10}]
    document = {"identifiers": {}, "sections": sections, "quality": "complete"}
    (papers / "a.rtf").write_bytes(b"{\\rtf1}")
    api = open_api(papers, stranger=reader(document=document))
    result = read(api, "a.rtf")
    assert "outline" not in result
    assert 10_000 < len(result["text"]) <= DEFAULT_CHARS + 1
    assert result["next"] < result["length"]


def test_warnings_and_missing_content_are_reported(open_api: Open, papers: Path) -> None:
    document = {
        "identifiers": {},
        "sections": [],
        "quality": "none",
        "quality_reason": "scanned",
        "pages": 3,
        "warnings": [{"code": "x", "message": "page is a picture", "place": "page 1"}] * 30,
    }
    (papers / "a.rtf").write_bytes(b"{\\rtf1}")
    result = read(open_api(papers, stranger=reader(document=document)), "a.rtf")
    assert (result["quality"], result["quality_reason"], result["pages"]) == ("none", "scanned", 3)
    assert (result["text"], result["tokens"]) == ("", 0)
    assert result["warnings"] == ["page is a picture (page 1)"] * 10


def test_the_same_file_is_not_read_again(granted: Carrel, papers: Path) -> None:
    def words_of(call: dict[str, Any]) -> list[str]:
        messages: list[str] = []
        granted.call(
            "document_read", call, on_progress=lambda _d, _t, words: messages.append(words)
        )
        return messages

    assert "reading as jats" in words_of({"path": "long.xml"})
    assert words_of({"path": "long.xml", "section": "Results"}) == []
    assert "reading as jats" in words_of({"path": "long.xml", "format": "text"})
    (papers / "long.xml").write_bytes(long_article() + b"\n")
    assert "reading as jats" in words_of({"path": "long.xml"}), "its content has changed"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "invalid_arguments"),
        ({"path": ""}, "invalid_arguments"),
        ({"path": "short.xml", "max_chars": 1}, "invalid_arguments"),
        ({"path": "short.xml", "from": -1}, "invalid_arguments"),
        ({"path": "short.xml", "from": 10**9}, "invalid_arguments"),
        ({"path": "short.xml", "section": "Discussion"}, "invalid_arguments"),
        ({"path": "short.xml", "format": "json"}, "invalid_arguments"),
        ({"path": "short.xml", "pages": "1"}, "invalid_arguments"),
        ({"path": "."}, "invalid_arguments"),
        ({"path": "nothing.xml"}, "not_found"),
        ({"path": "../papers/short.xml"}, "denied"),
        ({"path": "/etc/hostname"}, "denied"),
        ({"path": "cut.xml"}, "invalid_document"),
        ({"path": "empty.xml"}, "invalid_document"),
    ],
)
def test_what_cannot_be_done_is_a_typed_error(
    granted: Carrel, arguments: dict[str, Any], expected: str
) -> None:
    assert code(granted, **arguments) == expected


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such pipes")
def test_a_pipe_does_not_hold_a_call_up(granted: Carrel, papers: Path) -> None:
    os.mkfifo(papers / "pipe")
    assert code(granted, path="pipe") == "denied"


def test_cancelling_the_task_interrupts_the_guest(open_api: Open, papers: Path) -> None:
    (papers / "a.rtf").write_bytes(b"{\\rtf1}")
    toolbox = open_api(papers, slow=reader(body=LOOP)).toolbox

    async def run() -> Call:
        started: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        call = toolbox.call("document_read", {"path": "a.rtf"}, call_started=started.set_result)
        task = asyncio.create_task(call)
        running = await started
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return running

    assert asyncio.run(run()).cancelled
