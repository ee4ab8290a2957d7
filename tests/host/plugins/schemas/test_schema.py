"""Tests that plugins' schemas are bounded before use, and that validation is cheap."""

from __future__ import annotations

import time
from typing import Any

import pytest

from carrel.plugins.schemas.schema import compile_schema, schema_faults, validation_faults


def doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{levels}": {"type": "string"}}
    for level in range(levels):
        target = {"$ref": f"#/$defs/d{level + 1}"}
        definitions[f"d{level}"] = {"allOf": [target, target]}
    return {"type": "object", "$defs": definitions, "$ref": "#/$defs/d0"}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        pytest.param({"type": "object", "title": "x" * 200_000}, "over the cap", id="bytes"),
        pytest.param(nested(40), "nested deeper", id="depth"),
        pytest.param(
            {"type": "object", "anyOf": [{"type": "string"}] * 3000}, "subschemas", id="count"
        ),
        pytest.param(doubling(25), "expands", id="doubling-references"),
        pytest.param(
            {"type": "object", "properties": {"a": {"pattern": "a" * 501}}}, "pattern", id="pattern"
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"$ref": "other.json"}}},
            "outside itself",
            id="relative-reference",
        ),
        pytest.param({"type": "nonsense"}, "not a JSON Schema", id="invalid"),
        pytest.param({"type": "object", "$ref": "#/$defs/gone"}, "not a JSON", id="dangling"),
    ],
)
def test_a_schema_out_of_bounds_is_refused(schema: dict[str, Any], words: str) -> None:
    faults = schema_faults(schema)
    assert any(words in fault for fault in faults), faults


def test_recursive_and_shared_definitions_are_fine() -> None:
    tree = {
        "type": "object",
        "$defs": {"node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}}},
        "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"$ref": "#/$defs/node"}},
    }
    assert schema_faults(tree) == []


def test_a_backtracking_pattern_takes_linear_time() -> None:
    validator = compile_schema({"type": "string", "pattern": "^(a+)+$"})
    started = time.process_time()
    assert validation_faults(validator, "a" * 5000 + "!")
    assert time.process_time() - started < 1.0


def test_faults_have_paths_and_escape_hidden_characters() -> None:
    validator = compile_schema(
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    )
    [fault] = validation_faults(validator, {"a": [1, "x\x1b[2J" + "y" * 1000]})
    assert fault.startswith("a.1: ")
    assert "\x1b" not in fault
    assert len(fault) < 400


COLOURS = {"enum": ["red", "green", "blue"]}


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        (COLOURS, "pink", '"pink" is not one of "red", "green" or "blue"'),
        (
            {"anyOf": [COLOURS, {"type": "null"}]},
            "pink",
            '"pink" is not one of "red", "green", "blue" or null',
        ),
        (
            {"anyOf": [{"$ref": "#/$defs/colour"}, {"type": "null"}]},
            7,
            '7 is not one of "red", "green", "blue" or null',
        ),
        (
            {"oneOf": [{"const": "a", "description": "first"}, {"const": "b"}]},
            "c",
            '"c" is not one of "a" or "b"',
        ),
        (COLOURS, "x" * 400, 'the value is not one of "red", "green" or "blue"'),
        ({"enum": list(range(30))}, 99, f"99 is not one of {', '.join(map(str, range(29)))} or 29"),
    ],
)
def test_every_allowed_value_of_an_enumeration_is_named(
    schema: dict[str, Any], value: Any, says: str
) -> None:
    whole = {
        "type": "object",
        "properties": {"kind": schema},
        "$defs": {"colour": {"type": "string", **COLOURS}},
    }
    assert validation_faults(compile_schema(whole), {"kind": value}) == [f"kind: {says}"]


def test_an_enumeration_is_shown_alike_at_every_level() -> None:
    [alone] = validation_faults(compile_schema(COLOURS), "pink")
    [beside] = validation_faults(compile_schema({"anyOf": [{"type": "null"}, COLOURS]}), "pink")
    number = {"type": "integer"}
    [inside] = validation_faults(compile_schema({"anyOf": [number, COLOURS]}), "pink")
    assert alone == '"pink" is not one of "red", "green" or "blue"'
    assert beside == '"pink" is not one of null, "red", "green" or "blue"'
    assert inside == f'"pink" is not of type "integer" and {alone}'


def test_a_choice_between_other_schemas_is_no_enumeration() -> None:
    schema = {"anyOf": [{"type": "string"}, {"enum": [1, 2]}]}
    [fault] = validation_faults(compile_schema(schema), 3)
    assert fault == '3 is not of type "string" and 3 is not one of 1 or 2'


def test_a_long_list_of_allowed_values_is_cut() -> None:
    [fault] = validation_faults(compile_schema({"enum": [f"{n:050}" for n in range(500)]}), "x")
    assert fault.endswith(" others")
    assert len(fault) < 2_200


@pytest.mark.parametrize(
    ("rule", "value", "words"),
    [
        ({"maxItems": 200}, ["1"] * 201, "pmids: at most 200 pmids, 201 given"),
        ({"minItems": 1}, [], "pmids: at least 1 pmids, 0 given"),
        ({"minLength": 3}, "ab", "pmids: at least 3 characters, 2 given"),
        ({"maxLength": 2}, "x" * 5000, "pmids: at most 2 characters, 5000 given"),
        ({"maximum": 50}, 51, "pmids: 51 is greater than the maximum of 50"),
    ],
)
def test_a_fault_names_the_limit_and_the_allowed_values(
    rule: dict[str, Any], value: Any, words: str
) -> None:
    validator = compile_schema({"type": "object", "properties": {"pmids": rule}})
    assert validation_faults(validator, {"pmids": value}) == [words]
