"""Lowers Python values to wasmtime's C values.

wasmtime checks each value against the type that the component declared. See `calls`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import addressof, byref
from typing import Any

from wasmtime import _ffi as c

from carrel.exchange import Failure, FailureKind, Outcome, Response

from .gil import holding_gil
from .kinds import F64, LIST, RECORD, RESULT, STRING, U16, U32, U64, VARIANT

_Value = c.wasmtime_component_val
_Entry = c.wasmtime_component_valrecord_entry

#: Offset of a value's payload, and size of a record's entry.
_OF = _Value.of.offset
_ENTRY_SIZE = ctypes.sizeof(_Entry)

#: Bytes that are copied without releasing the GIL.
_SHORT = 2**14

# `wasm_byte_vec_new` copies. Declared with other types, so that it takes an address and `bytes`.
_TYPES = (None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
_copy_short = ctypes.PYFUNCTYPE(*_TYPES)(("wasm_byte_vec_new", c.dll))
_copy_long = ctypes.CFUNCTYPE(*_TYPES)(("wasm_byte_vec_new", c.dll))
_new_record = holding_gil("wasmtime_component_valrecord_new")
_new_list = holding_gil("wasmtime_component_vallist_new")
_new_value = holding_gil("wasmtime_component_val_new")


def _write_bytes(address: int, text: bytes) -> None:
    (_copy_short if len(text) <= _SHORT else _copy_long)(address, len(text), text)


def write_string(value: Any, text: str) -> None:
    """Writes a string."""
    value.kind = STRING
    # A lone surrogate has no UTF-8; text of an upstream has none.
    _write_bytes(addressof(value) + _OF, text.encode("utf-8", "replace"))


def _write_record(value: Any, *fields: tuple[bytes, Callable[[Any, Any], None], Any]) -> None:
    entries = (_Entry * len(fields))()
    address = addressof(entries)
    for entry, (name, write, content) in zip(entries, fields, strict=True):
        _write_bytes(address, name)
        address += _ENTRY_SIZE
        write(entry.val, content)
    value.kind = RECORD
    _new_record(byref(value.of.record), len(fields), entries)


def write_list(value: Any, items: Sequence[Any], write: Callable[[Any, Any], None]) -> None:
    """Writes a list, each item by `write`."""
    values = (_Value * len(items))()
    for slot, item in zip(values, items, strict=True):
        write(slot, item)
    value.kind = LIST
    _new_list(byref(value.of.list), len(items), values)


def write_u32(value: Any, number: int) -> None:
    """Writes a u32."""
    value.kind = U32
    value.of.u32 = number


def _write_u16(value: Any, number: int) -> None:
    value.kind = U16
    value.of.u16 = number


def write_u64(value: Any, number: int) -> None:
    """Writes a u64."""
    value.kind = U64
    value.of.u64 = number


def _write_f64(value: Any, number: float) -> None:
    value.kind = F64
    value.of.f64 = number


def _write_header(value: Any, header: tuple[str, str]) -> None:
    name, text = header
    _write_record(value, (b"name", write_string, name), (b"value", write_string, text))


def _write_headers(value: Any, headers: Sequence[tuple[str, str]]) -> None:
    write_list(value, headers, _write_header)


def write_outcome(value: Any, outcome: Outcome) -> None:
    """Writes the contract's `result<response, fetch-failure>`."""
    payload = _Value()
    if isinstance(outcome, Response):
        _write_record(
            payload,
            (b"status", _write_u16, outcome.status),
            (b"url", write_string, outcome.url),
            (b"headers", _write_headers, outcome.headers),
            (b"body", write_string, outcome.body),
        )
    else:
        _write_record(
            payload,
            (b"url", write_string, outcome.url),
            (b"error", _write_fetch_error, outcome),
            (b"message", write_string, outcome.message),
        )
    value.kind = RESULT
    value.of.result.is_ok = isinstance(outcome, Response)
    value.of.result.val = _new_value(byref(payload))


def _write_fetch_error(value: Any, failure: Failure) -> None:
    payload = _Value()
    kind = failure.kind
    if kind is FailureKind.DENIED:
        _write_record(
            payload,
            (b"reason", write_string, failure.reason),
            (b"grant", write_string, failure.grant),
        )
    elif kind is FailureKind.RATE_LIMITED:
        _write_record(payload, (b"seconds", _write_f64, float(failure.seconds)))
    else:
        _write_record(payload, (b"number", write_u64, max(0, int(failure.number))))
    value.kind = VARIANT
    _write_bytes(addressof(value) + _OF, kind.value.encode())
    value.of.variant.val = _new_value(byref(payload))
