"""Tests how surfaces are found, listed and called, apart from any one of them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.serve import ConfigRenewal
from carrel.cli.session import Options, Session
from carrel.cli.surface import with_surface
from carrel.config import Config, PapersConfig, PluginConfig, ServerConfig
from carrel.errors import ArgumentError, ConfigError, UnknownNameError
from carrel.features import FEATURES
from carrel.surfaces import (
    find_surface,
    open_toolbox,
    surface,
    surface_names,
    with_environment,
)
from carrel.surfaces.prefixed import PrefixedNames, own_uri
from carrel.surfaces.shape import Shape, TargetMissingError, Text
from carrel.tools import Toolbox
from carrel.tools.host_tool import HostTool
from support.guests import guest
from support.manifests import manifest_text
from support.modules import answering_module

NAMES = ["doiget", "hyper-mcp", "pubmed-mcp-server", "reference-manager", "web-researcher"]
#: The surfaces that list their tools.
LISTING = ["doiget", "pubmed-mcp-server"]


def test_every_folder_is_a_surface() -> None:
    assert surface_names() == NAMES
    assert [find_surface(name).name for name in NAMES] == NAMES


@pytest.mark.requirement("surface:listed:unknown")
def test_an_unknown_name_ends_the_command_with_2_and_the_known_names(tmp_path: Path) -> None:
    settings = tmp_path / "carrel.json"
    for given, options in (({}, ["--surface", "doi-get"]), ({"surface": "doi-get"}, [])):
        settings.write_text(json.dumps({"server": given}), encoding="utf-8")
        command = [sys.executable, "-m", "carrel", "serve", "--config", str(settings), *options]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert (run.returncode, run.stdout) == (2, b"")
        stderr = run.stderr.decode()
        assert f"unknown surface 'doi-get'; known: {', '.join(NAMES)}" in stderr


@pytest.mark.parametrize("name", LISTING)
def test_shapes_are_of_listed_tools_and_every_target_is_a_tool_of_carrel(
    name: str, config: Config
) -> None:
    found = find_surface(name)
    assert found.shapes is not None
    assert set(found.shapes.SHAPES) == set(found.tools)
    plugins = tuple(PluginConfig(one, f"builtin:{one}") for one in ("crossref", "eutils"))
    toolbox = Toolbox(replace(config, plugins=plugins), features=FEATURES)
    offered = {one.name for one in toolbox.tools()}
    toolbox.close()
    assert {one.target for one in found.tools.values()} <= offered


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder of surfaces with one that has no Python code."""
    own = tmp_path / "surfaces" / "own_name"
    own.mkdir(parents=True)
    (own / "surface.json").write_text(json.dumps({"name": "own"}), encoding="utf-8")
    tool = {
        "name": "sayBack",
        "calls": "sample_echo",
        "description": "Says it.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "maxLength": 5}},
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
        },
    }
    lost = {**tool, "name": "lost", "calls": "sample_nothing"}
    (own / "tools.json").write_text(json.dumps([tool, lost]), encoding="utf-8")
    monkeypatch.setattr(surface, "_FOLDER", own.parent)
    return own


@pytest.fixture
def toolbox(folder: Path, config: Config, tmp_path: Path) -> Iterator[Toolbox]:
    (tmp_path / "sample.wasm").write_bytes(guest(manifest=manifest_text()).wasm)
    plugin = PluginConfig("sample", (tmp_path / "sample.wasm").as_uri())
    own = open_toolbox(
        replace(config, plugins=(plugin,), server=ServerConfig(surface="own")), features=FEATURES
    )
    yield own
    own.close()


def call(toolbox: Toolbox, name: str, **arguments: Any) -> Any:
    return asyncio.run(toolbox.call(name, arguments))


@pytest.mark.requirement("surface:listed:folder")
def test_a_new_folder_is_a_new_surface_without_code(toolbox: Toolbox) -> None:
    assert surface_names() == ["own"]
    assert [(one.name, one.plugin) for one in toolbox.tools()] == [
        ("sayBack", "sample"),
        ("lost", "carrel"),
    ]
    result = call(toolbox, "sayBack", text="hello")
    assert result.data == toolbox.call_sync("sayBack", {"text": "hello"}).data
    assert json.loads(result.content[0]["text"]) == result.data
    assert (toolbox.resources(), toolbox.prompts.listed(), toolbox.prompts.templates()) == (
        [],
        [],
        [],
    )


def test_arguments_satisfy_the_surfaces_schema_first(toolbox: Toolbox) -> None:
    with pytest.raises(ArgumentError, match="at most 5 characters"):
        call(toolbox, "sayBack", text="too long")
    with pytest.raises(ArgumentError, match="did you mean 'text'"):
        toolbox.call_sync("sayBack", {"txet": ""})


