"""Tests that the contract's files are well-formed, fully documented and enforced by the host."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from carrel.exchange import FailureKind, Limits
from carrel.plugins.schemas.schema import compile_schema
from carrel.runtime.documents import DOCUMENTS, PARSE_BYTES
from carrel.runtime.imports import CONTRACT_IMPORTS, SOURCE

ROOT = Path(__file__).parents[2]
V1 = ROOT / "contract" / "v1"
WIT = (V1 / "plugin.wit").read_text("utf-8")
SCHEMAS = ["document.schema.json", "manifest.schema.json", "record.schema.json"]


def load(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((V1 / name).read_text("utf-8"))
    return value


def properties(node: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every property of a schema with its path."""
    if isinstance(node, dict):
        for name, child in node.get("properties", {}).items():
            yield f"{place}.{name}", child
        for key, child in node.items():
            yield from properties(child, f"{place}.{key}")
    elif isinstance(node, list):
        for child in node:
            yield from properties(child, place)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_valid_and_closed(name: str) -> None:
    schema = load(name)
    jsonschema_rs.Draft202012Validator(schema)
    assert schema["additionalProperties"] is False
    assert schema["description"]


def test_every_field_of_a_manifest_is_described() -> None:
    bare = [
        place
        for place, child in properties(load("manifest.schema.json"))
        if "description" not in child and "const" not in child
    ]
    assert bare == []


def test_the_limits_a_manifest_may_ask_for_are_limits_of_a_call() -> None:
    asked = set(load("manifest.schema.json")["properties"]["limits"]["properties"])
    assert asked <= set(Limits._fields)


def test_every_item_of_the_wit_has_a_doc_comment() -> None:
    lines = [line.strip() for line in WIT.splitlines()]
    item = re.compile(
        r"^(package|interface|world|record|variant|enum) |^[a-z-]+: func\(|^[a-z-]+: [a-z]|"
        r"^[a-z-]+(\([a-z]+\))?,$"
    )
    bare = [
        line
        for before, line in zip(["", *lines], lines, strict=False)
        if item.match(line) and not before.startswith("///")
    ]
    assert bare == []


def test_the_host_knows_exactly_the_interfaces_of_the_wit() -> None:
    version = re.search(r"^package carrel:plugin@([0-9.]+);", WIT, re.MULTILINE)
    assert version is not None
    found: dict[str, set[str]] = {}
    interface = ""
    for line in WIT.splitlines():
        if match := re.match(r"interface ([a-z-]+) \{", line):
            interface = f"carrel:plugin/{match[1]}@{version[1]}"
            found[interface] = set()
        elif match := re.match(r"  (?:record|variant|enum) ([a-z-]+) \{|  ([a-z-]+): func\(", line):
            found[interface].add(match[1] or match[2])
    exported = found.pop(SOURCE)
    assert exported == {"describe", "call", "parse"}
    assert found.pop(DOCUMENTS) == {PARSE_BYTES}
    assert found == {name: set(members) for name, members in CONTRACT_IMPORTS.items()}


def test_the_failures_of_fetch_are_the_cases_of_the_wit() -> None:
    variant = re.search(r"variant fetch-error \{(.*?)\n  \}", WIT, re.DOTALL)
    assert variant is not None
    cases = re.findall(r"^    ([a-z-]+)\(", variant[1], re.MULTILINE)
    assert cases == [kind.value for kind in FailureKind]


@pytest.mark.parametrize(
    "work",
    [
        {"ids": {}, "type": "article", "authors": [], "source": "arxiv"},
        {
            "ids": {"doi": "10.1000/(sici)1:2<3::aid-x>3.0.co;2-a", "arxiv": "math.GT/0309136v2"},
            "type": "article-journal",
            "authors": [
                {"family": "Müller", "given": "A.", "affiliations": []},
                {"literal": "The Collaboration", "affiliations": ["Somewhere"]},
            ],
            "issued": "2020-02",
            "source": "crossref",
        },
    ],
)
def test_a_real_record_conforms(work: dict[str, Any]) -> None:
    assert compile_schema(load("record.schema.json")).is_valid(work)


@pytest.mark.parametrize(
    "change",
    [
        {"title": ""},
        {"title": None},
        {"ids": {"doi": "https://doi.org/10.1000/x"}},
        {"ids": {"arxiv": "arXiv:2001.00001"}},
        {"issued": "2020-13"},
        {"authors": [{"affiliations": []}]},
        {"surprise": 1},
    ],
)
def test_empty_null_and_unknown_values_do_not_conform(change: dict[str, Any]) -> None:
    work = {"ids": {}, "type": "article", "authors": [], "source": "arxiv", **change}
    assert not compile_schema(load("record.schema.json")).is_valid(work)
