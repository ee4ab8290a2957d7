"""Tests features with a minimal one, defined here: a package and one entry in the table."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import cast

import pytest

from carrel.api import Carrel
from carrel.cli.app import make_app, run
from carrel.cli.session import Host, Session
from carrel.config import Config
from carrel.errors import CarrelError
from carrel.features import FEATURES
from carrel.tools import Toolbox
from carrel.tools.feature import Feature

PACKAGE = "carrel_test_greeting"

#: The entry in the table.
GREETING = Feature("greeting", f"{PACKAGE}.tool:make_tools", {"greet": f"{PACKAGE}.command:greet"})

TOOL = """
    from carrel.plugins.manifests.tool_spec import ToolSpec
    from carrel.tools.host_tool import HostTool

    GREET = ToolSpec(
        name="greet",
        title=None,
        description="Greets.",
        input_schema={
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": False,
        },
        output_schema={"type": "object"},
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    )


    def make_tools(plugins, config, manifests):
        return [GreetTool(GREET)]


    class GreetTool(HostTool):
        def answer(self, arguments, call):
            return {"greeting": "hello " + arguments["name"]}
"""

COMMAND = '''
    import click

    from carrel.cli.command import command
    from carrel.cli.output import write_json


    @command("greet", example="greet world")
    @click.argument("name")
    def greet(session, name):
        """Greet a person."""
        with session.open() as host:
            write_json(host.call("greet", {"name": name}).data)
        return 0
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Writes the package that the entry names."""
    folder = tmp_path / PACKAGE
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "tool.py").write_text(dedent(TOOL))
    (folder / "command.py").write_text(dedent(COMMAND))
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [one for one in sys.modules if one.startswith(PACKAGE)]:
        del sys.modules[name]


@pytest.mark.usefixtures("package")
def test_a_feature_in_the_table_offers_its_tool(config: Config) -> None:
    toolbox = Toolbox(config, features=(*FEATURES, GREETING))
    try:
        names = [tool.name for tool in toolbox.tools()]
        assert names[-1] == "greet"
        assert names.index("arxiv_query") < names.index("work_lookup") < names.index("paper_info")
        assert toolbox.tool("greet").plugin == "carrel"
        assert toolbox.call_sync("greet", {"name": "world"}).data == {"greeting": "hello world"}
        with pytest.raises(CarrelError) as caught:
            toolbox.call_sync("greet", {"nam": "world"})
        assert caught.value.error_code == "invalid_arguments"
        assert "greet" in [tool.name for tool in toolbox.successor(config).tools()]
    finally:
        toolbox.close()


@pytest.mark.usefixtures("package")
def test_a_feature_in_the_table_has_its_command(
    config: Config, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    @contextmanager
    def opened(_given: Config) -> Iterator[Host]:
        api = Carrel(config)
        monkeypatch.setattr(api.toolbox, "_features", (*FEATURES, GREETING))
        with api:
            yield cast("Host", api)

    group = make_app((*FEATURES, GREETING))
    session = Session(opener=opened)
    assert run(["greet", "world"], session, group) == 0
    assert json.loads(capsysbinary.readouterr().out) == {"greeting": "hello world"}
    assert run(["--help"], session, group) == 0
    out = capsysbinary.readouterr().out.decode()
    positions = [out.index(f"\n  {name} ") for name in ("call", "lookup", "greet", "parse")]
    assert positions == sorted(positions)


def test_a_toolbox_without_features_offers_the_tools_of_plugins_only(config: Config) -> None:
    toolbox = Toolbox(config)
    try:
        assert {tool.plugin for tool in toolbox.tools()} == {"arxiv"}
    finally:
        toolbox.close()


@pytest.mark.usefixtures("package")
def test_a_feature_is_imported_when_its_tool_or_command_is_first_used(config: Config) -> None:
    group = make_app((GREETING,))
    toolbox = Toolbox(config, features=(GREETING,))
    assert PACKAGE not in sys.modules
    assert group.get_command(None, "greet") is not None  # type: ignore[arg-type]
    assert f"{PACKAGE}.tool" not in sys.modules
    toolbox.tools()
    assert f"{PACKAGE}.tool" in sys.modules
    toolbox.close()
