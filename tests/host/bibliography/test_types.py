"""The table of types."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from carrel.bibliography.item import TYPES

TABLE = tomllib.loads((files("carrel.bibliography") / "types.toml").read_text("utf-8"))


def test_every_type_of_csl_is_written_in_every_format() -> None:
    assert sorted(TABLE["write"]) == sorted(TYPES)
    formats = {"bibtex", "biblatex", "ris", "endnote", "word"}
    assert all(row.keys() == formats for row in TABLE["write"].values())


def test_every_name_is_read_as_a_type_of_csl() -> None:
    for names in TABLE["read"].values():
        assert set(names.values()) <= set(TYPES)


def test_what_is_written_is_read() -> None:
    for row in TABLE["write"].values():
        assert row["biblatex"] in TABLE["read"]["bibtex"]
        assert row["bibtex"] in TABLE["read"]["bibtex"]
        assert row["ris"] in TABLE["read"]["ris"]
        assert str(row["endnote"][0]) in TABLE["read"]["endnote"]
