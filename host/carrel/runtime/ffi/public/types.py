"""The contract's types, compared with those that a component declares.

wasmtime links a host function to an import of any type. wasmtime-py converts what a guest passes by
the declared type, and keeps the exception of a failed conversion in a variable of its module, where
the call of another thread may find it. So declared types are compared before a component runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wasmtime.component import (
    F64,
    U16,
    U32,
    U64,
    EnumType,
    FuncType,
    ListType,
    RecordType,
    ResultType,
    String,
    VariantType,
)

#: A type: a class of wasmtime-py's for one that has no parts.
Shape = Any


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    element: Shape


@dataclass(frozen=True, slots=True)
class RecordOf:
    """A record with these fields."""

    fields: Mapping[str, Shape]


@dataclass(frozen=True, slots=True)
class VariantOf:
    """A variant with these cases."""

    cases: Mapping[str, Shape]


@dataclass(frozen=True, slots=True)
class ResultOf:
    """A result."""

    ok: Shape
    error: Shape


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's type."""

    takes: Sequence[Shape]
    gives: Shape | None = None


_HEADERS = ListOf(RecordOf({"name": String, "value": String}))
_NUMBER = RecordOf({"number": U64})
_REQUEST = RecordOf(
    {"method": EnumType, "url": String, "headers": _HEADERS, "body": String, "cache": EnumType}
)
_RESPONSE = RecordOf({"status": U16, "url": String, "headers": _HEADERS, "body": String})
_ERROR = VariantOf(
    {
        "denied": RecordOf({"reason": String, "grant": String}),
        "timeout": _NUMBER,
        "rate-limited": RecordOf({"seconds": F64}),
        "too-large": _NUMBER,
        "unreachable": _NUMBER,
        "undecodable": _NUMBER,
    }
)
_OUTCOME = ResultOf(_RESPONSE, RecordOf({"url": String, "error": _ERROR, "message": String}))

FETCH = Signature((_REQUEST,), _OUTCOME)
DISCARD = Signature((_REQUEST,))
FETCH_ALL = Signature((ListOf(_REQUEST),), ListOf(_OUTCOME))
#: The classes for types of `bounds.Plain`.
PLAIN: dict[str, Shape] = {"string": String, "enum": EnumType, "u32": U32, "u64": U64}
#: Results of a plugin's own functions.
TEXTS: tuple[Shape, ...] = (String, ResultOf(String, String))


def has_signature(declared: Any, signature: Signature) -> bool:
    """Returns whether a declared type is a function's of this signature."""
    if not isinstance(declared, FuncType):
        return False
    takes = [kind for _name, kind in declared.params]
    if len(takes) != len(signature.takes):
        return False
    if not all(map(has_shape, takes, signature.takes)):
        return False
    gives = declared.result
    if gives is None or signature.gives is None:
        return gives is None and signature.gives is None
    return has_shape(gives, signature.gives)


def has_shape(declared: Any, shape: Shape) -> bool:
    """Returns whether a declared type is `shape`; looks no deeper than `shape` is."""
    if isinstance(shape, ListOf):
        return isinstance(declared, ListType) and has_shape(declared.element, shape.element)
    if isinstance(shape, RecordOf):
        return isinstance(declared, RecordType) and _have_shapes(declared.fields, shape.fields)
    if isinstance(shape, VariantOf):
        return isinstance(declared, VariantType) and _have_shapes(declared.cases, shape.cases)
    if isinstance(shape, ResultOf):
        return (
            isinstance(declared, ResultType)
            and has_shape(declared.ok, shape.ok)
            and has_shape(declared.err, shape.error)
        )
    return type(declared) is shape


def _have_shapes(declared: Sequence[tuple[str, Any]], shapes: Mapping[str, Shape]) -> bool:
    return [name for name, _kind in declared] == list(shapes) and all(
        has_shape(kind, shapes[name]) for name, kind in declared
    )
