"""Tests a plugin that was not made for Carrel: an Extism module built with its Rust guest kit.

`examples/extism-plugin` has its source. It runs beside components, with a TLS upstream, and over
stdio with the official client.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
import trustme
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from carrel.config import Config, PluginConfig
from carrel.errors import CarrelError
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.loopback_client import loopback_client
from support.mcp_schema import assert_frames_valid
from support.modules import answering_module, text_at
from support.stdio_client import MODERN, StdioClient
from support.upstream import Reply, SkippingClock, Upstream

MODULES = Path(__file__).parents[2] / "examples" / "extism-plugin" / "modules"
API = "api.ror.org"
Open = Callable[..., Toolbox]


def record(number: str = "012345678", **changes: Any) -> dict[str, Any]:
    return {
        "id": f"https://ror.org/{number}",
        "status": "active",
        "established": 1899,
        "names": [
            {"value": "Bibliothek der Pulte", "types": ["label"], "lang": "de"},
            {"value": "Library of Desks", "types": ["ror_display", "label"], "lang": "en"},
        ],
        "locations": [{"geonames_details": {"name": "Carrelton", "country_code": "GB"}}],
        "links": [{"type": "website", "value": "https://desks.example.org"}],
        **changes,
    }


def page(*records: dict[str, Any], total: int | None = None) -> Reply:
    found = {"number_of_results": total or len(records), "items": records}
    return Reply(body=json.dumps(found).encode())


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def upstream(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(API, "elsewhere.example.org", authority=authority) as server:
        yield server


@pytest.fixture
def open_toolbox(upstream: Upstream, config: Config, tmp_path: Path) -> Iterator[Open]:
    """Yields a toolbox with the built-in arXiv plugin, the module of version 2 and that of version
    1.
    """
    toolboxes: list[Toolbox] = []

    def make(
        *, hosts: tuple[str, ...] = (API,), record: Path | None = None, **entry: Any
    ) -> Toolbox:
        client = loopback_client(upstream, tmp_path, clock=SkippingClock())
        ror = PluginConfig("ror", (MODULES / "ror.wasm").as_uri(), allowed_hosts=hosts, **entry)
        check = PluginConfig("identifiers", (MODULES / "identifiers.wasm").as_uri())
        changed = replace(config, plugins=(*config.plugins, ror, check), record_dir=record)
        toolboxes.append(Toolbox(changed, plugin_set=PluginSet(changed, fetch_client=client)))
        return toolboxes[-1]

    yield make
    for toolbox in toolboxes:
        toolbox.close()


def test_its_tools_are_listed_with_those_of_components(open_toolbox: Open) -> None:
    tools = {tool.name: tool for tool in open_toolbox().tools()}
    assert list(tools)[:3] == ["arxiv_query", "ror_search", "ror_describe"]
    assert "identifiers_check" in tools
    assert tools["ror_search"].read_only
    assert tools["ror_search"].open_world
    assert tools["ror_describe"].output_schema is None


def test_a_search_is_structured_content_and_the_modules_own_text(
    open_toolbox: Open, upstream: Upstream
) -> None:
    upstream.on("/v2/organizations", page(record(), record("098765432"), total=31))
    result = open_toolbox().call_sync("ror_search", {"query": "library of désks", "country": "GB"})
    assert result.structured
    assert result.data["total"] == 31
    assert result.data["organizations"][0] == {
        "id": "012345678",
        "name": "Library of Desks",
        "other_names": ["Bibliothek der Pulte"],
        "country": "GB",
        "city": "Carrelton",
        "status": "active",
        "established": 1899,
        "website": "https://desks.example.org",
    }
    assert result.content == (
        {"type": "text", "text": "012345678: Library of Desks\n098765432: Library of Desks"},
    )
    [seen] = upstream.seen
    assert parse_qs(urlsplit(seen.path).query) == {
        "query": ["library of désks"],
        "filter": ["country.country_code:GB"],
    }
    assert seen.headers["accept"] == "application/json"
    assert seen.headers["user-agent"].startswith("carrel/")


def test_env_vars_are_its_configuration(open_toolbox: Open, upstream: Upstream) -> None:
    upstream.on("/v2/organizations", page(record(), record(), record()))
    toolbox = open_toolbox(env_vars={"language": "de", "page_size": "1"})
    [found] = toolbox.call_sync("ror_search", {"query": "x"}).data["organizations"]
    assert found["name"] == "Bibliothek der Pulte"


def test_a_tool_without_output_schema_returns_content_blocks(
    open_toolbox: Open, upstream: Upstream
) -> None:
    upstream.on("/v2/organizations/012345678", Reply(body=json.dumps(record()).encode()))
    result = open_toolbox().call_sync("ror_describe", {"id": "https://ror.org/012345678"})
    assert not result.structured
    assert result.content == (
        {"type": "text", "text": "Library of Desks (Carrelton, GB) is active in ROR."},
        {"type": "resource_link", "uri": "ror:012345678", "name": "Library of Desks"},
    )


def test_a_module_of_version_1_runs_too(open_toolbox: Open) -> None:
    toolbox = open_toolbox()
    for identifier, verdict in (("0317-8471", "valid"), ("0317-8472", "not valid")):
        result = toolbox.call_sync("identifiers_check", {"identifier": identifier})
        assert result.content == ({"type": "text", "text": f"{identifier} is {verdict}"},)


@pytest.mark.requirement("result:typed:module-error")
def test_an_error_of_a_module_is_a_tool_error(open_toolbox: Open, upstream: Upstream) -> None:
    upstream.on("/v2/organizations/000000000", Reply(404))
    upstream.on("/v2/organizations", Reply(body=b"<html>not JSON</html>"))
    toolbox = open_toolbox()
    for tool, arguments, words in (
        ("ror_describe", {"id": "000000000"}, "no such organisation"),
        ("ror_describe", {"id": "rubbish"}, "no ROR id"),
        ("ror_search", {"query": "x"}, "expected value"),
    ):
        with pytest.raises(CarrelError, match=words) as caught:
            toolbox.call_sync(tool, arguments)
        assert caught.value.error_code == "upstream_error"


@pytest.mark.requirement("sandbox:hosts:module")
def test_only_the_grant_decides_a_modules_hosts(open_toolbox: Open, upstream: Upstream) -> None:
    with pytest.raises(CarrelError) as caught:
        open_toolbox(hosts=()).call_sync("ror_search", {"query": "x"})
    error = caught.value.to_dict()
    assert error["code"] == "denied"
    assert error["denial_context"]["grant"] == (
        'plugins.ror.runtime_config.allowed_hosts += "api.ror.org"'
    )
    assert error["denial_context"]["grant"] in error["message"]
    assert upstream.seen == []


@pytest.mark.requirement("sandbox:hosts:module-redirect")
def test_a_redirect_does_not_escape_the_grant(open_toolbox: Open, upstream: Upstream) -> None:
    away = Reply(302, [("Location", "https://elsewhere.example.org/loot")])
    upstream.on("/v2/organizations", away)
    with pytest.raises(CarrelError) as caught:
        open_toolbox().call_sync("ror_search", {"query": "x"})
    assert caught.value.error_code == "denied"
    assert "elsewhere.example.org" in caught.value.to_dict()["denial_context"]["grant"]
    assert [seen.host for seen in upstream.seen] == [API]


@pytest.mark.requirement("sandbox:hosts:module-private")
def test_a_granted_name_that_resolves_inside_is_denied(
    open_toolbox: Open, upstream: Upstream
) -> None:
    upstream.names.table[API] = ["169.254.169.254"]
    with pytest.raises(CarrelError) as caught:
        open_toolbox().call_sync("ror_search", {"query": "x"})
    assert caught.value.to_dict()["denial_context"]["reason"] == "private_address"


def test_an_opaque_uri_is_listed_and_read(open_toolbox: Open, upstream: Upstream) -> None:
    upstream.on("/v2/organizations/012345678", Reply(body=json.dumps(record()).encode()))
    toolbox = open_toolbox(env_vars={"language": "de"})
    assert [one.uri for one in toolbox.resources()] == ["ror:about"]
    about = asyncio.run(toolbox.read_resource("ror:about"))
    assert about.content is not None
    assert about.content[0]["mimeType"] == "text/markdown"
    assert "Language of names: de." in about.content[0]["text"]
    found = asyncio.run(toolbox.read_resource("ror:012345678"))
    assert found.content is not None
    assert json.loads(found.content[0]["text"])["name"] == "Bibliothek der Pulte"


def test_skip_patterns_hide_a_modules_lists(open_toolbox: Open) -> None:
    toolbox = open_toolbox(
        skip_tools=("desc.*",),
        skip_prompts=("affiliation",),
        skip_resources=("ror:about",),
        skip_resource_templates=(r"ror:\{id\}",),
    )
    assert [tool.name for tool in toolbox.tools() if tool.plugin == "ror"] == ["ror_search"]
    assert [*toolbox.resources(), *toolbox.prompts.templates(), *toolbox.prompts.listed()] == []
    for uri in ("ror:about", "ror:012345678"):
        with pytest.raises(CarrelError, match="unknown resource"):
            asyncio.run(toolbox.read_resource(uri))


@pytest.fixture
def recordings(open_toolbox: Open, upstream: Upstream, tmp_path: Path) -> Path:
    """Returns a folder with a recorded search and a recorded organisation."""
    folder = tmp_path / "recordings"
    upstream.on("/v2/organizations/012345678", Reply(body=json.dumps(record()).encode()))
    upstream.on("/v2/organizations", page(record()))
    toolbox = open_toolbox(record=folder)
    toolbox.call_sync("ror_search", {"query": "desks"})
    asyncio.run(toolbox.read_resource("ror:012345678"))
    return folder


@pytest.fixture
def command(recordings: Path, code_folder: Path, tmp_path: Path) -> list[str]:
    """Returns the command `carrel serve` with the two modules and the recordings."""
    settings = tmp_path / "carrel.json"
    plugins = {
        "ror": {
            "url": (MODULES / "ror.wasm").as_uri(),
            "runtime_config": {"allowed_hosts": [API]},
        },
        "identifiers": {"url": (MODULES / "identifiers.wasm").as_uri()},
    }
    folders = {"cache_dir": str(code_folder), "data_dir": str(tmp_path)}
    settings.write_text(json.dumps({**folders, "plugins": plugins}), encoding="utf-8")
    options = ["--config", str(settings), "--replay", str(recordings)]
    return [sys.executable, "-m", "carrel", "serve", *options]


@pytest.mark.requirement("serve:alive:module-official-client")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_uses_all_that_it_offers(
    command: list[str], mode: Literal["auto", "legacy"]
) -> None:
    server = StdioServerParameters(command=command[0], args=command[1:])

    async def drive() -> None:
        async with Client(stdio_client(server), mode=mode) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert {"arxiv_query", "ror_search", "identifiers_check"} <= listed
            found = await client.call_tool("ror_search", {"query": "desks"})
            assert found.structured_content is not None
            assert found.structured_content["total"] == 1
            [resource] = [
                one
                for one in (await client.list_resources()).resources
                if one.uri.startswith("ror:")
            ]
            about: Any = (await client.read_resource(resource.uri)).contents[0]
            assert about.text.startswith("# ROR")
            [template] = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "ror:{id}"
            organisation: Any = (await client.read_resource("ror:012345678")).contents[0]
            assert json.loads(organisation.text)["city"] == "Carrelton"
            [prompt] = (await client.list_prompts()).prompts
            assert prompt.name == "ror_affiliation"
            filled = await client.get_prompt(prompt.name, {"affiliation": "Univ. of X"})
            text: Any = filled.messages[0].content
            assert text.text.endswith("Univ. of X")
            values = await client.complete(
                PromptReference(name=prompt.name), {"name": "country", "value": "c"}
            )
            assert values.completion.values == ["CA", "CH", "CN"]
            none = await client.complete(
                ResourceTemplateReference(uri=template.uri_template), {"name": "id", "value": "0"}
            )
            assert none.completion.values == []
            with pytest.raises(MCPError, match="affiliation is required"):
                await client.get_prompt(prompt.name, {})
            with pytest.raises(MCPError, match="did you mean 'ror_affiliation'"):
                await client.get_prompt("ror_afiliation", {})

    anyio.run(drive)


@pytest.mark.requirement("stdio:pure:module")
@pytest.mark.parametrize(
    "revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN]
)
def test_every_frame_of_a_session_is_valid(command: list[str], revision: str) -> None:
    with StdioClient(command) as client:
        capabilities = client.open(revision)["capabilities"]
        assert "prompts" in capabilities
        assert ("completions" in capabilities) == (revision != "2024-11-05")
        client.request("tools/list")
        linked = client.request("resources/read", {"uri": "ror:012345678"})["result"]
        assert linked["contents"][0]["_meta"] == {"carrel/content": "untrusted-external-content"}
        client.request("resources/list")
        client.request("resources/templates/list")
        client.request("prompts/list")
        arguments = {"affiliation": "x"}
        client.request("prompts/get", {"name": "ror_affiliation", "arguments": arguments})
        result = client.result("ror_search", query="desks")
        assert ("structuredContent" in result) == (revision not in ("2024-11-05", "2025-03-26"))
        result = client.result("ror_describe", id="012345678")
        assert "structuredContent" not in result
        kinds = [block["type"] for block in result["content"]]
        old = revision in ("2024-11-05", "2025-03-26")
        assert kinds == (["text", "text"] if old else ["text", "resource_link"])
        client.result("identifiers_check", identifier="0317-8471")
        assert client.result("ror_search", query="never recorded")["isError"]
        missing = client.request("resources/read", {"uri": "ror:"})
        assert missing["error"]["code"] == (-32602 if revision == MODERN else -32002)
        assert client.finish() == 0
        assert_frames_valid(revision, client.pairs)


@pytest.mark.requirement("stdio:pure:module-news")
def test_progress_and_news_of_lists_reach_the_client(tmp_path: Path, code_folder: Path) -> None:
    progress = json.dumps({"progress": 1, "total": 2, "progressToken": "t", "message": "half"})
    answers = {
        "list_tools": {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]},
        "list_prompts": {"prompts": [{"name": "p"}]},
    }
    notifier = answering_module(
        answers,
        f"""
        (call $notify_progress (call $put (i32.const 8) (i32.const {len(progress)})))
        (call $notify_tool_list_changed) (call $notify_prompt_list_changed)
        (call $notify_resource_list_changed)
        (call $say (call $put (i32.const 0) (i32.const 2)))
        """,
        export="call_tool",
        data=text_at(0, "{}") + text_at(8, progress),
    )
    (tmp_path / "news.wasm").write_bytes(notifier.wasm)
    settings = tmp_path / "carrel.json"
    plugins = {"news": {"url": (tmp_path / "news.wasm").as_uri()}}
    folders = {"cache_dir": str(code_folder), "data_dir": str(tmp_path)}
    settings.write_text(json.dumps({**folders, "plugins": plugins}), encoding="utf-8")
    command = [sys.executable, "-m", "carrel", "serve", "--config", str(settings)]
    with StdioClient(command) as client:
        client.open()
        client.start_call("news_tell", token="mine")
        params = client.notification("notifications/progress")["params"]
        assert (params["progress"], params["total"], params["message"]) == (1, 2, "half")
        for kind in ("tools", "prompts", "resources"):
            client.notification(f"notifications/{kind}/list_changed")
        assert client.finish() == 0
        assert_frames_valid("2025-11-25", client.pairs)
