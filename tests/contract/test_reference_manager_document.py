"""Tests the surface `reference-manager` against its document, with the official client.

`requirements_of_surfaces.py` lists the sentences. The server answers from recorded exchanges of
invented works.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from carrel.config.model import DEFAULT_PLUGINS
from support.fake_csl import CITATION, csl_plugin
from support.library_world import (
    crossref,
    crossref_work,
    item,
    not_in_pubmed,
    pubmed,
    write_library,
)
from support.stdio_client import StdioClient
from support.surfaces import Answers, ask, recording, serve_command

pytestmark = pytest.mark.long("surfaces")

ROOT = Path(__file__).parents[2]
PDF = Path(__file__).parents[1] / "fixtures" / "pdf" / "paper" / "document.pdf"
DOI, PMID = "10.5555/new.2020", "99000777"
RIS = "TY  - JOUR\nTI  - Two desks\nAU  - Reyes, Lea\nPY  - 2002\nER  - \n"
CSL_JSON = json.dumps([{"id": "four", "type": "book", "title": "Four desks"}])

#: The document's table of tools: name → its inputs, the optional ones with a question mark.
TOOLS: dict[str, dict[str, Any]] = {
    "search": {"query": "string"},
    "list": {"format?": ["json", "bibtex", "pretty"]},
    "add": {"input": "string | string[]"},
    "remove": {"id": "string", "force": "boolean"},
    "cite": {"ids": "string[]", "style?": "string", "format?": ["text", "html"]},
    "fulltext_attach": {"id": "string", "path": "string"},
    "fulltext_get": {"id": "string"},
    "fulltext_detach": {"id": "string"},
}
RESOURCES = ("library://references", "library://styles", "library://reference/marlow-2019")


def settings(folder: Path, code_folder: Path) -> dict[str, Any]:
    """Returns the configuration of a server in a folder."""
    exchanges = [
        *crossref(DOI, crossref_work(DOI, title=["New desks"])),
        not_in_pubmed(22, DOI),
        pubmed(PMID),
    ]
    plugins: dict[str, Any] = {
        name: {"url": f"builtin:{name}", "enabled": False}
        for name in DEFAULT_PLUGINS
        if name not in {"crossref", "eutils"}
    }
    return {
        "cache_dir": str(code_folder),
        "data_dir": str(folder / "data"),
        "replay_dir": str(recording(folder / "recorded", exchanges)),
        "plugins": {**plugins, "csl": csl_plugin(folder)},
        "documents": {"folders": [str(folder)]},
    }


def command(folder: Path, code_folder: Path, *options: str) -> list[str]:
    return serve_command(
        folder, settings(folder, code_folder), "--surface", "reference-manager", *options
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, code_folder: Path) -> tuple[Path, list[str]]:
    """A folder with a library and files, and the command that serves it."""
    folder = tmp_path_factory.mktemp("reference-manager")
    library = write_library(folder / "mine.json", item())
    (folder / "paper.md").write_text("# The tidy desk\n\nA paragraph.\n", "utf-8")
    (folder / "paper.pdf").write_bytes(PDF.read_bytes())
    return folder, command(folder, code_folder, "--library", str(library))


@pytest.fixture(scope="module")
def answers(world: tuple[Path, list[str]]) -> Answers:
    """A session that uses every tool and every resource."""
    folder, served = world
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "search": ("search", {"query": "author:marlow"}),
        "list": ("list", {}),
        "list json": ("list", {"format": "json"}),
        "list bibtex": ("list", {"format": "bibtex"}),
        "cite": ("cite", {"ids": ["marlow-2019"]}),
        "cite html": ("cite", {"ids": ["marlow-2019"], "style": "apa", "format": "html"}),
        "cite missing": ("cite", {"ids": ["marlow-2019", "nobody"]}),
        "attach": (
            "fulltext_attach", {"id": "marlow-2019", "path": str(folder / "paper.md")},
        ),
        "attach pdf": (
            "fulltext_attach", {"id": "marlow-2019", "path": str(folder / "paper.pdf")},
        ),
        "get": ("fulltext_get", {"id": "marlow-2019"}),
        "detach": ("fulltext_detach", {"id": "marlow-2019"}),
        "add many": ("add", {"input": [DOI, f"PMID:{PMID}", RIS, "10.5555/tidy.2019", "?"]}),
        "add bibtex": ("add", {"input": "@article{desk1, title={One desk}, year={2001}}"}),
        "add json": ("add", {"input": CSL_JSON}),
        "keep": ("remove", {"id": "four", "force": False}),
        "remove": ("remove", {"id": "four", "force": True}),
    }  # fmt: skip
    return ask(served, calls, resources=RESOURCES)


def texts(answers: Answers, name: str) -> list[str]:
    result = answers.results[name]
    assert not result.is_error, result.content
    assert result.structured_content is None
    return [block.text for block in result.content]


@pytest.mark.requirement("reference-manager:tools")
@pytest.mark.requirement("reference-manager:search:input")
@pytest.mark.requirement("reference-manager:list:input")
@pytest.mark.requirement("reference-manager:add:input")
@pytest.mark.requirement("reference-manager:remove:input")
@pytest.mark.requirement("reference-manager:cite:input")
@pytest.mark.requirement("reference-manager:fulltext:input")
def test_the_eight_tools_take_the_documents_inputs(answers: Answers) -> None:
    assert list(answers.tools) == list(TOOLS)
    for name, inputs in TOOLS.items():
        schema = answers.tools[name].input_schema
        required = {one for one in inputs if not one.endswith("?")}
        assert set(schema.get("required", ())) == required, name
        assert set(schema["properties"]) == {one.rstrip("?") for one in inputs}, name
        for key, kind in inputs.items():
            given = schema["properties"][key.rstrip("?")]
            if isinstance(kind, list):
                assert given["enum"] == kind
            elif kind == "string[]":
                assert (given["type"], given["items"]["type"]) == ("array", "string")
            elif kind == "string | string[]":
                assert [one["type"] for one in given["anyOf"]] == ["string", "array"]
            else:
                assert given["type"] == kind


@pytest.mark.requirement("reference-manager:purpose:session")
@pytest.mark.requirement("reference-manager:library-option:read")
@pytest.mark.requirement("reference-manager:search:found")
def test_a_search_returns_references(answers: Answers) -> None:
    [text] = texts(answers, "search")
    [found] = json.loads(text)
    assert (found["id"], found["author"][0]["family"]) == ("marlow-2019", "Marlow")


@pytest.mark.requirement("reference-manager:list:formats")
def test_a_list_has_three_formats(answers: Answers) -> None:
    [pretty] = texts(answers, "list")
    assert "marlow-2019" in pretty
    assert "The tidy desk" in pretty
    [one] = json.loads(texts(answers, "list json")[0])
    assert one["id"] == "marlow-2019"
    assert texts(answers, "list bibtex")[0].lstrip().startswith("@article{marlow-2019")


@pytest.mark.requirement("reference-manager:add:list")
@pytest.mark.requirement("reference-manager:add-formats")
def test_add_takes_pmid_doi_bibtex_ris_and_csl_json(
    answers: Answers, world: tuple[Path, list[str]]
) -> None:
    [text] = texts(answers, "add many")
    assert "Added 3 reference(s):" in text
    assert "Skipped 1 duplicate(s):" in text
    assert "exists as: marlow-2019" in text
    assert "Failed 1 input(s):" in text
    assert "One desk" in texts(answers, "add bibtex")[0]
    assert "Four desks" in texts(answers, "add json")[0]
    kept = json.loads((world[0] / "mine.json").read_text("utf-8"))
    titles = {one["title"] for one in kept}
    assert {"New desks", "Posture at sloped desks", "Two desks", "One desk"} <= titles


@pytest.mark.requirement("reference-manager:remove-force")
def test_remove_needs_force(answers: Answers, world: tuple[Path, list[str]]) -> None:
    assert "requires force: true" in texts(answers, "keep")[0]
    assert texts(answers, "remove")[0].startswith("Removed reference: four\nTitle: Four desks")
    kept = json.loads((world[0] / "mine.json").read_text("utf-8"))
    assert "four" not in {one["id"] for one in kept}


@pytest.mark.requirement("reference-manager:cite:blocks")
@pytest.mark.requirement("reference-manager:cite-defaults")
def test_cite_has_a_block_for_each_id(answers: Answers) -> None:
    assert texts(answers, "cite") == [CITATION]
    assert texts(answers, "cite html") == [CITATION]
    assert texts(answers, "cite missing") == [CITATION, "Error: nobody not found"]


@pytest.mark.requirement("reference-manager:fulltext:session")
@pytest.mark.requirement("reference-manager:markdown")
@pytest.mark.requirement("reference-manager:pdf")
def test_a_full_text_is_markdown_or_the_path_of_a_pdf(
    answers: Answers, world: tuple[Path, list[str]]
) -> None:
    assert texts(answers, "attach") == ["Attached markdown to 'marlow-2019': fulltext.md"]
    markdown, pdf = texts(answers, "get")
    assert markdown == "# The tidy desk\n\nA paragraph.\n"
    location = json.loads(pdf)
    assert list(location) == ["path"]
    assert Path(location["path"]).read_bytes() == PDF.read_bytes()
    assert Path(location["path"]).is_relative_to(world[0] / "attachments")
    assert "fulltext.md" in texts(answers, "detach")[0]


@pytest.mark.requirement("reference-manager:resources")
@pytest.mark.requirement("reference-manager:references")
@pytest.mark.requirement("reference-manager:reference:read")
@pytest.mark.requirement("reference-manager:styles")
def test_the_three_resources_are_json(answers: Answers) -> None:
    assert {"library://references", "library://styles"} <= set(answers.listed)
    assert "library://reference/marlow-2019" in answers.listed
    for uri in RESOURCES:
        assert answers.contents[uri].mime_type == "application/json"
    references = json.loads(answers.contents["library://references"].text)
    assert "marlow-2019" in {one["id"] for one in references}
    assert json.loads(answers.contents[RESOURCES[2]].text)["title"].startswith("The tidy desk")
    styles = json.loads(answers.contents["library://styles"].text)
    assert ("apa" in styles["builtin"], styles["default"]) == (True, "apa")


Call = Callable[[Client], Any]


def failure(served: list[str], call: Call) -> MCPError:
    """Returns the JSON-RPC error of a request."""
    program, *arguments = served
    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    caught: list[MCPError] = []

    async def drive() -> None:
        async with Client(stdio_client(server)) as client:
            try:
                await call(client)
            except MCPError as error:
                caught.append(error)

    anyio.run(drive)
    [error] = caught
    return error


@pytest.mark.requirement("reference-manager:error-format")
@pytest.mark.requirement("reference-manager:error-32000")
@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("remove", {"id": "smith2024", "force": True}, "Reference not found: smith2024"),
        ("remove", {"id": "smith2024", "force": False}, "Reference not found: smith2024"),
        ("fulltext_get", {"id": "smith2024"}, "Reference not found: smith2024"),
        ("fulltext_get", {"id": "desk1"}, "No fulltext attached to 'desk1'"),
        ("fulltext_detach", {"id": "desk1"}, "No fulltext attached to 'desk1'"),
        ("add", {"input": "10.5555/tidy.2019"}, "Duplicate reference: 10.5555/tidy.2019 exists as"),
        ("add", {"input": "10.5555/unknown"}, "10.5555/unknown"),
        ("fulltext_attach", {"id": "smith2024", "path": "x.pdf"}, "Reference not found: smith2024"),
    ],
)
def test_a_failure_of_the_application_is_32000(
    answers: Answers,
    world: tuple[Path, list[str]],
    tool: str,
    arguments: dict[str, Any],
    message: str,
) -> None:
    assert answers.tools  # the session before has added desk1
    error = failure(world[1], lambda client: client.call_tool(tool, arguments))
    assert (error.error.code, error.error.message[: len(message)]) == (-32000, message)


@pytest.mark.requirement("reference-manager:fulltext:denied")
def test_a_file_of_another_folder_names_the_setting(world: tuple[Path, list[str]]) -> None:
    arguments = {"id": "marlow-2019", "path": str(PDF)}
    error = failure(world[1], lambda client: client.call_tool("fulltext_attach", arguments))
    assert error.error.code == -32000
    assert "documents.folders" in error.error.message


@pytest.mark.requirement("reference-manager:reference:missing")
def test_a_reference_that_is_not_there_is_32000(world: tuple[Path, list[str]]) -> None:
    uri = "library://reference/smith2024"
    error = failure(world[1], lambda client: client.read_resource(uri))
    assert (error.error.code, error.error.message) == (-32000, "Reference not found: smith2024")


@pytest.mark.requirement("reference-manager:error-32602")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {}),
        ("search", {"query": 7}),
        ("search", {"query": '"not closed'}),
        ("list", {"format": "xml"}),
        ("remove", {"id": "marlow-2019"}),
        ("cite", {"ids": "marlow-2019"}),
        ("cite", {"ids": ["marlow-2019"], "style": "no-such-style"}),
        ("cite", {"ids": ["marlow-2019"], "format": "rtf"}),
        ("add", {"input": {"doi": DOI}}),
        ("no_such_tool", {}),
    ],
)
def test_wrong_arguments_are_32602(
    world: tuple[Path, list[str]], tool: str, arguments: dict[str, Any]
) -> None:
    error = failure(world[1], lambda client: client.call_tool(tool, arguments))
    assert error.error.code == -32602


@pytest.fixture
def client(world: tuple[Path, list[str]]) -> Iterator[StdioClient]:
    """A client that sees every frame."""
    with StdioClient(world[1]) as opened:
        opened.open()
        yield opened
        assert opened.finish() == 0


@pytest.mark.requirement("reference-manager:error-32601")
@pytest.mark.requirement("reference-manager:error-32600")
@pytest.mark.requirement("reference-manager:transport")
@pytest.mark.requirement("reference-manager:stdout")
def test_other_faults_have_json_rpcs_own_codes(client: StdioClient) -> None:
    assert client.request("references/list")["error"]["code"] == -32601
    client.send({"jsonrpc": "1.0", "id": 77, "method": 5})
    assert client.wait_for(lambda frame: "error" in frame)["error"]["code"] == -32600
    client.result("search", query="desk")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in client.lines)


@pytest.mark.requirement("reference-manager:watching")
@pytest.mark.requirement("reference-manager:independent")
def test_a_change_by_another_process_is_seen_and_reported(
    client: StdioClient, world: tuple[Path, list[str]], code_folder: Path
) -> None:
    client.request("resources/subscribe", {"uri": "library://references"})
    client.result("search", query="desk")
    arguments = ["library", "add", "--config", str(world[0] / "carrel.json")]
    arguments += ["--library", str(world[0] / "mine.json"), "@book{later, title={Later desks}}"]
    subprocess.run([sys.executable, "-m", "carrel", *arguments], check=True, capture_output=True)
    updated = client.notification("notifications/resources/updated")
    assert updated["params"]["uri"] == "library://references"
    client.notification("notifications/resources/list_changed")
    found = client.result("search", query='"later desks"')["content"][0]["text"]
    assert [one["id"] for one in json.loads(found)] == ["later"]


@pytest.mark.requirement("reference-manager:stderr")
@pytest.mark.requirement("reference-manager:stdout:log")
def test_the_log_is_on_stderr_and_only_frames_on_stdout(world: tuple[Path, list[str]]) -> None:
    with StdioClient(world[1]) as client:
        client.open()
        client.result("search", query="desk")
        assert client.finish() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in client.lines)
    assert b" WARNING carrel" in client.stderr
    assert b"jsonrpc" not in client.stderr


@pytest.mark.requirement("reference-manager:library-option:overrides")
@pytest.mark.requirement("reference-manager:own-config")
@pytest.mark.requirement("reference-manager:client-entry")
def test_the_option_of_a_clients_entry_overrides_the_configured_file(
    tmp_path: Path, code_folder: Path
) -> None:
    page = (ROOT / "docs" / "how-to" / "replace-another-server.md").read_text("utf-8")
    section = page.partition("## reference-manager")[2].partition("\n## ")[0]
    [entry] = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    words = json.loads(entry)["mcpServers"]["reference-manager"]["args"]
    own = write_library(tmp_path / "own.json", item("own", title="Own desks"))
    library = {"file": str(write_library(tmp_path / "configured.json", item("configured")))}
    path = tmp_path / "carrel.json"
    path.write_text(json.dumps({**settings(tmp_path, code_folder), "library": library}), "utf-8")
    base = [sys.executable, "-m", "carrel"]
    served = [*base, *(str(own) if word.startswith("/path") else word for word in words)]
    assert str(own) in served
    for option, key in ((True, "own"), (False, "configured")):
        chosen = served if option else served[: served.index("--library")]
        with StdioClient([*chosen, "--config", str(path)]) as client:
            client.open()
            client.result("add", input=json.dumps([{"id": f"{key}-2", "type": "book"}]))
            path.write_text("{}", "utf-8")  # read at the start only
            listed = client.result("list", format="json")["content"][0]["text"]
            assert [one["id"] for one in json.loads(listed)] == [f"{key}-2", key]
            assert client.finish() == 0
        path.write_text(
            json.dumps({**settings(tmp_path / key, code_folder), "library": library}), "utf-8"
        )
    completed = subprocess.run(
        [*base, "library", "list", "--config", str(path)], check=True, capture_output=True
    )
    assert {one["id"] for one in json.loads(completed.stdout)["items"]} == {
        "configured",
        "configured-2",
    }
    assert {one["id"] for one in json.loads(own.read_text("utf-8"))} == {"own", "own-2"}


@pytest.mark.requirement("reference-manager:client-entry:default")
@pytest.mark.requirement("reference-manager:library-option:default")
def test_without_the_option_the_library_is_in_the_data_folder(
    tmp_path: Path, code_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARREL_DATA_DIR", raising=False)
    answers = ask(command(tmp_path, code_folder), {"add": ("add", {"input": CSL_JSON})})
    assert "Four desks" in texts(answers, "add")[0]
    assert (tmp_path / "data" / "library.json").is_file()
