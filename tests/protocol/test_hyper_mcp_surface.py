"""Tests the surface `hyper-mcp` with the official client and a configuration file of hyper-mcp's.

The file names two plugins: the built-in arXiv plugin, whose tool has the arguments and results of
the arxiv-plugin, and an Extism module under two names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.modules import answering_module
from support.surfaces import Answers, ask, recording, serve_command

FEED = b"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<title>arXiv Query</title><opensearch:totalResults>2</opensearch:totalResults>
<opensearch:startIndex>1</opensearch:startIndex><opensearch:itemsPerPage>2</opensearch:itemsPerPage>
<entry><id>http://arxiv.org/abs/hep-ex/0307015v1</id><title>Quarks
  at a desk</title><summary> Short. </summary>
<published>2003-07-07T00:00:00Z</published><updated>2003-07-08T00:00:00Z</updated>
<author><name>A. Reader</name><arxiv:affiliation>Nowhere</arxiv:affiliation></author>
<arxiv:doi>10.5555/desk.1</arxiv:doi>
<link href="http://dx.doi.org/10.5555/desk.1" rel="related" title="doi"/>
<link href="http://arxiv.org/abs/hep-ex/0307015v1" rel="alternate" type="text/html"/>
<link href="http://arxiv.org/pdf/hep-ex/0307015v1" rel="related" title="pdf"/>
<arxiv:primary_category term="hep-ex"/><category term="hep-ex"/>
<arxiv:comment>4 pages</arxiv:comment><arxiv:journal_ref>J. Desks 1</arxiv:journal_ref>
</entry></feed>"""
EVERY = (
    "https://export.arxiv.org/api/query?search_query=ti:desk&id_list=2301.00001,hep-ex/0307015"
    "&start=1&max_results=2&sortBy=lastUpdatedDate&sortOrder=ascending"
)
ARGUMENTS = {
    "search_query": "ti:desk",
    "id_list": "2301.00001,hep-ex/0307015",
    "start": 1,
    "max_results": 2,
    "sortBy": "lastUpdatedDate",
    "sortOrder": "ascending",
    "verify_source_url": False,
}
SANDBOX = {"search_query": "ti:sandbox AND cat:cs.CR", "max_results": 3}
NOTES = answering_module(
    {
        "list_tools": {
            "tools": [
                {"name": "ask.twice", "inputSchema": {"type": "object"}},
                {"name": "hidden", "inputSchema": {"type": "object"}},
            ]
        },
        "call_tool": {"content": [{"type": "text", "text": "asked"}]},
        "list_prompts": {"prompts": [{"name": "greet"}]},
        "get_prompt": {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]},
        "list_resources": {"resources": [{"uri": "note://desk/one/two", "name": "one"}]},
        "list_resource_templates": {
            "resourceTemplates": [{"uriTemplate": "note://desk/{page}", "name": "page"}]
        },
        "read_resource": {"contents": [{"uri": "note://desk/one/two", "text": "a note"}]},
    }
)
LISTED, COVERED = "note://desk/notes/one/two", "note://desk/Notes2/nine"


@pytest.fixture(scope="module")
def answers(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    folder = tmp_path_factory.mktemp("hyper")
    module = folder / "notes.wasm"
    module.write_bytes(NOTES.wasm)
    replay = recording(
        folder / "recording", [(EVERY, "application/atom+xml", FEED)], example="arxiv-query"
    )
    skipping = {"url": module.as_uri(), "runtime_config": {"skip_tools": ["hidden"]}}
    settings: dict[str, Any] = {
        "auths": {},
        "plugins": {
            "arxiv": {
                "url": "builtin:arxiv",
                "runtime_config": {"allowed_hosts": ["export.arxiv.org", "arxiv.org"]},
            },
            "notes": skipping,
            "Notes2": skipping,
        },
    }
    command = serve_command(folder, settings, "--surface", "hyper-mcp", "--replay", str(replay))
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "every argument": ("arxiv-query", ARGUMENTS),
        "verified": ("arxiv-query", SANDBOX),
        "neither": ("arxiv-query", {"start": 1}),
        "module": ("notes-ask.twice", {}),
    }
    env = {"CARREL_CACHE_DIR": str(code_folder), "CARREL_DATA_DIR": str(folder)}
    return ask(command, calls, resources=[LISTED, COVERED], env=env)


@pytest.mark.requirement("surface:listed:hyper-mcp")
def test_tools_have_the_plugins_name_as_prefix_and_nothing_else_is_listed(
    answers: Answers,
) -> None:
    assert list(answers.tools) == ["arxiv-query", "notes-ask.twice", "Notes2-ask.twice"]


@pytest.mark.requirement("surface:arguments:hyper-mcp")
def test_every_argument_of_the_arxiv_plugin_is_offered_and_used(answers: Answers) -> None:
    assert set(ARGUMENTS) <= set(answers.tools["arxiv-query"].input_schema["properties"])
    found = answers.data("every argument")
    assert (found["total_results"], found["start_index"], found["items_per_page"]) == (2, 1, 1)
    assert found["entries"] == [
        {
            "id": "hep-ex/0307015v1",
            "title": "Quarks at a desk",
            "summary": "Short.",
            "published": "2003-07-07T00:00:00Z",
            "updated": "2003-07-08T00:00:00Z",
            "authors": [{"name": "A. Reader", "affiliations": ["Nowhere"]}],
            "primary_category": "hep-ex",
            "categories": ["hep-ex"],
            "comment": "4 pages",
            "journal_ref": "J. Desks 1",
            "dois": [{"doi": "10.5555/desk.1", "url": "http://dx.doi.org/10.5555/desk.1"}],
            "abstract_url": "http://arxiv.org/abs/hep-ex/0307015v1",
            "pdf_url": "http://arxiv.org/pdf/hep-ex/0307015v1",
        }
    ]


@pytest.mark.requirement("surface:results:hyper-mcp")
def test_results_are_those_of_the_plugins(answers: Answers) -> None:
    verified = answers.data("verified")["entries"]
    assert [entry["id"] for entry in verified] == ["2507.90417v2", "2506.90233v1", "2503.90108v1"]
    assert any("source_url" in entry for entry in verified)
    assert answers.results["neither"].is_error
    assert answers.results["module"].content[0].text == "asked"


@pytest.mark.requirement("surface:resources:hyper-mcp")
def test_uris_have_the_plugins_name_before_their_path(answers: Answers) -> None:
    assert list(answers.listed) == [LISTED, "note://desk/Notes2/one/two"]
    assert {one.text for one in answers.contents.values()} == {"a note"}
    assert answers.templates == ["note://desk/notes/{page}", "note://desk/Notes2/{page}"]


def test_prompts_have_the_plugins_name_as_prefix(answers: Answers) -> None:
    assert list(answers.texts) == ["notes-greet", "Notes2-greet"]
    assert answers.texts["Notes2-greet"].messages[0].content.text == "hi"


def test_a_file_without_plugins_lists_nothing(tmp_path: Path, code_folder: Path) -> None:
    settings = {"cache_dir": str(code_folder), "data_dir": str(tmp_path)}
    found = ask(serve_command(tmp_path, settings, "--surface", "hyper-mcp"), {})
    assert (found.tools, found.listed) == ({}, {})
    assert json.loads((tmp_path / "carrel.json").read_text()) == settings
