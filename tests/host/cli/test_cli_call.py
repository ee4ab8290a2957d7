"""Tests `carrel call`, `record` and `tools`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.arguments import read_arguments
from carrel.errors import ArgumentError
from support.command_line import CommandLine
from support.fake_carrel import QUERY_SCHEMA


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def read(*words: str, stdin: str = "") -> dict[str, Any]:
    return read_arguments(words, lambda: QUERY_SCHEMA, lambda: stdin)


class TestArguments:
    @pytest.mark.parametrize(
        ("word", "value"),
        [
            ("text=2301.00001", {"text": "2301.00001"}),
            ("text=true", {"text": "true"}),
            ('text=ti:"a=b" AND x', {"text": 'ti:"a=b" AND x'}),
            ("text=", {"text": ""}),
            ("text=ä\nö", {"text": "ä\nö"}),
            ("start=10", {"start": 10}),
            ("start=-1", {"start": -1}),
            ("exact=true", {"exact": True}),
            ("exact=No", {"exact": False}),
            ("score=1.5", {"score": 1.5}),
            ("score=null", {"score": None}),
            ("order=asc", {"order": "asc"}),
            ("tags=a", {"tags": ["a"]}),
            ('tags=["a","b"]', {"tags": ["a", "b"]}),
            ("years=2020", {"years": [2020]}),
            ('options={"a": 1}', {"options": {"a": 1}}),
            ("unknown=1", {"unknown": "1"}),
            ("text:=12", {"text": 12}),
            ("start:=null", {"start": None}),
            ('{"text": "x", "start": 1}', {"text": "x", "start": 1}),
        ],
    )
    def test_a_value_is_parsed_by_the_schema(self, word: str, value: dict[str, Any]) -> None:
        assert read(word) == value

    def test_an_arrays_key_may_be_repeated(self) -> None:
        assert read("tags=a", "tags=b", 'tags:=["c"]') == {"tags": ["a", "b", "c"]}

    def test_a_pair_wins_over_the_object_before_it(self) -> None:
        assert read('{"text": "x", "start": 1}', "start=2") == {"text": "x", "start": 2}

    def test_a_dash_reads_the_object_from_stdin(self) -> None:
        assert read("-", "start=2", stdin='{"text": "x"}') == {"text": "x", "start": 2}

    def test_the_schema_is_not_read_for_a_json_argument(self) -> None:
        def refuse() -> dict[str, Any]:
            raise AssertionError("the schema was asked for")

        assert read_arguments(['{"start": 1}', "x:=2"], refuse, str) == {"start": 1, "x": 2}

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["text"], "'text': expected a JSON object, key=value, key:=json, or -"),
            (["start=ten"], "start: expected integer but found 'ten'"),
            (["exact=maybe"], "exact: expected boolean but found 'maybe'"),
            (["text=a", "text=b"], "text: given twice"),
            (['{"a": }'], "not JSON: expecting value at column 7"),
            (["a:=NaN"], "NaN is not JSON"),
            (["{}", "-"], "stdin: expected a JSON object but found list"),
            (["a:=" + "[" * 100_000], "a: not JSON"),
        ],
    )
    def test_invalid_arguments_are_reported_with_their_position(
        self, words: list[str], says: str
    ) -> None:
        with pytest.raises(ArgumentError) as caught:
            read(*words, stdin="[1]")
        assert says in caught.value.faults[0]

    def test_all_faults_are_reported_together(self) -> None:
        with pytest.raises(ArgumentError) as caught:
            read("start=ten", "exact=maybe", "text")
        assert len(caught.value.faults) == 3


class TestCall:
    def test_the_arguments_reach_the_tool_with_their_types(self, carrel: CommandLine) -> None:
        done = carrel("call", "fake_query", "text=echo", "start=3", "tags=a", "tags=b")
        assert json.loads(done.out) == {"text": "echo", "start": 3, "tags": ["a", "b"]}

    def test_arguments_may_come_from_stdin(self, carrel: CommandLine) -> None:
        done = carrel("call", "fake_query", "-", stdin=b'{"text": "echo", "start": 3}')
        assert json.loads(done.out) == {"text": "echo", "start": 3}

    def test_stdin_that_is_not_json_is_misuse(self, carrel: CommandLine) -> None:
        done = carrel("call", "fake_query", "-", stdin=b'{"text":\n "echo"')
        assert done.code == 2
        assert "stdin: not JSON" in done.err
        assert "line 2" in done.err

    @pytest.mark.parametrize(
        "words",
        [
            ["call", "fake_query", "text=where", "--record", "kept"],
            ["--record", "kept", "call", "fake_query", "text=where"],
            ["record", "fake_query", "text=where", "--into", "kept"],
        ],
    )
    def test_recording_has_three_spellings(self, carrel: CommandLine, words: list[str]) -> None:
        done = carrel(*words)
        assert json.loads(done.out) == {"record": str(carrel.home / "kept"), "replay": "None"}

    def test_replaying_wins_over_recording_in_the_file(self, carrel: CommandLine) -> None:
        carrel.write("c.toml", 'record_dir = "r"')
        words = ("--replay", "p", "call", "fake_query", "text=where", "--config", "c.toml")
        result = json.loads(carrel(*words).out)
        assert result == {"record": "None", "replay": str(carrel.home / "p")}


class TestTools:
    def test_a_pipe_gets_the_complete_list_as_json(self, carrel: CommandLine) -> None:
        [tool] = json.loads(carrel("tools").out)
        assert tool["name"] == "fake_query"
        assert tool["input_schema"] == QUERY_SCHEMA
        assert tool["annotations"]["read_only"] is True

    @pytest.mark.requirement("serve:alive:listing-with-a-broken-plugin")
    def test_a_broken_plugin_is_named_and_others_are_listed(self, carrel: CommandLine) -> None:
        carrel.write("c.toml", "fetch.retries = 9")
        done = carrel("tools", "--config", "c.toml")
        assert (done.code, len(json.loads(done.out))) == (0, 1)
        assert "broken: no such component" in done.err


class TestPluginList:
    def test_it_succeeds_when_every_plugin_is_ready(self, carrel: CommandLine) -> None:
        done = carrel("plugin", "list")
        assert (done.code, done.err) == (0, "")
        [plugin] = json.loads(done.out)
        assert (plugin["state"], plugin["digest"]) == ("ready", "sha256:" + "ab" * 32)

    def test_it_fails_when_one_is_broken_and_lists_all(self, carrel: CommandLine) -> None:
        carrel.write("c.toml", "fetch.retries = 9")
        done = carrel("plugin", "list", "--config", "c.toml")
        assert done.code == 1
        assert [plugin["state"] for plugin in json.loads(done.out)] == ["ready", "failed"]
        assert "broken: no such component" in done.err
