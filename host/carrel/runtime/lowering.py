"""The contract's values to and from wasmtime's C values, spelt out type by type.

wasmtime-py converts any type: it asks the library for a type's fields again at every value, and
copies a string three times on its way in. For ten answers without a body that is 1.7 ms of a call
that takes 2.6 ms, and for a document of 10 MB it is 40 MB of memory touched for nothing. The
contract's types are few and known, so here they are written down (bench/README.md has the figures).

A component may declare an import with another type than the contract's, and wasmtime would still
link it. So the kind of every value from a guest is checked before it is read; what goes to a guest
is checked by wasmtime against the type that the component declared.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from ctypes import addressof, byref, cast, string_at
from typing import Any, Literal, TypeVar

import wasmtime
from wasmtime import _ffi as c
from wasmtime.component import Func, LinkerInstance

from carrel.exchange import Failure, FailureKind, Outcome, Request, Response

T = TypeVar("T")

_Value = c.wasmtime_component_val
_Entry = c.wasmtime_component_valrecord_entry
_BytesPointer = ctypes.POINTER(c.wasm_byte_t)
_STRING = c.WASMTIME_COMPONENT_STRING.value
_LIST = c.WASMTIME_COMPONENT_LIST.value
_RECORD = c.WASMTIME_COMPONENT_RECORD.value
_ENUM = c.WASMTIME_COMPONENT_ENUM.value
_VARIANT = c.WASMTIME_COMPONENT_VARIANT.value
_RESULT = c.WASMTIME_COMPONENT_RESULT.value
_U16 = c.WASMTIME_COMPONENT_U16.value
_U32 = c.WASMTIME_COMPONENT_U32.value
_U64 = c.WASMTIME_COMPONENT_U64.value
_F64 = c.WASMTIME_COMPONENT_F64.value

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

#: Where a value's payload stands in it, and a value in an entry of a record.
_OF = _Value.of.offset
_ENTRY_SIZE = ctypes.sizeof(_Entry)

# `wasm_byte_vec_new` copies; declared again so that it takes an address and Python's bytes.
_new_bytes = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)(
    ("wasm_byte_vec_new", c.dll)
)


class MismatchError(Exception):
    """A guest passed a value of another type than the contract's."""


class OutputError(Exception):
    """A guest returned more text than it may."""


def call_text(
    function: Func,
    store: wasmtime.Store,
    arguments: Sequence[bytes],
    *,
    max_bytes: int,
    returned: Callable[[], None],
) -> tuple[bool, bytes]:
    """Calls `func(string…) -> string` or `func(string…) -> result<string, string>`.

    Args:
        function: of an instance in `store`.
        store: the call's.
        arguments: the function's, encoded from `str`: of bytes that are not UTF-8 the library
            makes an abort.
        max_bytes: of the text that comes back; a longer one is not read.
        returned: called when the guest has returned, before its text is read.

    Returns:
        Whether the result is no `error`, and its text as UTF-8, which wasmtime has checked.

    Raises:
        WasmtimeError: the guest trapped.
        MismatchError: the function has another type.
        OutputError: the text is longer than `max_bytes`.
    """
    values = (_Value * len(arguments))()
    for value, text in zip(values, arguments, strict=True):
        value.kind = _STRING
        # Lent: the library copies it before the guest runs, and `arguments` lives until then.
        value.of.string.size = len(text)
        value.of.string.data = cast(ctypes.c_char_p(text), _BytesPointer)
    result = _Value()
    error = c.wasmtime_component_func_call(
        byref(function._func),  # noqa: SLF001 - wasmtime-py offers no other way to the C function
        store._context(),  # noqa: SLF001
        values,
        len(values),
        byref(result),
        1,
    )
    returned()
    if error:  # type: ignore[truthy-bool]
        raise wasmtime.WasmtimeError._from_ptr(error)  # noqa: SLF001
    try:
        if result.kind == _STRING:
            return True, _read_output(result, max_bytes)
        if result.kind != _RESULT or not result.of.result.val:
            raise MismatchError
        return result.of.result.is_ok, _read_output(result.of.result.val.contents, max_bytes)
    finally:
        c.wasmtime_component_val_delete(byref(result))


