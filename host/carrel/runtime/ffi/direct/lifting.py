"""Lifts wasmtime's C values to Python values.

The contract's types are few and fixed, so they are written down here (see `calls`). A component may
declare an import with another type than the contract's, and wasmtime links it all the same. So the
tag of every value is checked before the value is read: each function here raises `MismatchError`
for a value of another type.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import addressof, byref, string_at
from typing import Any, Literal, TypeVar
from weakref import ref

from wasmtime import _ffi as c

from carrel.exchange import Request
from carrel.runtime.ffi.bounds import (
    MAX_BODY_BYTES,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    MAX_URL_BYTES,
    MAX_WORDS,
    MismatchError,
    OutputError,
)

from .kinds import ENUM, LIST, RECORD, RESULT, STRING, U32, U64

T = TypeVar("T")

_METHODS: dict[str, Literal["GET", "HEAD", "POST"]] = {"get": "GET", "head": "HEAD", "post": "POST"}


class _ValueHandle:
    """Owns a wasmtime value; a C finalizer frees it, so no Python code runs.

    A `__del__` would run as Python code wherever the last reference is dropped. A signal handler
    that raised there would lose its exception, because Python ignores exceptions in `__del__`.
    """

    __slots__ = ("__weakref__",)

    def __init__(self, value: Any) -> None:
        finalizer = _Finalizer(self, _free)
        finalizer.value = value
        finalizer._as_parameter_ = addressof(value)
        _finalizers.keep(finalizer)


class _Finalizer(ref[_ValueHandle]):
    """A weak reference whose callback is a C function; ctypes passes it as the value's address."""

    __slots__ = ("_as_parameter_", "value")

    _as_parameter_: int
    value: Any


class _Finalizers:
    """Keeps the finalizers of live handles: a weak reference that is collected calls nothing.

    Finalizers of freed handles are removed when the number of all has doubled, so the cost for each
    is constant, however many results a program keeps.
    """

    def __init__(self) -> None:
        self._kept: dict[int, _Finalizer] = {}
        self._room = _SPARE

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, finalizer: _Finalizer) -> None:
        """Keeps a finalizer until its handle is freed."""
        if len(self._kept) >= self._room:
            for key, old in list(self._kept.items()):
                if old() is None:
                    self._kept.pop(key, None)
            self._room = 2 * len(self._kept) + _SPARE
        self._kept[id(finalizer)] = finalizer


#: Finalizers of freed handles that may be kept; each takes 200 bytes.
_SPARE = 64
_finalizers = _Finalizers()
#: A GIL-held call: a value that holds one text is freed at once.
_free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("wasmtime_component_val_delete", c.dll))

#: Memory from any address on; a slice of it has the right length.
_Memory = ctypes.c_ubyte * sys.maxsize


def _read_string(value: Any, kind: int, most: int) -> str:
    """Reads a string's first `most` bytes, without a last character that is incomplete."""
    if value.kind != kind:
        raise MismatchError
    text = value.of.string
    if not text.size:
        return ""
    if text.size <= most:
        return string_at(text.data, text.size).decode()
    return string_at(text.data, most).decode(errors="ignore")


def read_text_result(value: Any, max_bytes: int) -> tuple[bool, memoryview]:
    """Returns whether a string or `result<string, string>` is no `error`, and its text as UTF-8.

    Takes ownership of the value. Its text is not copied; the last view of it frees it.

    Raises:
        OutputError: the text is longer than `max_bytes`; it is not read.
    """
    try:
        is_ok, text = _text_result(value, max_bytes)
    except (MismatchError, OutputError):
        # A list may be millions of blocks, so this releases the GIL.
        c.wasmtime_component_val_delete(byref(value))
        raise
    handle = _ValueHandle(value)
    if not text.size:
        return is_ok, memoryview(b"")
    memory = _Memory.from_address(addressof(text.data.contents))
    memory.handle = handle  # type: ignore[attr-defined]
    return is_ok, memoryview(memory)[: text.size].toreadonly()


def _text_result(value: Any, max_bytes: int) -> tuple[bool, Any]:
    is_ok = True
    if value.kind == RESULT and value.of.result.val:
        is_ok = value.of.result.is_ok
        value = value.of.result.val.contents
    if value.kind != STRING:
        raise MismatchError
    if value.of.string.size > max_bytes:
        raise OutputError
    return is_ok, value.of.string


def _read_u32(value: Any) -> int:
    if value.kind != U32:
        raise MismatchError
    return int(value.of.u32)


def _read_u64(value: Any) -> int:
    if value.kind != U64:
        raise MismatchError
    return int(value.of.u64)


#: Reads a parameter of a plain type; strings cut to so many bytes.
READERS: dict[str, Callable[[Any, int], Any]] = {
    "string": lambda value, most: _read_string(value, STRING, most),
    "enum": lambda value, most: _read_string(value, ENUM, most),
    "u32": lambda value, _most: _read_u32(value),
    "u64": lambda value, _most: _read_u64(value),
}


def _read_fields(value: Any, count: int) -> Any:
    if value.kind != RECORD or value.of.record.size != count:
        raise MismatchError
    return value.of.record.data


def length_of(value: Any) -> int:
    """Returns the number of a list's items."""
    if value.kind != LIST:
        raise MismatchError
    return int(value.of.list.size)


def read_list(value: Any, read: Callable[[Any], T], most: int | None = None) -> list[T]:
    """Reads a list's items, at most the first `most`."""
    size = length_of(value)
    items = value.of.list
    return [read(items.data[index]) for index in range(size if most is None else min(size, most))]


def _read_header(value: Any) -> tuple[str, str]:
    fields = _read_fields(value, 2)
    name = _read_string(fields[0].val, STRING, MAX_HEADER_BYTES)
    return name.lower(), _read_string(fields[1].val, STRING, MAX_HEADER_BYTES)


def read_request(value: Any) -> Request:
    """Reads a request, its strings cut at the lengths in `bounds`."""
    fields = _read_fields(value, 5)
    return Request(
        method=_METHODS[_read_string(fields[0].val, ENUM, MAX_WORDS)],
        url=_read_string(fields[1].val, STRING, MAX_URL_BYTES),
        headers=tuple(read_list(fields[2].val, _read_header, MAX_HEADERS)),
        body=_read_string(fields[3].val, STRING, MAX_BODY_BYTES),
        refresh=_read_string(fields[4].val, ENUM, MAX_WORDS) == "refresh",
    )
