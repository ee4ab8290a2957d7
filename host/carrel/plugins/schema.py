"""JSON Schemas that come from plugins: data from outside, bounded before it is used.

A schema can be a bomb: a pattern that backtracks, references that double at every step, a remote
reference. Bounds are checked when a plugin is loaded; validation itself runs in
`jsonschema-rs` with linear-time patterns and without any retrieval.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from carrel.printable import printable

if TYPE_CHECKING:
    import jsonschema_rs

MAX_BYTES = 128 * 1024
MAX_DEPTH = 32
MAX_SUBSCHEMAS = 2_000
MAX_PATTERN = 500
#: Subschemas that one validation may visit when every reference is followed.
MAX_EXPANSION = 20_000
MAX_FAULTS = 20


def schema_faults(schema: Mapping[str, Any]) -> list[str]:
    """Why a plugin's schema is refused; empty when it is within the bounds."""
    size = len(json.dumps(schema))
    if size > MAX_BYTES:
        return [f"is {size} bytes, over the cap of {MAX_BYTES}"]
    faults: list[str] = []
    count = 0
    for depth, node in _nodes(schema, 0):
        if depth > MAX_DEPTH:
            return [*faults, f"is nested deeper than {MAX_DEPTH}"]
        if not isinstance(node, Mapping):
            continue
        count += 1
        if count > MAX_SUBSCHEMAS:
            return [*faults, f"has more than {MAX_SUBSCHEMAS} subschemas"]
        faults += _node_faults(node)
    if not faults:
        faults += _expansion_faults(schema)
    if not faults:
        try:
            compile_schema(schema)
        except ValueError as error:
            faults.append(f"is not a JSON Schema: {printable(str(error), 200)}")
    return faults[:MAX_FAULTS]


def compile_schema(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    """A validator that follows no remote reference and whose patterns take linear time.

    Raises:
        ValueError: not a valid schema.
    """
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        dict(schema),
        validate_formats=True,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=2**20),
        offline=True,
    )


def validation_faults(validator: jsonschema_rs.Validator, value: Any) -> list[str]:
    """What is wrong with `value`, each fault with its place; empty when it conforms."""
    if validator.is_valid(value):
        return []
    faults = []
    for error in validator.iter_errors(value):
        place = ".".join(str(part) for part in error.instance_path)
        message = printable(error.message, 300)
        faults.append(f"{place}: {message}" if place else message)
        if len(faults) == MAX_FAULTS:
            break
    return faults


def _nodes(value: Any, depth: int) -> Iterator[tuple[int, Any]]:
    """Every value in the schema with its depth, without recursion."""
    stack = [(depth, value)]
    while stack:
        depth, node = stack.pop()
        yield depth, node
        if isinstance(node, Mapping):
            stack += [(depth + 1, child) for child in node.values()]
        elif isinstance(node, list):
            stack += [(depth + 1, child) for child in node]


def _node_faults(node: Mapping[str, Any]) -> list[str]:
    faults = []
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        target = node.get(keyword)
        if isinstance(target, str) and not target.startswith("#"):
            faults.append(f"refers to {printable(target, 100)!r} outside itself")
    patterns = (node.get("pattern"), *_keys(node.get("patternProperties")))
    if any(isinstance(one, str) and len(one) > MAX_PATTERN for one in patterns):
        faults.append(f"has a pattern longer than {MAX_PATTERN} characters")
    return faults


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, Mapping) else []


def _expansion_faults(schema: Mapping[str, Any]) -> list[str]:
    """Refuses references that multiply: definitions that each refer twice to the next one.

    Counts the subschemas of each definition, references followed; recursion counts once.
    """
    sizes: dict[str, int] = {}

    def size(pointer: str, open_pointers: frozenset[str]) -> int:
        if pointer in open_pointers:
            return 1
        if pointer not in sizes:
            node = _resolve(schema, pointer)
            total = 1
            for _, child in _nodes(node, 0):
                if not isinstance(child, Mapping):
                    continue
                total += 1
                target = child.get("$ref")
                if isinstance(target, str) and total <= MAX_EXPANSION:
                    total += size(target, open_pointers | {pointer})
            sizes[pointer] = min(total, MAX_EXPANSION + 1)
        return sizes[pointer]

    if size("#", frozenset()) > MAX_EXPANSION:
        return [f"expands to more than {MAX_EXPANSION} subschemas through its references"]
    return []


def _resolve(schema: Mapping[str, Any], pointer: str) -> Any:
    """The node that a local reference names, or an empty schema: compiling reports the rest."""
    node: Any = schema
    for part in pointer.lstrip("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(key, {})
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return {}
    return node