def add_fetch(
    instance: LinkerInstance,
    name: str,
    fetch: Callable[[list[Request]], Sequence[Outcome]],
    *,
    may_fetch: Callable[[int], bool],
    many: bool,
) -> object:
    """Defines `fetch` or, with `many`, `fetch-all` in an instance of a linker.

    Args:
        instance: the contract's `http`.
        name: the function's.
        fetch: must not raise.
        may_fetch: whether the call may make so many requests; if not it has ended, and the list is
            not read.
        many: whether it takes a list of requests.

    Returns:
        What has to live as long as the linker.
    """

    def run(values: Any, results: Any) -> None:
        if not many:
            _write_outcome(results[0], fetch([_read_request(values[0])])[0])
        elif may_fetch(_length(values[0])):
            _write_list(results[0], fetch(_read_list(values[0], _read_request)), _write_outcome)
        else:
            _write_list(results[0], (), _write_outcome)

    return _define(instance, name, run, parameters=1, results=1)


def add_words(
    instance: LinkerInstance,
    name: str,
    run: Callable[..., str | None],
    *,
    takes: Sequence[Literal["string", "enum", "u64"]],
) -> object:
    """Defines a function of plain values; strings come cut to `MAX_WORDS`.

    Args:
        instance: one of the contract's interfaces.
        name: the function's.
        run: must not raise; a text it returns goes to the guest.
        takes: the kinds of its parameters.

    Returns:
        What has to live as long as the linker.
    """
    readers = [_READERS[kind] for kind in takes]

    def call(values: Any, results: Any) -> None:
        text = run(*(read(values[place]) for place, read in enumerate(readers)))
        if text is not None:
            _write_string(results[0], text)

    return _define(instance, name, call, parameters=len(readers), results=None)


def add_text(
    instance: LinkerInstance, name: str, function: Callable[..., str], *, parameters: int
) -> object:
    """Defines a function of strings and u32s that returns a string; nothing is cut.

    Args:
        instance: the interface it belongs to.
        name: the function's.
        function: must not raise.
        parameters: how many it takes.

    Returns:
        What has to live as long as the linker.
    """

    def call(values: Any, results: Any) -> None:
        arguments = (_read_plain(values[place]) for place in range(parameters))
        _write_string(results[0], function(*arguments))

    return _define(instance, name, call, parameters=parameters, results=1)


def _define(
    instance: LinkerInstance,
    name: str,
    run: Callable[[Any, Any], None],
    *,
    parameters: int,
    results: int | None,
) -> object:
    @c.wasmtime_component_func_callback_t  # type: ignore[untyped-decorator]
    def callback(
        _data: Any, _context: Any, _type: Any, values: Any, count: int, given: Any, wanted: int
    ) -> int:
        try:
            assert count == parameters, "as many parameters as the contract's"
            assert results is None or wanted == results, "as many results as the contract's"
            run(values, given)
        except Exception as error:  # noqa: BLE001 - nothing may be raised into C
            message = f"{name} is not the contract's: {type(error).__name__}"
            failure = wasmtime.WasmtimeError(message)._consume()  # noqa: SLF001
            return cast(failure, ctypes.c_void_p).value or 0
        return 0

    encoded = name.encode()
    error = c.wasmtime_component_linker_instance_add_func(
        instance.ptr(), ctypes.create_string_buffer(encoded), len(encoded), callback, None, _nothing
    )
    if error:  # type: ignore[truthy-bool]
        raise wasmtime.WasmtimeError._from_ptr(error)  # noqa: SLF001
    return callback


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _nothing(_data: Any) -> None:
    """There is nothing to finalize."""


# -- from the guest --------------------------------------------------------------------------------


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


def _read_output(value: Any, max_bytes: int) -> bytes:
    if value.kind != _STRING:
        raise MismatchError
    text = value.of.string
    if text.size > max_bytes:
        raise OutputError
    return string_at(text.data, text.size) if text.size else b""


def _read_number(value: Any) -> int:
    if value.kind != _U64:
        raise MismatchError
    return int(value.of.u64)


_READERS: dict[str, Callable[[Any], Any]] = {
    "string": lambda value: _read_string(value, _STRING, MAX_WORDS),
    "enum": lambda value: _read_string(value, _ENUM, MAX_WORDS),
    "u64": _read_number,
}


def _read_plain(value: Any) -> str | int:
    if value.kind == _U32:
        return int(value.of.u32)
    return _read_string(value, _STRING, sys.maxsize)


def _read_fields(value: Any, count: int) -> Any:
    if value.kind != _RECORD or value.of.record.size != count:
        raise MismatchError
    return value.of.record.data


