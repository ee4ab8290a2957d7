"""Shortens output schemas for clients, so that a listing takes fewer tokens.

The host validates results against the plugin's own schema. The announced schema is derived from it
and is weaker: it accepts every value that the plugin's schema accepts. Input schemas are never
shortened. `docs/reference/mcp.md` has the rules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic_core import from_json, to_json

Schema = dict[str, Any]

#: The dialect of a schema that names none, MCP's default.
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
#: Keywords for people, without effect on validation.
_PROSE: Final = frozenset({"$comment", "title", "description", "examples"})
#: Keywords whose value maps names to schemas; a property may be called `title`.
_NAMED: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
#: Keywords whose value is no schema, and is kept as it is.
_VALUES: Final = frozenset({"const", "enum", "default", "required", "type", "$ref"})
#: Keywords that restrict values of a type. Removing one makes a schema weaker.
_LIMITS: Final = frozenset(
    {
        "format",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "propertyNames",
        "default",
    }
)
#: Keywords under which a weaker subschema makes the whole weaker. Under others, such as `not` or
#: `oneOf`, it may make the whole stricter.
_MONOTONE: Final = frozenset({"properties", "$defs", "items", "additionalProperties", "anyOf"})

#: A longer enumeration is replaced by its type.
_MOST_VALUES: Final = 12
#: Maximum depth of nested objects whose members are announced.
_DEEPEST: Final = 3
#: Minimum size in bytes of a repeated subschema that moves to `$defs`.
_WORTH_SHARING: Final = 50
#: Maximum number of subschemas in `$defs`.
_MOST_SHARED: Final = 20


def announced_schema(output: Mapping[str, Any], arguments: Mapping[str, Any]) -> Schema:
    """Returns the output schema for clients.

    Args:
        output: the plugin's own, used for validation.
        arguments: the tool's input schema; enumerations in it are not repeated.
    """
    if output.get("$schema", _DIALECT) != _DIALECT:
        # Another dialect may read the same keywords otherwise.
        return {**without_prose(output), "$schema": output["$schema"]}
    shape: Schema = without_prose(output)
    if not _is_plain(shape, root=True):
        return shape
    known_enums = {json.dumps(values) for values in _enumerations(arguments)}
    return _shared(_without_unused(_weaker(shape, known_enums, depth=0)))


def without_prose(schema: Any) -> Any:
    """Returns the schema without descriptions and titles.

    A model sees the field names in results and the reference explains them; descriptions would take
    a quarter of a listing's tokens.
    """
    if isinstance(schema, Mapping):
        result = {}
        for key, value in schema.items():
            if key in _NAMED and isinstance(value, Mapping):
                result[key] = {name: without_prose(subschema) for name, subschema in value.items()}
            elif key in {"const", "enum", "default"}:
                result[key] = value
            elif key not in _PROSE and key != "$schema":
                result[key] = without_prose(value)
        return result
    if isinstance(schema, list):
        return [without_prose(item) for item in schema]
    return schema


def _members(schema: Schema) -> Iterator[tuple[str, str, Any]]:
    """Yields each direct subschema: the keyword, its name under that keyword, and the subschema."""
    for key, value in schema.items():
        if key in {"properties", "$defs"}:
            yield from ((key, name, subschema) for name, subschema in value.items())
        elif key == "anyOf":
            yield from ((key, "", subschema) for subschema in value)
        elif key in {"items", "additionalProperties"}:
            yield key, "", value


def _is_plain(schema: Any, *, root: bool = False) -> bool:
    """Returns whether the rules cover every keyword of the schema."""
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    if not schema.keys() <= _MONOTONE | _LIMITS | _VALUES or ("$defs" in schema and not root):
        return False
    reference = schema.get("$ref", "#/$defs/")
    local = isinstance(reference, str) and reference.startswith("#/$defs/")
    inside = [subschema for _, _, subschema in _members(schema)]
    return local and reference.count("/") == 2 and all(map(_is_plain, inside))


def _enumerations(schema: Any) -> Iterator[list[Any]]:
    """Yields every list of allowed values in an input schema."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("enum"), list):
            yield schema["enum"]
        for value in schema.values():
            yield from _enumerations(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _enumerations(value)


def _weaker(schema: Any, known_enums: set[str], *, depth: int) -> Any:
    """Returns a weaker schema: it accepts every value that this one accepts.

    Args:
        schema: a plain one.
        known_enums: the enumerations of the tool's arguments, as JSON.
        depth: number of enclosing objects.
    """
    if isinstance(schema, bool):
        return schema
    if "properties" in schema and depth >= _DEEPEST and schema.get("type") == "object":
        return {"type": "object"}
    result: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {
                name: _weaker(subschema, known_enums, depth=depth + 1)
                for name, subschema in value.items()
            }
        elif key == "$defs":
            result[key] = {
                name: _weaker(subschema, known_enums, depth=1) for name, subschema in value.items()
            }
        elif key == "anyOf":
            result[key] = [_weaker(subschema, known_enums, depth=depth) for subschema in value]
        elif key in {"items", "additionalProperties"}:
            weaker = _weaker(value, known_enums, depth=depth)
            # Below the depth that is announced, a list's type says as much as that of its objects.
            if not isinstance(value, bool) and (weaker != {"type": "object"} or depth < _DEEPEST):
                result[key] = weaker
        elif key not in _LIMITS and (key != "required" or depth == 0):
            result[key] = value
    return _with_fewer_values(result, known_enums) if "enum" in result else result


def _with_fewer_values(schema: Schema, known_enums: set[str]) -> Schema:
    """Returns the schema, with a type in place of a long or known enumeration."""
    values = schema["enum"]
    texts = all(isinstance(value, str) for value in values)
    if texts and schema.get("type", "string") == "string":
        if len(values) > _MOST_VALUES or json.dumps(values) in known_enums:
            return {**{k: v for k, v in schema.items() if k != "enum"}, "type": "string"}
        return {key: value for key, value in schema.items() if key != "type"}
    return schema


def _without_unused(schema: Schema) -> Schema:
    """Returns the schema without unreferenced definitions."""
    while "$defs" in schema:
        text = json.dumps(schema)
        used = {
            name: definition
            for name, definition in schema["$defs"].items()
            if json.dumps(f"#/$defs/{name}") in text
        }
        if len(used) == len(schema["$defs"]):
            break
        schema = {key: value for key, value in schema.items() if key != "$defs"}
        if used:
            schema["$defs"] = used
    return schema


def _shared(schema: Schema) -> Schema:
    """Returns an equivalent schema with repeated subschemas moved to `$defs`."""
    sharing = _Sharing()
    for _ in range(_MOST_SHARED):
        found = sharing.best(schema)
        if found is None:
            break
        text, name = found
        definitions = schema.get("$defs", {})
        while name in definitions:
            name += "_"
        replaced = sharing.replaced(schema, text, {"$ref": f"#/$defs/{name}"})
        schema = {**replaced, "$defs": {**replaced.get("$defs", {}), name: from_json(text)}}
    return schema


class _Sharing:
    """Finds repeated subschemas and replaces them; caches the JSON of each."""

    def __init__(self) -> None:
        # By identity; the schema is kept alive so that its id stays valid.
        self._texts: dict[int, tuple[Schema, bytes]] = {}

    def _text(self, schema: Schema) -> bytes:
        cached = self._texts.get(id(schema))
        if cached is None:
            cached = self._texts[id(schema)] = schema, to_json(schema)
        return cached[1]

    def best(self, schema: Schema) -> tuple[bytes, str] | None:
        """Returns the subschema whose sharing saves most characters, as JSON, and a name for it."""
        counts: Counter[bytes] = Counter()
        names: dict[bytes, str] = {}

        def visit(node: Any, name: str, *, is_whole: bool = False) -> None:
            if not isinstance(node, dict) or len(self._text(node)) < _WORTH_SHARING:
                return
            if not is_whole:
                counts[self._text(node)] += 1
                names.setdefault(self._text(node), name if name.isidentifier() else "shape")
            for key, own, subschema in _members(node):
                visit(subschema, own or name, is_whole=key == "$defs")

        visit(schema, "", is_whole=True)
        best, most = None, 0
        for text, count in counts.items():
            reference = len(f'{{"$ref":"#/$defs/{names[text]}"}}')
            saved = (count - 1) * len(text) - count * reference - len(names[text]) - 4
            if count > 1 and saved > most:
                best, most = (text, names[text]), saved
        return best

    def replaced(self, schema: Schema, text: bytes, reference: Schema) -> Schema:
        """Returns the schema with a reference in place of every subschema whose JSON is `text`."""

        def visit(node: Any) -> Any:
            if not isinstance(node, dict) or len(self._text(node)) < len(text):
                return node
            return reference if self._text(node) == text else self.replaced(node, text, reference)

        result: Schema = {}
        for key, value in schema.items():
            if key in {"properties", "$defs"}:
                result[key] = {name: visit(subschema) for name, subschema in value.items()}
            elif key == "anyOf":
                result[key] = [visit(subschema) for subschema in value]
            elif key in {"items", "additionalProperties"}:
                result[key] = visit(value)
            else:
                result[key] = value
        return result
