"""Tests `carrel read-resource`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.command_line import CommandLine


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_a_resource_is_returned_unchanged(carrel: CommandLine) -> None:
    done = carrel("read-resource", "fake://list")
    assert (done.code, done.err) == (0, "")
    assert done.out == '{"length":1,  "same":"\\u0041"}\n'


def test_without_a_uri_the_resources_and_templates_are_listed(carrel: CommandLine) -> None:
    listing = json.loads(carrel("read-resource").out)
    assert listing == {
        "resources": [
            {
                "uri": "fake://list",
                "name": "list",
                "title": "A list",
                "description": "All of it.",
                "plugin": "fake",
                "mime_type": "application/json",
            },
            {"uri": "fake://bare", "name": "bare", "plugin": "fake", "size": 12},
        ],
        "templates": [
            {
                "uri_template": "fake://{word}",
                "name": "word",
                "description": "One word.",
                "mime_type": "text/plain",
                "plugin": "fake",
            }
        ],
    }


def test_an_unknown_uri_is_misuse_and_names_the_nearest(carrel: CommandLine) -> None:
    done = carrel("read-resource", "fak://list")
    assert (done.code, done.out) == (2, "")
    assert "unknown resource 'fak://list'; did you mean 'fake://list'?" in done.err


def test_a_failure_is_reported_as_for_a_call(carrel: CommandLine) -> None:
    done = carrel("read-resource", "fake://denied")
    assert (done.code, done.out) == (3, "")
    assert "example.org is not granted" in done.err


def test_a_broken_plugin_is_named_and_hides_no_resource(carrel: CommandLine) -> None:
    carrel.write("c.toml", "fetch.retries = 9")
    done = carrel("read-resource", "--config", "c.toml")
    assert (done.code, len(json.loads(done.out)["resources"])) == (0, 2)
    assert "broken: no such component" in done.err


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_person_gets_tables_and_texts(carrel: CommandLine) -> None:
    env = {"NO_COLOR": "1"}
    listed = carrel.on_terminal("read-resource", env=env, columns=80)
    lines = [line.rstrip() for line in listed.out.splitlines()]
    assert "fake://list  fake    application/json  All of it." in lines
    assert "fake://{word}  fake    text/plain  One word." in lines
    assert carrel.on_terminal("read-resource", "fake://word", env=env).out == "one [2J\ntwo\n"
    shown = carrel.on_terminal("read-resource", "fake://list", env=env)
    assert shown.out == '{\n  "length": 1,\n  "same": "A"\n}\n'


@pytest.mark.parametrize("words", [["read-resource"], ["read-resource", "pubmed-connect://info"]])
def test_the_real_host_lists_and_reads_recorded_resources(words: list[str], tmp_path: Path) -> None:
    carrel = CommandLine(tmp_path, real=True)
    (tmp_path / "empty").mkdir()
    done = carrel(*words, "--replay", "empty")
    if len(words) == 1:
        assert (done.code, json.loads(done.out)) == (0, {"resources": [], "templates": []})
        whole = json.loads(carrel("read-resource").out)
        assert "pubmed-connect://info" in {one["uri"] for one in whole["resources"]}
    else:
        assert done.code == 1
        assert "no recording of GET https://eutils.ncbi.nlm.nih.gov/" in done.err
