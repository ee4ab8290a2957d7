"""Parses the arguments of a tool from the command line: JSON, `key=value`, `key:=json`, or `-`.

`key=value` follows the tool's input schema: a string stays as typed, so `id_list=2301.00001` is not
a number; other types are parsed as JSON. The host validates the result, so an error has the same
message as for any other client.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from carrel.errors import ArgumentError

_PAIR = re.compile(r"([A-Za-z_][\w.-]*)(:?=)(.*)", re.DOTALL)
_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}

Schema = Mapping[str, Any]


def read_arguments(
    words: Sequence[str], schema: Callable[[], Schema], read_stdin: Callable[[], str]
) -> dict[str, Any]:
    """Returns the arguments in `words`; later ones override earlier ones.

    Args:
        words: from the shell.
        schema: returns the tool's input schema; called only for a `key=value`.
        read_stdin: returns the text for `-`.

    Raises:
        ArgumentError: names every word that cannot be parsed.
    """
    arguments: dict[str, Any] = {}
    typed: set[str] = set()
    faults: list[str] = []
    for word in words:
        try:
            if word == "-":
                arguments.update(_object(read_stdin(), "stdin"))
            elif word.lstrip().startswith("{"):
                arguments.update(_object(word, "the argument"))
            elif (pair := _PAIR.fullmatch(word)) is None:
                faults.append(
                    f"{word!r}: expected a JSON object, key=value, key:=json, or - for stdin"
                )
            else:
                key, kind, text = pair.groups()
                value = _json(text, key) if kind == ":=" else _typed(key, text, schema())
                if key not in typed:
                    arguments[key] = value
                elif isinstance(value, list) and isinstance(arguments[key], list):
                    arguments[key] = [*arguments[key], *value]
                else:
                    faults.append(f"{key}: given twice")
                typed.add(key)
        except ArgumentError as error:
            faults += error.faults
    if faults:
        raise ArgumentError(faults)
    return arguments


def _object(text: str, where: str) -> dict[str, Any]:
    value = _json(text, where)
    if not isinstance(value, dict):
        raise ArgumentError([f"{where}: expected a JSON object but found {type(value).__name__}"])
    return value


def _json(text: str, where: str) -> Any:
    def refuse(constant: str) -> Any:
        raise ArgumentError([f"{where}: {constant} is not JSON"])

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        position = (
            f"line {error.lineno}, column {error.colno}"
            if "\n" in text
            else f"column {error.colno}"
        )
        message = error.msg[:1].lower() + error.msg[1:]
        raise ArgumentError([f"{where}: not JSON: {message} at {position}"]) from None
    except (ValueError, RecursionError) as error:
        raise ArgumentError([f"{where}: not JSON that can be read: {error}"]) from None


def _typed(key: str, text: str, schema: Schema) -> Any:
    """Converts `text` to the schema's type of `key`; unchanged if the schema does not have the
    key.
    """
    types, items = _types(schema.get("properties", {}).get(key), schema)
    if not types or "string" in types:
        return text
    if "array" in types:
        if text.lstrip().startswith("["):
            return _json(text, key)
        return [_scalar(key, text, items)]
    return _scalar(key, text, types)


def _scalar(key: str, text: str, types: frozenset[str]) -> Any:
    if not types or "string" in types:
        return text
    if "boolean" in types and text.strip().lower() in _BOOLEANS:
        return _BOOLEANS[text.strip().lower()]
    try:
        return _json(text, key)
    except ArgumentError:
        expected = " or ".join(sorted(types))
        raise ArgumentError([f"{key}: expected {expected} but found {text!r}"]) from None


def _types(schema: object, root: Schema, depth: int = 0) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the JSON types that `schema` allows, and those of its items; empty if it does not
    restrict them.
    """
    none: frozenset[str] = frozenset()
    if not isinstance(schema, dict) or depth > 8:
        return none, none
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        return _types(target, root, depth + 1)
    kind = schema.get("type")
    types = frozenset([kind] if isinstance(kind, str) else kind or ())
    items = _types(schema.get("items"), root, depth + 1)[0]
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        more, more_items = _types(choice, root, depth + 1)
        types, items = types | more, items | more_items
    if not types and all(isinstance(value, str) for value in schema.get("enum", ())):
        return (frozenset({"string"}) if schema.get("enum") else types), items
    return types, items
