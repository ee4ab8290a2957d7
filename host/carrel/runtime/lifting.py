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
from weakref import ref

from wasmtime import _ffi as c

from carrel.exchange import Request

from .kinds import ENUM, LIST, RECORD, RESULT, STRING, U32, U64

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


class _Owner:
    """Whoever holds this holds a value, which is freed when nobody does any more, by C alone.

    A `__del__` would be a function of Python's, called wherever the last reference goes: an
    interrupt that came just then would be raised in it, and Python drops what is raised there.
    """

    __slots__ = ("__weakref__",)

    def __init__(self, value: Any) -> None:
        end = _End(self, _free)
        end.value = value
        end._as_parameter_ = addressof(value)
        _ends.keep(end)


class _End(ref[_Owner]):
    """A weak reference that ctypes takes for an address: a C function can be what it calls."""

    __slots__ = ("_as_parameter_", "value")

    _as_parameter_: int
    value: Any


class _Ends:
    """Has the ends of all owners that live: a weak reference that is garbage itself calls nobody.

    Those of owners that have gone are looked for when there are twice as many as there were, so
    that a program that keeps many results pays for no one of them more than once or twice.
    """

    def __init__(self) -> None:
        self._kept: dict[int, _End] = {}
        self._room = _SPARE

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, end: _End) -> None:
        """Keeps one until its owner has gone."""
        if len(self._kept) >= self._room:
            for key, old in list(self._kept.items()):
                if old() is None:
                    self._kept.pop(key, None)
            self._room = 2 * len(self._kept) + _SPARE
        self._kept[id(end)] = end


#: Ends that may be of owners that have gone; each takes 200 bytes.
_SPARE = 64
_ends = _Ends()
#: Takes no time: of a value that holds one text.
_free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("wasmtime_component_val_delete", c.dll))

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


def read_text_result(value: Any, max_bytes: int) -> tuple[bool, memoryview]:
    """Of a string or `result<string, string>`: whether it is no `error`, and its text as UTF-8.

    The value is taken over. Its text stands where it stood, and is freed with the last view of it.

    Raises:
        OutputError: the text is longer than `max_bytes`; it is not read.
    """
    try:
        is_ok, text = _text_result(value, max_bytes)
    except (MismatchError, OutputError):
        # A list may be millions of blocks, so this gives Python's lock away.
        c.wasmtime_component_val_delete(byref(value))
        raise
    owner = _Owner(value)
    if not text.size:
        return is_ok, memoryview(b"")
    memory = _Memory.from_address(addressof(text.data.contents))
    memory.owner = owner  # type: ignore[attr-defined]
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
