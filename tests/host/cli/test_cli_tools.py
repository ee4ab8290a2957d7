"""Tests `carrel tools` and `carrel call TOOL --help`."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel import Carrel, Tool
from carrel.cli.arguments import read_arguments
from carrel.cli.examples import example_of
from carrel.cli.schemas import Argument, read_arguments_of
from carrel.cli.summaries import summaries
from carrel.cli.toolhelp import show_tool
from carrel.plugins.schemas.schema import compile_schema
from support.command_line import CommandLine


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture(scope="module")
def built_in() -> Iterator[list[Tool]]:
    with Carrel() as api:
        yield list(api.tools())


def read_argument(schema: dict[str, Any]) -> Argument:
    [argument, *_] = read_arguments_of({"type": "object", "properties": {"x": schema}})
    return argument


class TestArguments:
    @pytest.mark.parametrize(
        ("schema", "kind", "limits", "allowed", "default"),
        [
            ({"type": "string"}, "text", (), (), ""),
            (
                {"type": "string", "minLength": 3, "maxLength": 20000, "pattern": "^a"},
                "text",
                ("3 to 20,000 characters", "matches ^a"),
                (),
                "",
            ),
            (
                {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
                "whole number",
                ("1 to 200",),
                (),
                "20",
            ),
            (
                {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
                "number",
                ("more than 0", "a multiple of 0.5"),
                (),
                "",
            ),
            ({"type": "boolean", "default": False}, "true or false", (), (), "false"),
            (
                {"enum": ["a", "b"], "default": "a", "description": "D"},
                "text",
                (),
                ("a", "b"),
                "a",
            ),
            ({"const": 7}, "any value", (), ("7",), ""),
            ({"type": "string", "format": "date"}, "text (date)", (), (), ""),
            (
                {
                    "type": "array",
                    "items": {"type": "string", "enum": ["ris"], "maxLength": 9},
                    "minItems": 1,
                    "maxItems": 4,
                    "uniqueItems": True,
                    "default": ["ris"],
                },
                "list of texts",
                ("1 to 4 items", "each once", "at most 9 characters each"),
                ("ris",),
                '["ris"]',
            ),
            (
                {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
                "list of texts or whole numbers",
                (),
                (),
                "",
            ),
            ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "text", (), ("a", "b"), ""),
            ({"type": ["number", "null"]}, "number", (), (), ""),
            ({"$ref": "#/$defs/none"}, "any value", (), (), ""),
            ({}, "any value", (), (), ""),
            (True, "any value", (), (), ""),
        ],
    )
    def test_an_argument_has_its_type_limits_values_and_default(
        self,
        schema: dict[str, Any],
        kind: str,
        limits: tuple[str, ...],
        allowed: tuple[str, ...],
        default: str,
    ) -> None:
        found = read_argument(schema)
        assert (found.kind, found.limits, found.allowed, found.default) == (
            kind,
            limits,
            allowed,
            default,
        )

    def test_members_follow_their_argument_with_required_ones_first(self) -> None:
        inner = {
            "type": "object",
            "properties": {"b": {"type": "integer"}, "c": {"$ref": "#/$defs/c"}},
            "required": ["c"],
        }
        schema = {
            "type": "object",
            "properties": {"a": inner, "z": {"type": "array", "items": inner}},
            "required": ["z"],
            "$defs": {"c": {"type": "string", "description": "C"}},
        }
        found = [(one.name, one.required) for one in read_arguments_of(schema)]
        assert found == [
            ("z", True),
            ("z[].c", True),
            ("z[].b", False),
            ("a", False),
            ("a.c", True),
            ("a.b", False),
        ]

    def test_a_recursive_schema_terminates(self) -> None:
        node: dict[str, Any] = {"type": "object", "properties": {}}
        node["properties"] = {name: {"$ref": "#/$defs/node"} for name in "abcdefgh"}
        schema = {"type": "object", "properties": node["properties"], "$defs": {"node": node}}
        assert len(read_arguments_of(schema)) == 300
        assert read_arguments_of({"$ref": "#"}) == []


#: Unusual schemas of third-party tools, by their peculiarity.
STRANGE: dict[str, dict[str, Any]] = {
    "nothing": {"type": "object"},
    "no arguments": {"type": "object", "properties": {}, "additionalProperties": False},
    "examples": {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^q{9}$", "examples": ["q" * 9]}},
        "required": ["a"],
    },
    "whole example": {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "examples": [{"a": "hello there"}],
    },
    "such as": {
        "type": "object",
        "properties": {
            "a": {
                "type": "string",
                "pattern": "^[a-z]{3}-[0-9]$",
                "description": "A code, such as `abc-1`.",
            }
        },
        "required": ["a"],
    },
    "limits": {
        "type": "object",
        "properties": {
            "a": {"type": "string", "minLength": 30},
            "b": {"type": "integer", "exclusiveMinimum": 41, "maximum": 42},
            "c": {"type": "array", "items": {"type": "integer", "minimum": 5}, "minItems": 2},
            "d": {"type": "string", "format": "date"},
            "e": {"enum": [None, 3]},
            "f": {"type": "boolean"},
            "g": {"type": "string", "maxLength": 1},
        },
        "required": ["a", "b", "c", "d", "e", "f", "g"],
    },
    "objects": {
        "type": "object",
        "properties": {
            "list": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {"doi": {"type": "string", "pattern": "^10\\."}},
                    "required": ["doi"],
                },
            }
        },
        "required": ["list"],
    },
    "one of two": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["b"]}, {"required": ["a", "b"]}],
    },
    "at least one": {
        "type": "object",
        "properties": {"term": {"type": "string"}},
        "minProperties": 1,
    },
    "reference": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/kind"}},
        "required": ["a"],
        "$defs": {"kind": {"anyOf": [{"type": "null"}, {"enum": ["x y", "z"]}]}},
    },
    "quotes": {
        "type": "object",
        "properties": {"a": {"const": 'it\'s "so"\nand $HOME'}},
        "required": ["a"],
    },
    "text that is no number": {
        "type": "object",
        "properties": {"a": {"type": ["string", "integer"], "const": 5}},
        "required": ["a"],
    },
}


def accepts(schema: dict[str, Any], words: list[str]) -> bool:
    typed = shlex.split(shlex.join(words))
    return compile_schema(schema).is_valid(read_arguments(typed, lambda: schema, str))


class TestExamples:
    @pytest.mark.parametrize("name", STRANGE)
    def test_an_example_of_another_plugins_tool_is_a_call_that_its_schema_accepts(
        self, name: str
    ) -> None:
        schema = STRANGE[name]
        assert accepts(schema, example_of("strange_tool", schema))

    def test_an_example_of_a_built_in_tool_is_valid_and_not_empty(
        self, built_in: list[Tool]
    ) -> None:
        for tool in built_in:
            words = example_of(tool.name, tool.input_schema)
            assert words or not tool.input_schema["properties"]
            assert accepts(tool.input_schema, words), tool.name

    def test_a_built_in_tools_name_on_another_tool_gives_an_example_of_that_tool(self) -> None:
        schema = {
            "type": "object",
            "properties": {"cup": {"type": "integer"}},
            "required": ["cup"],
            "additionalProperties": False,
        }
        assert example_of("arxiv_query", schema) == ["cup=1"]


class TestHelp:
    @pytest.fixture(autouse=True)
    def columns(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "80")

    def test_80_columns_hold_every_built_in_tool(
        self, built_in: list[Tool], capsys: pytest.CaptureFixture[str]
    ) -> None:
        for tool in built_in:
            show_tool(tool)
            out = capsys.readouterr().out
            lines = out.splitlines()
            assert max(map(len, lines)) <= 80, tool.name
            assert lines == [line.rstrip() for line in lines]
            named = {line.split()[0] for line in lines if line.startswith("  ") and line.strip()}
            assert {*tool.input_schema["properties"]} <= named
            call = "".join(lines[lines.index("Example") + 1 :]).replace("\\", "")
            words = shlex.split(call)
            assert words[:3] == ["carrel", "call", tool.name]
            assert accepts(tool.input_schema, words[3:])

    @pytest.mark.parametrize("name", STRANGE)
    def test_another_plugins_tool_is_shown_with_an_example(
        self, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        tool = Tool(
            name="strange_tool",
            title=None,
            description="机" * 100 + "\n\x1b[2J" + "word" * 100,
            input_schema=STRANGE[name],
            output_schema=None,
            read_only=False,
            destructive=True,
            idempotent=False,
            open_world=True,
            plugin="strange",
        )
        show_tool(tool)
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "  carrel call strange_tool" in out
        assert ("  none\n" in out) == (name == "no arguments")
        assert ("  any\n" in out) == (name == "nothing")

    def test_call_with_a_tool_and_help_shows_the_tool(self, carrel: CommandLine) -> None:
        for words in (["call", "fake_query", "--help"], ["record", "-h", "fake_query", "x=1"]):
            done = carrel(*words)
            assert (done.code, done.err) == (0, "")
            assert done.out.startswith("fake_query (fake)\n")
            assert "  tags\n      list of texts\n" in done.out
            assert "      one of: asc, desc\n" in done.out
            assert "Example\n  carrel call fake_query" in done.out
        usual = carrel("call", "--help")
        assert usual.out.startswith("Usage: carrel call")

    def test_help_about_an_unknown_tool_is_misuse_and_names_the_nearest(
        self, carrel: CommandLine
    ) -> None:
        for words in (["call", "fake_qery", "--help"], ["tools", "fake_qery"]):
            done = carrel(*words)
            assert (done.code, done.out) == (2, "")
            assert "did you mean 'fake_query'?" in done.err

    def test_a_help_option_after_two_dashes_is_an_argument(self, carrel: CommandLine) -> None:
        done = carrel("call", "fake_query", "--", "--help")
        assert done.code == 2
        assert "'--help': expected a JSON object" in done.err

    def test_tools_with_a_name_lists_only_that_tool(self, carrel: CommandLine) -> None:
        assert json.loads(carrel("tools", "fake_query").out) == json.loads(carrel("tools").out)

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    def test_tools_with_a_name_shows_the_tool_to_a_person(self, carrel: CommandLine) -> None:
        env = {"NO_COLOR": "1"}
        shown = carrel.on_terminal("tools", "fake_query", env=env, columns=80)
        asked = carrel.on_terminal("call", "fake_query", "--help", env=env, columns=80)
        assert shown.out == asked.out
        assert shown.out.startswith("fake_query (fake)\nQuery\n\n  Searches nothing.\n")


class TestSummaries:
    @pytest.mark.parametrize(
        ("descriptions", "lines"),
        [
            (["WHEN TO USE: Find a.\nINPUTS: b", "WHEN TO USE: get c."], ["Find a.", "Get c."]),
            (["Purpose - Find a.", "Other.", "Purpose - Get c."], ["Find a.", "Other.", "Get c."]),
            (
                ["This tool finds a.", "This tool gets b.", "This tool, c."],
                ["Finds a.", "Gets b.", "This tool, c."],
            ),
            (["Find a in PubMed.", "Find b."], ["Find a in PubMed.", "Find b."]),
            (["Find: a.", "Get: b."], ["Find: a.", "Get: b."]),
            (["Same.", "Same.", "Same."], ["Same.", "Same.", "Same."]),
            (["USE: ", "USE:", "USE: x"], ["USE:", "USE:", "USE: x"]),
            (["", "  \n", "\n First.\n"], ["", "", "First."]),
            (["USE:\n  Find a.", "USE:\n  Get b."], ["Find a.", "Get b."]),
        ],
    )
    def test_a_common_beginning_is_removed(self, descriptions: list[str], lines: list[str]) -> None:
        assert summaries(descriptions) == lines

    def test_no_two_built_in_tools_begin_alike(self, built_in: list[Tool]) -> None:
        lines = summaries([tool.description for tool in built_in])
        assert len({line[:25] for line in lines}) == len(lines)
        assert not any("WHEN TO USE" in line for line in lines)
