"""Tests that local paths are removed from text for clients, and text like them is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.files.local_paths import without_paths, without_paths_inside


def test_a_path_becomes_its_last_part(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "carrel.toml"
    for message, left in (
        (f"cannot read {deep}: gone", "cannot read …/carrel.toml: gone"),
        (f"{deep}: pluginz: unknown key", "…/carrel.toml: pluginz: unknown key"),
        (f"write {deep.as_uri()}", "write file:///…/carrel.toml"),
        (f"'{tmp_path}/'", f"'…/{tmp_path.name}'"),
        (r"C:\\Users\\me\\carrel.toml: x", "…/carrel.toml: x"),
    ):
        assert without_paths(message) == left


def test_a_known_path_may_hold_spaces(tmp_path: Path) -> None:
    folder = str(tmp_path / "my papers" / "today")
    assert without_paths(f"nothing in {folder}", [folder]) == "nothing in …/today"


def test_a_name_without_a_folder_is_unchanged() -> None:
    assert without_paths("carrel.toml: no key", ["carrel.toml", "/"]) == "carrel.toml: no key"


@pytest.mark.parametrize(
    "text",
    [
        "GET https://export.arxiv.org/tmp/query?x=/tmp/1 answers 404",
        "hep-ex/0307015 and 10.1000/tmp/182",
        "the path /v2/organizations is not granted",
        "and/or, 3/4, /",
        "oci://registry.example.org/tmp/plugin:1",
    ],
)
def test_texts_that_are_no_local_path_are_kept(text: str) -> None:
    assert without_paths(text) == text


def test_every_text_in_a_value_is_looked_at(tmp_path: Path) -> None:
    value = {"a": [str(tmp_path / "x"), 1, None], "b": {"c": "plain"}}
    assert without_paths_inside(value) == {"a": ["…/x", 1, None], "b": {"c": "plain"}}