def test_names_of_carrels_tools_are_unknown(toolbox: Toolbox) -> None:
    with pytest.raises(UnknownNameError, match="known: lost, sayBack"):
        call(toolbox, "sample_echo", text="a")
    with pytest.raises(UnknownNameError):
        toolbox.tool("sample_echo")


def test_a_missing_target_is_reported_and_the_tool_stays_listed(toolbox: Toolbox) -> None:
    with pytest.raises(
        TargetMissingError, match="lost needs sample_nothing: unknown tool"
    ) as caught:
        call(toolbox, "lost")
    assert caught.value.error_code == "plugin_unavailable"


@pytest.mark.requirement("surface:results:failure")
def test_a_fault_of_a_shape_is_logged_and_reported_as_internal(
    toolbox: Toolbox, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_arguments: object, _result: object) -> Any:
        raise KeyError("secret text")

    found = find_surface("own")
    own = replace(found.tools["sayBack"], shape=Shape(result=broken, failure=lambda *_: {"ok": 0}))
    toolbox._surface.tools = {"sayBack": own}  # type: ignore[attr-defined]
    assert call(toolbox, "sayBack", text="a").data == {"ok": 0}
    assert "sayBack failed" in caplog.text


def test_the_text_of_a_result_has_no_hidden_characters(toolbox: Toolbox) -> None:
    found = find_surface("own")
    hiding = Shape(result=lambda *_: Text("a\u202eb\x1b\n\tc", {"a": "\u202e"}))
    own = replace(found.tools["sayBack"], shape=hiding)
    toolbox._surface.tools = {"sayBack": own}  # type: ignore[attr-defined]
    assert call(toolbox, "sayBack", text="a").content[0]["text"] == "ab \n\tc"
    own = replace(own, shape=Shape(result=lambda *_: {"a": "\u202e"}))
    toolbox._surface.tools = {"sayBack": own}  # type: ignore[attr-defined]
    assert call(toolbox, "sayBack", text="a").content[0]["text"] == '{"a":"\\u202e"}'


def test_a_reload_keeps_the_surface_of_the_start(tmp_path: Path, code_folder: Path) -> None:
    path = tmp_path / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(tmp_path)}
    path.write_text(json.dumps({**folders, "server": {"surface": "hyper-mcp"}}), encoding="utf-8")
    session = Session(Options(config=path))
    renewal = ConfigRenewal(session, with_surface(session.config(), "pubmed-mcp-server"))
    first = renewal.make()
    path.write_text(json.dumps(folders), encoding="utf-8")
    second = renewal.renew(first)
    for own in (first, second):
        assert [one.name for one in own.tools()] == list(find_surface("pubmed-mcp-server").tools)
    assert not renewal.expects("pubmed_search")
    assert not renewal.may_offer()
    first.close()
    second.close()


def test_variables_of_the_original_set_what_carrel_has_no_setting_for(config: Config) -> None:
    env = {
        "DOIGET_STORE_ROOT": "/srv/papers",
        "DOIGET_CONTACT_EMAIL": "reader@example.org",
        "DOIGET_LOG_RETENTION_DAYS": "30",
    }
    doiget = find_surface("doiget")
    found = with_environment(config, doiget, env)
    assert found.papers == PapersConfig(folder=Path("/srv/papers"), log_retention_days=30)
    assert found.fetch.contact == "reader@example.org"
    own = replace(config, papers=PapersConfig(folder=Path("/own")))
    assert with_environment(own, doiget, env).papers.folder == Path("/own")
    assert with_environment(config, doiget, {"DOIGET_STORE_ROOT": " "}) == config
    pubmed = with_environment(config, find_surface("pubmed-mcp-server"), {"NCBI_MAX_RETRIES": "4"})
    assert pubmed.fetch.retries == 4


def test_a_variable_that_cannot_be_used_is_named(config: Config) -> None:
    env = {"DOIGET_CONTACT_EMAIL": "s3cret", "DOIGET_LOG_RETENTION_DAYS": "many"}
    with pytest.raises(ConfigError) as caught:
        with_environment(config, find_surface("doiget"), env)
    assert [one.partition(":")[0] for one in caught.value.faults] == [
        "DOIGET_CONTACT_EMAIL (environment)",
        "DOIGET_LOG_RETENTION_DAYS (environment)",
    ]
    assert "s3cret" not in str(caught.value)


def test_the_next_configuration_keeps_the_surface(toolbox: Toolbox) -> None:
    config = replace(toolbox.config, server=ServerConfig())
    following = toolbox.successor(config)
    assert [one.name for one in following.tools()] == ["sayBack", "lost"]
    following.close()


