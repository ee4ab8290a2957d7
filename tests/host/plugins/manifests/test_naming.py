"""Tests that all clients accept tools' names, and that each name is unique."""

from __future__ import annotations

import re

import pytest

from carrel.plugins.manifests.naming import client_names

FIT = re.compile(r"[A-Za-z0-9_-]{1,64}")


def test_a_valid_name_is_unchanged() -> None:
    assert client_names("ror", ("search", "get-one", "A_1")) == {
        "search": "ror_search",
        "get-one": "ror_get-one",
        "A_1": "ror_A_1",
    }


def test_a_dot_becomes_an_underscore() -> None:
    assert client_names("ror", ("works.search",)) == {"works.search": "ror_works_search"}


def test_colliding_names_are_made_unique() -> None:
    names = client_names("ror", ("a.b", "a_b", "a..b", "a._b"))
    assert names["a_b"] == "ror_a_b"
    assert len(set(names.values())) == 4
    assert all(FIT.fullmatch(name) for name in names.values())


@pytest.mark.parametrize("length", [61, 80])
def test_a_long_name_ends_in_a_part_of_its_digest(length: int) -> None:
    one, two = "x" * (length - 1) + "1", "x" * (length - 1) + "2"
    names = client_names("ror", (one, two))
    assert len(set(names.values())) == 2
    assert all(FIT.fullmatch(name) and name.startswith("ror_xxx") for name in names.values())
    assert client_names("ror", (two,))[two] == names[two]
