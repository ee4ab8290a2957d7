"""JSON Schemas of plugins: bounds, compiling, validating, wording faults.

A schema can be a bomb: a pattern that backtracks, references that double at every step, a remote
reference. Bounds are checked when a plugin is loaded; validation itself runs in
`jsonschema-rs` with linear-time patterns and without any retrieval.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from carrel.text.printable import printable

from .references import reference_faults, target_faults

if TYPE_CHECKING:
    import jsonschema_rs

MAX_BYTES = 128 * 1024
MAX_DEPTH = 32
MAX_SUBSCHEMAS = 2_000
MAX_PATTERN = 500
MAX_FAULTS = 20
#: Longer messages quote a long value.
_QUOTED = 300
#: Characters of the allowed values that a message names.
_CHOICE = 2_000
#: Characters of a fault, all allowed values included.
_LONGEST = 1_000
#: Values in a document up to which all faults are listed; beyond it, only the first. Listing builds
#: a message for each fault first.
_LISTED = 1_000


def schema_faults(schema: Mapping[str, Any]) -> list[str]:
    """Returns why a plugin's schema is refused; empty when it is within the bounds."""
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
        faults += _node_faults(node, root=node is schema)
    if not faults:
        faults += reference_faults(schema)
    if not faults:
        try:
            compile_schema(schema)
        except ValueError as error:
            faults.append(f"is not a JSON Schema: {printable(str(error), 200)}")
    return faults[:MAX_FAULTS]


def compile_schema(schema: Mapping[str, Any], *, formats: bool = True) -> jsonschema_rs.Validator:
    """Returns a validator without remote references whose patterns take linear time.

    Args:
        schema: within the bounds of `schema_faults`.
        formats: whether `format` is validated.

    Raises:
        ValueError: not a valid schema.
    """
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        dict(schema),
        validate_formats=formats,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=2**20),
        offline=True,
    )


def validation_faults(validator: jsonschema_rs.Validator, value: Any) -> list[str]:
    """Returns what is wrong with `value`, each fault with its path; empty for a valid one."""
    if validator.is_valid(value):
        return []
    faults = []
    for error in _errors(validator, value):
        path = printable(".".join(str(part) for part in error.instance_path), 300)
        allowed = _allowed(error)
        if allowed is not None and len(allowed) > 1:
            message = _not_one_of(error.instance, allowed)
        else:
            message = printable(_words(error, path), _LONGEST)
        faults.append(f"{path}: {message}" if path else message)
        if len(faults) == MAX_FAULTS:
            break
    return faults


def _words(error: jsonschema_rs.ValidationError, path: str) -> str:
    """Words the rule that a value breaks, with its limit or all allowed values.

    The value itself is quoted only when it is short: a long one would hide the rule, and may be
    written to mislead readers of errors.
    """
    kind: Any = error.kind
    value: Any = error.instance
    name = path.rpartition(".")[2]
    items = name if name.isidentifier() else "items"
    match kind.name:
        case "maxItems":
            return f"at most {kind.limit} {items}, {len(value)} given"
        case "minItems":
            return f"at least {kind.limit} {items}, {len(value)} given"
        case "maxLength":
            return f"at most {kind.limit} characters, {len(value)} given"
        case "minLength":
            return f"at least {kind.limit} characters, {len(value)} given"
        case "enum":
            return _not_one_of(error.instance, list(kind.options))
        case "anyOf":
            reasons = [_words(suberror, path) for branch in kind.context for suberror in branch[:1]]
            return " and ".join(dict.fromkeys(reasons))
    if len(error.message) <= _QUOTED:
        return error.message
    rule = next((str(part) for part in reversed(error.schema_path)), "schema")
    return f"is refused by {rule}"


def _errors(
    validator: jsonschema_rs.Validator, value: Any
) -> Iterable[jsonschema_rs.ValidationError]:
    import jsonschema_rs

    if sum(1 for _ in islice(_nodes(value, 0), _LISTED + 1)) <= _LISTED:
        return validator.iter_errors(value)
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


def _allowed(error: jsonschema_rs.ValidationError) -> list[Any] | None:
    """Returns the values that an enumeration allows; None for another fault.

    An optional enumeration is often `anyOf` of the values and null, a described one `oneOf` of
    constants.
    """
    kind: Any = error.kind
    if kind.name == "enum":
        return list(kind.options)
    if kind.name == "const":
        return [kind.expected_value]
    if kind.name not in ("anyOf", "oneOf") or not hasattr(kind, "context"):
        return None
    values: list[Any] = []
    for branch in kind.context:
        found = [
            _allowed(suberror)
            for suberror in branch
            if suberror.instance_path == error.instance_path
        ]
        allowed = next((options for options in found if options is not None), None)
        if allowed is not None:
            values += allowed
        elif len(branch) == 1 and _refuses_all_but_null(branch[0], error):
            values.append(None)
        else:
            return None
    return values


def _refuses_all_but_null(
    fault: jsonschema_rs.ValidationError, error: jsonschema_rs.ValidationError
) -> bool:
    kind: Any = fault.kind
    same_place = fault.instance_path == error.instance_path
    return kind.name == "type" and list(kind.types) == ["null"] and same_place


def _not_one_of(value: Any, allowed: list[Any]) -> str:
    text = printable(_json(value), _QUOTED + 1)
    subject = text if len(text) <= _QUOTED else "the value"
    return f"{subject} is not one of {_choice(allowed)}"


def _choice(values: list[Any]) -> str:
    """Lists values as JSON, the last after `or`; cut if there are too many to read."""
    texts = list(dict.fromkeys(printable(_json(value), _QUOTED) for value in values))
    shown: list[str] = []
    room = _CHOICE
    while texts and len(texts[0]) <= room:
        room -= len(texts[0])
        shown.append(texts.pop(0))
    if texts:
        shown.append(f"{len(texts)} others")
    return " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _nodes(value: Any, depth: int) -> Iterator[tuple[int, Any]]:
    """Yields every value in the schema with its depth, without recursion."""
    stack = [(depth, value)]
    while stack:
        depth, node = stack.pop()
        yield depth, node
        if isinstance(node, Mapping):
            stack += [(depth + 1, child) for child in node.values()]
        elif isinstance(node, list):
            stack += [(depth + 1, child) for child in node]


def _node_faults(node: Mapping[str, Any], *, root: bool) -> list[str]:
    faults = target_faults(node, root=root)
    patterns = (node.get("pattern"), *_keys(node.get("patternProperties")))
    if any(isinstance(pattern, str) and len(pattern) > MAX_PATTERN for pattern in patterns):
        faults.append(f"has a pattern longer than {MAX_PATTERN} characters")
    return faults


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, Mapping) else []