def test_without_a_surface_the_tools_are_carrels_own(config: Config) -> None:
    own = open_toolbox(config, features=())
    assert type(own) is Toolbox
    assert all(one.name.startswith("arxiv_") for one in own.tools())
    own.close()


def test_find_surface_lists_the_known_names() -> None:
    with pytest.raises(ConfigError, match="known: doiget, hyper-mcp, pubmed-mcp-server"):
        find_surface("")


@pytest.mark.parametrize(
    ("own", "listed"),
    [
        ("http://example.com/api/endpoint", "http://example.com/notes/api/endpoint"),
        ("http://example.com/", "http://example.com/notes/"),
        ("note://desk", "note://desk/notes/"),
        ("note://desk?page=2#top", "note://desk/notes/?page=2#top"),
        ("note://desk/{page}", "note://desk/notes/{page}"),
        ("doi:10.1000/182", "doi:notes/10.1000/182"),
    ],
)
def test_a_uri_gets_the_plugins_name_and_loses_it_again(own: str, listed: str) -> None:
    assert PrefixedNames("{plugin}-{name}").uri("notes", own) == listed
    plugin, restored = own_uri(listed)
    assert plugin == "notes"
    assert restored.rstrip("/") == own.replace("desk?", "desk/?").rstrip("/")


class TestPrefixedPlugins:
    """Tests the surface `hyper-mcp` below the protocol."""

    def test_one_namespace_may_belong_to_two_plugins(self, config: Config, tmp_path: Path) -> None:
        (tmp_path / "sample.wasm").write_bytes(guest(manifest=manifest_text()).wasm)
        url = (tmp_path / "sample.wasm").as_uri()
        plugins = (*config.plugins, PluginConfig("one", url), PluginConfig("two", url))
        server = ServerConfig(surface="hyper-mcp")
        own = open_toolbox(
            replace(config, plugins=plugins, unnamed=("arxiv",), server=server), features=FEATURES
        )
        assert [one.name for one in own.tools()] == ["one-echo", "two-echo"]
        following = own.successor(replace(config, plugins=plugins, server=server))
        assert [one.name for one in following.tools()][-2:] == ["one-echo", "two-echo"]
        assert not any(isinstance(one, HostTool) for one in following.tools())
        own.close()
        following.close()

    @pytest.fixture
    def notes(self, config: Config, tmp_path: Path) -> Iterator[Toolbox]:
        """Returns the toolbox of one module under two names."""
        module = answering_module(
            {
                "list_tools": {"tools": []},
                "list_prompts": {"prompts": [{"name": "greet"}]},
                "list_resources": {"resources": [{"uri": "note://desk/one", "name": "one"}]},
                "list_resource_templates": {
                    "resourceTemplates": [{"uriTemplate": "note://shelf/{page}", "name": "page"}]
                },
                "complete": {"completion": {"values": ["two"]}},
            }
        )
        (tmp_path / "notes.wasm").write_bytes(module.wasm)
        url = (tmp_path / "notes.wasm").as_uri()
        plugins = (PluginConfig("notes", url), PluginConfig("more", url))
        server = ServerConfig(surface="hyper-mcp")
        own = open_toolbox(replace(config, plugins=plugins, server=server), features=())
        yield own
        own.close()

    def test_arguments_of_prompts_and_templates_are_completed(self, notes: Toolbox) -> None:
        for reference in (
            {"type": "ref/prompt", "name": "more-greet"},
            {"type": "ref/resource", "uri": "note://shelf/notes/{page}"},
        ):
            found = notes.prompts.complete(reference, {"name": "page", "value": "t"}, {})
            assert asyncio.run(found)["values"] == ["two"]

    @pytest.mark.requirement("surface:resources:updated")
    def test_a_changed_document_is_reported_under_its_listed_uris(self, notes: Toolbox) -> None:
        seen: list[str] = []
        notes.on_resource_updated(seen.append)
        for own in ("note://desk/one", "note://shelf/9", "note://elsewhere/x"):
            notes.plugin_set.updated(own)
        assert seen == [
            "note://desk/notes/one",
            "note://desk/more/one",
            "note://shelf/notes/9",
            "note://shelf/more/9",
        ]

    def test_a_hidden_resource_is_unknown(self, config: Config) -> None:
        eutils = PluginConfig("eutils", "builtin:eutils", skip_tools=("resource",))
        server = ServerConfig(surface="hyper-mcp")
        own = open_toolbox(replace(config, plugins=(eutils,), server=server), features=())
        assert own.resources() == []
        with pytest.raises(UnknownNameError):
            own.read_resource_sync("pubmed-connect://info/eutils/")
        own.close()
