"""Tests remedies: each names a setting and the file that it belongs in."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.cli import remedy as module
from carrel.cli.remedy import change_inside, remedy
from carrel.cli.report import describe
from carrel.errors import (
    BuildError,
    CarrelError,
    HiddenToolError,
    LimitExceeded,
    LoadError,
    LockError,
    RegistryError,
    SignatureError,
    SourceError,
)
from support.command_line import CommandLine


@pytest.fixture(autouse=True)
def _file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "configuration_file", lambda: Path("carrel.toml"))


def denied(grant: str = "") -> SourceError:
    context = {"reason": "host_not_granted", "grant": grant}
    extra = {"denial_context": context}
    return SourceError("denied", "refused", plugin="lists", tool="new", extra=extra)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            denied('plugins.lists.runtime_config.allowed_hosts += "a.example.org"'),
            'in carrel.toml, add "a.example.org" to plugins.lists.runtime_config.allowed_hosts',
        ),
        (denied(), "no setting allows this; the plugin's own manifest would have to"),
        (
            HiddenToolError(
                "lists_new",
                plugin="lists",
                grant='plugins.lists.runtime_config.skip_tools -= "n.*"',
            ),
            'in carrel.toml, remove "n.*" from plugins.lists.runtime_config.skip_tools',
        ),
        (
            LimitExceeded("cpu", 10, plugin="lists", tool="new"),
            "or in carrel.toml, set plugins.lists.runtime_config.limits.cpu_seconds",
        ),
        (
            LoadError("lists: cannot read x.wasm", plugin="lists"),
            "correct what the message names: the plugin itself, or plugins.lists in carrel.toml",
        ),
        (LoadError("x"), "the plugin itself, or its entry in carrel.toml"),
        (
            LockError("lists: changed", plugin="lists"),
            "if it is what you expect, approve it with 'carrel plugin lock lists'",
        ),
        (
            SignatureError("not signed", plugin="lists"),
            "in carrel.toml, add its signer to plugins.lists.trust or trust",
        ),
        (BuildError("no"), "correct what the message names, then build again"),
        (BuildError("no", remedy="install it"), "install it"),
        (RegistryError("log in"), ""),
        (SourceError("not_found", "no", plugin="a", tool="b"), "check the identifier"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, CarrelError) else "",
)
def test_the_remedy_names_the_setting_and_the_file(error: CarrelError, says: str) -> None:
    assert says in remedy(error)
    assert "operator" not in describe(error)


def test_a_remedy_says_that_a_setting_is_set() -> None:
    setting = 'plugins.a.runtime_config.pace."export.example.org"'
    assert change_inside(setting) == f"set {setting}"


def test_a_hidden_tool_is_reported_with_the_setting_that_hides_it(tmp_path: Path) -> None:
    carrel = CommandLine(tmp_path, real=True)
    text = '[plugins.arxiv.runtime_config]\nskip_tools = ["que.*"]\n'
    config = carrel.write("mine.toml", text)
    done = carrel("--config", config, "call", "arxiv_query", "search_query=x")
    assert done.code == 2
    assert "the tool 'arxiv_query' is hidden by the configuration" in done.err
    change = 'in mine.toml, remove "que.*" from plugins.arxiv.runtime_config.skip_tools'
    assert f"what to do: {change}\n" in done.err
    named = carrel("call", "arxiv_query", "search_query=x", env={"CARREL_CONFIG": config})
    assert change.removeprefix("in ") in named.err
