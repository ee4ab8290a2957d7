"""What a guest hands over, read from wasmtime's C values.

The contract's types are few and known, so they are written down here (see `functions`). A
component may declare an import with another type than the contract's, and wasmtime would still link
it. So the kind of every value is checked before it is read: each function here raises
`MismatchError` for a value of another.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import addressof, byref, string_at
from typing import Any, Literal, TypeVar

from wasmtime import _ffi as c

from carrel.exchange import Request

from .kinds import ENUM, LIST, RECORD, RESULT, STRING, U32, U64
from .short_calls import keeping_the_lock

T = TypeVar("T")


#: What is read of a string that a guest hands in; the rest is neither copied nor decoded, because
#: that holds up every other thread. Far above what the fetch layer takes, so that what was cut is
#: refused there by its length.
MAX_URL_BYTES = 2**16
MAX_HEADERS = 64
MAX_HEADER_BYTES = 2**13
MAX_BODY_BYTES = 2**23
#: The same of a log line, a step of progress, or the name of a setting.
MAX_WORDS = 4096

_METHODS: dict[str, Literal["GET", "HEAD", "POST"]] = {"get": "GET", "head": "HEAD", "post": "POST"}


class MismatchError(Exception):
    """A guest passed a value of another type than the contract's."""


class OutputError(Exception):
    """A guest returned more text than it may."""


_free_text = keeping_the_lock("wasmtime_component_val_delete")


class HandedOver(c.wasmtime_component_val):
    """A value that is freed, with all that stands in it, when nobody refers to it any more.

    Attributes:
        is_text: whether it is known to be one block of memory; others may be millions, which
            takes a while to free.
        is_freed: whether nothing stands in it any more.
    """

    is_text = False
    is_freed = False

    # Bound here: at the interpreter's end modules are emptied before what they made is gone.
    def free(
        self,
        free_text: Any = _free_text,
        free: Any = c.wasmtime_component_val_delete,
        pointer: Any = byref,
    ) -> None:
        """Frees it now. Idempotent."""
        if not self.is_freed:
            self.is_freed = True
            (free_text if self.is_text else free)(pointer(self))

    def __del__(self) -> None:
        self.free()


#: Any address and what stands there; a view of it has the right length.
_Memory = ctypes.c_ubyte * sys.maxsize


def _read_string(value: Any, kind: int, most: int) -> str:
    """The string's first `most` bytes; a character that is cut through is left out."""
    if value.kind != kind:
        raise MismatchError
    text = value.of.string
    if not text.size:
        return ""
    if text.size <= most:
        return string_at(text.data, text.size).decode()
    return string_at(text.data, most).decode(errors="ignore")


def read_text_result(value: HandedOver, max_bytes: int) -> tuple[bool, memoryview]:
    """Of a string or `result<string, string>`: whether it is no `error`, and its text as UTF-8.

    The text is part of the value, which lives as long as anyone holds one of them.

    Raises:
        OutputError: the text is longer than `max_bytes`; it is not read.
    """
    if value.kind == STRING:
        return True, _read_output(value, value, max_bytes)
    if value.kind != RESULT or not value.of.result.val:
        raise MismatchError
    return value.of.result.is_ok, _read_output(value.of.result.val.contents, value, max_bytes)


def _read_output(value: Any, owner: HandedOver, max_bytes: int) -> memoryview:
    if value.kind != STRING:
        raise MismatchError
    owner.is_text = True
    text = value.of.string
    if text.size > max_bytes:
        raise OutputError
    if not text.size:
        return memoryview(b"")
    memory = _Memory.from_address(addressof(text.data.contents))
    memory.owner = owner  # type: ignore[attr-defined]
    return memoryview(memory)[: text.size].toreadonly()


def _read_number(value: Any) -> int:
    if value.kind != U64:
        raise MismatchError
    return int(value.of.u64)


#: What reads a parameter of a plain type; strings come cut to `MAX_WORDS`.
READERS: dict[str, Callable[[Any], Any]] = {
    "string": lambda value: _read_string(value, STRING, MAX_WORDS),
    "enum": lambda value: _read_string(value, ENUM, MAX_WORDS),
    "u64": _read_number,
}


def read_plain(value: Any) -> str | int:
    """A u32, or a string, of which nothing is cut."""
    if value.kind == U32:
        return int(value.of.u32)
    return _read_string(value, STRING, sys.maxsize)


def _read_fields(value: Any, count: int) -> Any:
    if value.kind != RECORD or value.of.record.size != count:
        raise MismatchError
    return value.of.record.data


def length_of(value: Any) -> int:
    """How many items a list has."""
    if value.kind != LIST:
        raise MismatchError
    return int(value.of.list.size)


def read_list(value: Any, read: Callable[[Any], T], most: int | None = None) -> list[T]:
    """A list's items, the first `most` of them."""
    size = length_of(value)
    items = value.of.list
    return [read(items.data[place]) for place in range(size if most is None else min(size, most))]


def _read_header(value: Any) -> tuple[str, str]:
    fields = _read_fields(value, 2)
    name = _read_string(fields[0].val, STRING, MAX_HEADER_BYTES)
    return name.lower(), _read_string(fields[1].val, STRING, MAX_HEADER_BYTES)


def read_request(value: Any) -> Request:
    """What a guest asks of an upstream, its strings cut at the bounds above."""
    fields = _read_fields(value, 5)
    return Request(
        method=_METHODS[_read_string(fields[0].val, ENUM, MAX_WORDS)],
        url=_read_string(fields[1].val, STRING, MAX_URL_BYTES),
        headers=tuple(read_list(fields[2].val, _read_header, MAX_HEADERS)),
        body=_read_string(fields[3].val, STRING, MAX_BODY_BYTES),
        refresh=_read_string(fields[4].val, ENUM, MAX_WORDS) == "refresh",
    )