def _length(value: Any) -> int:
    if value.kind != _LIST:
        raise MismatchError
    return int(value.of.list.size)


def _read_list(value: Any, read: Callable[[Any], T], most: int | None = None) -> list[T]:
    size = _length(value)
    items = value.of.list
    return [read(items.data[place]) for place in range(size if most is None else min(size, most))]


def _read_header(value: Any) -> tuple[str, str]:
    fields = _read_fields(value, 2)
    name = _read_string(fields[0].val, _STRING, MAX_HEADER_BYTES)
    return name.lower(), _read_string(fields[1].val, _STRING, MAX_HEADER_BYTES)


def _read_request(value: Any) -> Request:
    fields = _read_fields(value, 5)
    return Request(
        method=_METHODS[_read_string(fields[0].val, _ENUM, MAX_WORDS)],
        url=_read_string(fields[1].val, _STRING, MAX_URL_BYTES),
        headers=tuple(_read_list(fields[2].val, _read_header, MAX_HEADERS)),
        body=_read_string(fields[3].val, _STRING, MAX_BODY_BYTES),
        refresh=_read_string(fields[4].val, _ENUM, MAX_WORDS) == "refresh",
    )


# -- to the guest ----------------------------------------------------------------------------------


def _write_bytes(address: int, text: bytes) -> None:
    _new_bytes(address, len(text), text)


def _write_string(value: Any, text: str) -> None:
    value.kind = _STRING
    # Half characters have no UTF-8; none of an upstream's text has them.
    _write_bytes(addressof(value) + _OF, text.encode("utf-8", "replace"))


def _write_record(value: Any, *fields: tuple[bytes, Callable[[Any, Any], None], Any]) -> None:
    entries = (_Entry * len(fields))()
    address = addressof(entries)
    for entry, (name, write, content) in zip(entries, fields, strict=True):
        _write_bytes(address, name)
        address += _ENTRY_SIZE
        write(entry.val, content)
    value.kind = _RECORD
    c.wasmtime_component_valrecord_new(byref(value.of.record), len(fields), entries)


def _write_list(value: Any, items: Sequence[Any], write: Callable[[Any, Any], None]) -> None:
    values = (_Value * len(items))()
    for one, item in zip(values, items, strict=True):
        write(one, item)
    value.kind = _LIST
    c.wasmtime_component_vallist_new(byref(value.of.list), len(items), values)


def _write_u16(value: Any, number: int) -> None:
    value.kind = _U16
    value.of.u16 = number


def _write_u64(value: Any, number: int) -> None:
    value.kind = _U64
    value.of.u64 = number


def _write_f64(value: Any, number: float) -> None:
    value.kind = _F64
    value.of.f64 = number


def _write_header(value: Any, header: tuple[str, str]) -> None:
    name, text = header
    _write_record(value, (b"name", _write_string, name), (b"value", _write_string, text))


def _write_headers(value: Any, headers: Sequence[tuple[str, str]]) -> None:
    _write_list(value, headers, _write_header)


def _write_outcome(value: Any, outcome: Outcome) -> None:
    payload = _Value()
    if isinstance(outcome, Response):
        _write_record(
            payload,
            (b"status", _write_u16, outcome.status),
            (b"url", _write_string, outcome.url),
            (b"headers", _write_headers, outcome.headers),
            (b"body", _write_string, outcome.body),
        )
    else:
        _write_record(
            payload,
            (b"url", _write_string, outcome.url),
            (b"error", _write_fetch_error, outcome),
            (b"message", _write_string, outcome.message),
        )
    value.kind = _RESULT
    value.of.result.is_ok = isinstance(outcome, Response)
    value.of.result.val = c.wasmtime_component_val_new(byref(payload))


def _write_fetch_error(value: Any, failure: Failure) -> None:
    payload = _Value()
    kind = failure.kind
    if kind is FailureKind.DENIED:
        _write_record(
            payload,
            (b"reason", _write_string, failure.reason),
            (b"grant", _write_string, failure.grant),
        )
    elif kind is FailureKind.RATE_LIMITED:
        _write_record(payload, (b"seconds", _write_f64, float(failure.seconds)))
    else:
        _write_record(payload, (b"number", _write_u64, max(0, int(failure.number))))
    value.kind = _VARIANT
    _write_bytes(addressof(value) + _OF, kind.value.encode())
    value.of.variant.val = c.wasmtime_component_val_new(byref(payload))
