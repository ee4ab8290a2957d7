"""Lists a tool's arguments from its input schema, for display.

Covers type, limits, allowed values and default. Other constraints, such as conditions between
arguments, are not shown, but the host validates them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Maximum depth of nested objects, and maximum number of arguments.
_DEPTH, _MOST = 4, 300
_KINDS = {
    "string": ("text", "texts"),
    "integer": ("whole number", "whole numbers"),
    "number": ("number", "numbers"),
    "boolean": ("true or false", "true or false"),
    "object": ("object", "objects"),
    "array": ("list", "lists"),
    "null": ("null", "null"),
}
_NO_LIMIT = (None, None)

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool, or a member of one.

    Attributes:
        name: a member's name has its argument's as prefix: `date_range.min_date`,
            `citations[].year`.
        kind: such as `text`, `whole number`, `list of texts`.
        required: whether a call without it is refused.
        limits: such as `1 to 200 items`.
        allowed: the allowed values, if enumerated; for a list, those of its items.
        default: as JSON; empty for none.
        description: from the schema.
    """

    name: str
    kind: str
    required: bool
    limits: tuple[str, ...]
    allowed: tuple[str, ...]
    default: str
    description: str


def read_arguments_of(schema: Schema) -> list[Argument]:
    """Returns the arguments of an input schema, required ones first."""
    found: list[Argument] = []
    for argument in _members(schema, schema, "", 0):
        found.append(argument)
        if len(found) == _MOST:
            break
    return found


def takes_others(schema: Schema) -> bool:
    """Returns whether the schema accepts unlisted arguments."""
    return schema.get("additionalProperties", True) is not False


def resolved(schema: object, root: Schema, depth: int = 0) -> dict[str, Any]:
    """Returns a schema with its reference resolved and `allOf` merged."""
    if not isinstance(schema, Mapping) or depth > 8:
        return {}
    whole: dict[str, Any] = {}
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        target: Any = root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, Mapping) else None
        whole |= resolved(target, root, depth + 1)
    for part in _list(schema.get("allOf")):
        whole |= resolved(part, root, depth + 1)
    return whole | {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}


def choices(schema: Schema, root: Schema) -> list[dict[str, Any]]:
    """Returns the alternatives of a schema; omits null if there is another."""
    several = [*_list(schema.get("anyOf")), *_list(schema.get("oneOf"))]
    if not several:
        return [dict(schema)]
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    found = [rest | resolved(choice, root) for choice in several[:20]]
    return [choice for choice in found if choice.get("type") != "null"] or found


def _members(schema: Schema, root: Schema, prefix: str, depth: int) -> Iterator[Argument]:
    own = resolved(schema, root)
    properties = own.get("properties")
    required = _list(own.get("required"))
    listed = list(properties.items()) if isinstance(properties, Mapping) else []
    for name, raw in sorted(listed, key=lambda pair: pair[0] not in required):
        member = resolved(raw, root)
        yield _argument(f"{prefix}{name}", member, root, required=name in required)
        if depth < _DEPTH:
            for choice in choices(member, root):
                yield from _members(choice, root, f"{prefix}{name}.", depth + 1)
                items = resolved(choice.get("items"), root)
                for item in choices(items, root):
                    yield from _members(item, root, f"{prefix}{name}[].", depth + 1)


def _argument(name: str, schema: Schema, root: Schema, *, required: bool) -> Argument:
    kinds: dict[str, None] = {}
    limits: dict[str, None] = {}
    allowed: dict[str, None] = {}
    for choice in choices(schema, root):
        items = [choice]
        kind = _kind(choice)
        if "array" in _types(choice):
            items = choices(resolved(choice.get("items"), root), root)
            inner = dict.fromkeys(_kind(item, plural=True) for item in items)
            kind = f"list of {' or '.join(inner)}"
            limits |= dict.fromkeys(_limits(choice))
        kinds[kind] = None
        for item in items:
            values = item.get("enum", [item["const"]] if "const" in item else [])
            allowed |= dict.fromkeys(_value(value) for value in _list(values) if value is not None)
            limits |= dict.fromkeys(
                f"{limit}{' each' * (item is not choice)}" for limit in _limits(item)
            )
    default = schema.get("default")
    return Argument(
        name=name,
        kind=" or ".join(kinds),
        required=required,
        limits=tuple(limits),
        allowed=tuple(allowed),
        default="" if default is None or default in ([], {}, "") else _value(default),
        description=str(schema.get("description") or schema.get("title") or ""),
    )


def _types(schema: Schema) -> list[str]:
    kind = schema.get("type")
    types = [kind] if isinstance(kind, str) else [name for name in _list(kind) if name != "null"]
    if types:
        return [str(name) for name in types]
    if "properties" in schema:
        return ["object"]
    if "items" in schema:
        return ["array"]
    values = _list(schema.get("enum", [schema["const"]] if "const" in schema else []))
    return ["string"] if values and all(isinstance(value, str) for value in values) else []


def _kind(schema: Schema, *, plural: bool = False) -> str:
    types = _types(schema)
    words = [_KINDS.get(name, (name, name))[plural] for name in types]
    form = schema.get("format")
    shown = f" ({form})" if isinstance(form, str) and types == ["string"] else ""
    return (" or ".join(words) or ("values" if plural else "any value")) + shown


def _limits(schema: Schema) -> Iterator[str]:
    types = _types(schema)
    if {"integer", "number"} & set(types):
        yield from _range(schema.get("minimum"), schema.get("maximum"), "")
        if (above := schema.get("exclusiveMinimum")) is not None:
            yield f"more than {_number(above)}"
        if (below := schema.get("exclusiveMaximum")) is not None:
            yield f"less than {_number(below)}"
        if (step := schema.get("multipleOf")) is not None:
            yield f"a multiple of {_number(step)}"
    if "string" in types:
        least = schema.get("minLength")
        least = None if least in {0, 1} else least
        yield from _range(least, schema.get("maxLength"), "character")
        if (pattern := schema.get("pattern")) is not None:
            yield f"matches {pattern}"
    if "array" in types:
        least = schema.get("minItems")
        yield from _range(None if least == 0 else least, schema.get("maxItems"), "item")
        if schema.get("uniqueItems") is True:
            yield "each once"


def _range(least: object, most: object, noun: str) -> Iterator[str]:
    if (least, most) == _NO_LIMIT:
        return
    bound = least if most is None else most
    words = f" {noun}{'s' * (bound != 1)}" if noun else ""
    if most is None:
        yield f"at least {_number(least)}{words}"
    elif least is None:
        yield f"at most {_number(most)}{words}"
    else:
        yield f"{_number(least)} to {_number(most)}{words}"


def _number(value: object) -> str:
    is_large = isinstance(value, (int, float)) and abs(value) >= 10_000
    return f"{value:,}" if is_large else str(value)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else []
