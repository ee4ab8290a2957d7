"""Tests the toolboxes of principals, under Carrel's own names and under surfaces."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, LibraryConfig, ServerConfig, WebConfig, builtin
from carrel.errors import UnknownNameError
from carrel.features import FEATURES
from carrel.principal import Principal
from carrel.server.identity.roots import toolbox_of
from carrel.surfaces import open_toolbox
from carrel.tools import Toolbox


@pytest.fixture
def settings(code_folder: Path, tmp_path: Path) -> Config:
    return Config(
        cache_dir=code_folder,
        data_dir=tmp_path,
        plugins=tuple(builtin(name) for name in ("arxiv", "crossref", "eutils")),
        library=LibraryConfig(file=tmp_path / "library.json"),
        replay_dir=tmp_path,
    )


@pytest.fixture
def opened(settings: Config, request: pytest.FixtureRequest) -> Iterator[Toolbox]:
    surface = getattr(request, "param", None)
    config = replace(settings, server=ServerConfig(surface=surface))
    toolbox = open_toolbox(config, features=FEATURES)
    yield toolbox
    toolbox.close()


def alice(plugins: set[str] | None = None, toolsets: set[str] | None = None) -> Principal:
    return Principal(
        "alice",
        plugins=None if plugins is None else frozenset(plugins),
        toolsets=None if toolsets is None else frozenset(toolsets),
    )


def names(toolbox: Toolbox) -> set[str]:
    return {tool.name for tool in toolbox.tools()}


def called(toolbox: Toolbox, name: str) -> Any:
    return asyncio.run(toolbox.call(name, {}))


def test_a_toolbox_has_what_its_principal_may_use(opened: Toolbox) -> None:
    own = toolbox_of(opened, alice({"arxiv"}, {"library"}))
    assert names(own)
    assert {name.split("_")[0] for name in names(own)} == {"arxiv", "library"}
    for name in names(opened) - names(own):
        with pytest.raises(UnknownNameError):
            own.tool(name)
        with pytest.raises(UnknownNameError):
            called(own, name)
        with pytest.raises(UnknownNameError):
            own.start(name, {})
        with pytest.raises(UnknownNameError):
            own.call_sync(name, {})


def test_tools_of_a_toolset_use_only_the_plugins_of_the_principal(opened: Toolbox) -> None:
    own = toolbox_of(opened, alice({"arxiv"}, None))
    assert own.plugin_set.names() == ("arxiv",)
    for question in (own.plugin_set.plugin, own.plugin_set.manifest, own.plugin_set.formats):
        with pytest.raises(UnknownNameError):
            question("crossref")
    assert own.plugin_set.loaded("crossref") is None
    assert own.plugin_set.formats("page"), "readers are used by any toolset"
    assert [one.name for one in own.plugins()] == ["arxiv"]


def test_a_web_search_asks_no_provider_that_the_principal_may_not_use(settings: Config) -> None:
    plugins = (*settings.plugins, builtin("brave"))
    config = replace(settings, plugins=plugins, web=WebConfig(search=("brave",)))
    toolbox = open_toolbox(config, features=FEATURES)
    try:
        own = toolbox_of(toolbox, alice({"arxiv"}))
        assert "web_search" not in names(own)
        with pytest.raises(UnknownNameError):
            own.plugin_set.plugin("brave")
        for granted in (alice({"brave"}, {"web"}), alice()):
            assert "web_search" in names(toolbox_of(toolbox, granted))
    finally:
        toolbox.close()


def test_the_plugins_of_all_principals_are_the_same(opened: Toolbox) -> None:
    own = toolbox_of(opened, alice({"arxiv"}))
    assert own.plugin_set.plugin("arxiv") is opened.plugin_set.plugin("arxiv")
    own.close()
    assert opened.plugin_set.loaded("arxiv") is not None


def test_a_principal_without_grants_has_nothing(opened: Toolbox) -> None:
    own = toolbox_of(opened, alice(set(), set()))
    assert names(own) == set()
    assert list(own.resources()) == []
    assert list(own.resource_templates()) == []


def test_every_tool_has_an_owner(opened: Toolbox) -> None:
    for tool in opened.tools():
        owner = opened.owner_of_tool(tool.name)
        assert owner is not None
        assert (owner.plugin is None) != (owner.toolset is None), tool.name
    assert opened.owner_of_tool("nope") is None


@pytest.mark.parametrize("opened", ["pubmed-mcp-server"], indirect=True)
def test_a_surface_lists_only_tools_that_the_principal_may_use(opened: Toolbox) -> None:
    every = names(toolbox_of(opened, alice()))
    assert every == names(opened)
    none = toolbox_of(opened, alice({"arxiv"}, set()))
    assert names(none) == set()
    assert list(none.resources()) == []
    for name in every:
        with pytest.raises(UnknownNameError):
            called(none, name)
    for resource in opened.resources():
        with pytest.raises(UnknownNameError):
            asyncio.run(none.read_resource(resource.uri))
    assert names(toolbox_of(opened, alice({"eutils"}, set())))


@pytest.mark.parametrize("opened", ["hyper-mcp"], indirect=True)
def test_a_surface_of_plugins_lists_those_of_the_principal(opened: Toolbox) -> None:
    own = toolbox_of(opened, alice({"arxiv"}))
    assert names(own)
    assert all(name.startswith("arxiv") for name in names(own))
    for name in names(opened) - names(own):
        with pytest.raises(UnknownNameError):
            called(own, name)
