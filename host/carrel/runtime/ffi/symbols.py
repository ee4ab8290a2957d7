"""The list of wasmtime-py's private names that `direct` uses, with their types and layouts.

wasmtime-py generates its bindings from the header files of the wasmtime release that it contains.
So a changed function, struct or constant of that release shows in the bindings. `differences`
compares the list with the installed bindings, at the first use of the sandbox and in a test.

The list cannot show a change of meaning under unchanged types. The sandbox's tests run on several
versions of wasmtime-py for that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

#: C function → its signature, see `_signature`.
FUNCTIONS: dict[str, str] = {
    "wasm_byte_vec_new": "(wasm_byte_vec_t*, u64, u8*) -> void",
    "wasmtime_component_delete": "(wasmtime_component_t*) -> void",
    "wasmtime_component_deserialize": (
        "(wasm_engine_t*, u8*, u64, wasmtime_component_t**) -> wasmtime_error*"
    ),
    "wasmtime_component_deserialize_file": (
        "(wasm_engine_t*, char*, wasmtime_component_t**) -> wasmtime_error*"
    ),
    "wasmtime_component_export_index_delete": "(wasmtime_component_export_index_t*) -> void",
    "wasmtime_component_extern_delete": "(wasmtime_component_extern_t*) -> void",
    "wasmtime_component_func_call": (
        "(wasmtime_component_func*, wasmtime_context*, wasmtime_component_val*, u64, "
        "wasmtime_component_val*, u64) -> wasmtime_error*"
    ),
    "wasmtime_component_get_export_index": (
        "(wasmtime_component_t*, wasmtime_component_export_index_t*, char*, u64) -> "
        "wasmtime_component_export_index_t*"
    ),
    "wasmtime_component_instance_get_func": (
        "(wasmtime_component_instance*, wasmtime_context*, "
        "wasmtime_component_export_index_t*, wasmtime_component_func*) -> bool"
    ),
    "wasmtime_component_linker_add_wasip2": "(wasmtime_component_linker_t*) -> wasmtime_error*",
    "wasmtime_component_linker_delete": "(wasmtime_component_linker_t*) -> void",
    "wasmtime_component_linker_instance_add_func": (
        "(wasmtime_component_linker_instance_t*, char*, u64, (void*, wasmtime_context*, "
        "wasmtime_component_func_type_t*, wasmtime_component_val*, u64, "
        "wasmtime_component_val*, u64) -> u64, void*, (void*) -> void) -> wasmtime_error*"
    ),
    "wasmtime_component_linker_instance_add_instance": (
        "(wasmtime_component_linker_instance_t*, char*, u64, "
        "wasmtime_component_linker_instance_t**) -> wasmtime_error*"
    ),
    "wasmtime_component_linker_instance_delete": "(wasmtime_component_linker_instance_t*) -> void",
    "wasmtime_component_linker_instantiate": (
        "(wasmtime_component_linker_t*, wasmtime_context*, wasmtime_component_t*, "
        "wasmtime_component_instance*) -> wasmtime_error*"
    ),
    "wasmtime_component_linker_new": "(wasm_engine_t*) -> wasmtime_component_linker_t*",
    "wasmtime_component_linker_root": (
        "(wasmtime_component_linker_t*) -> wasmtime_component_linker_instance_t*"
    ),
    "wasmtime_component_type": "(wasmtime_component_t*) -> wasmtime_component_type_t*",
    "wasmtime_component_type_delete": "(wasmtime_component_type_t*) -> void",
    "wasmtime_component_type_import_count": "(wasmtime_component_type_t*, wasm_engine_t*) -> u64",
    "wasmtime_component_type_import_nth": (
        "(wasmtime_component_type_t*, wasm_engine_t*, u64, char**, u64*, "
        "wasmtime_component_extern_t**) -> bool"
    ),
    "wasmtime_component_val_delete": "(wasmtime_component_val*) -> void",
    "wasmtime_component_val_new": "(wasmtime_component_val*) -> wasmtime_component_val*",
    "wasmtime_component_vallist_new": (
        "(wasmtime_component_vallist*, u64, wasmtime_component_val*) -> void"
    ),
    "wasmtime_component_valrecord_new": (
        "(wasmtime_component_valrecord*, u64, wasmtime_component_valrecord_entry*) -> void"
    ),
    "wasmtime_context_set_epoch_deadline": "(wasmtime_context*, u64) -> void",
    "wasmtime_context_set_wasi": "(wasmtime_context*, wasi_config_t*) -> wasmtime_error*",
    "wasmtime_pooling_allocation_config_delete": "(wasmtime_pooling_allocation_config_t*) -> void",
    "wasmtime_pooling_allocation_config_linear_memory_keep_resident_set": (
        "(wasmtime_pooling_allocation_config_t*, u64) -> void"
    ),
    "wasmtime_pooling_allocation_config_max_component_instance_size_set": (
        "(wasmtime_pooling_allocation_config_t*, u64) -> void"
    ),
    "wasmtime_pooling_allocation_config_max_core_instance_size_set": (
        "(wasmtime_pooling_allocation_config_t*, u64) -> void"
    ),
    "wasmtime_pooling_allocation_config_max_core_instances_per_component_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_max_memories_per_component_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_max_tables_per_component_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_max_tables_per_module_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_new": "() -> wasmtime_pooling_allocation_config_t*",
    "wasmtime_pooling_allocation_config_table_elements_set": (
        "(wasmtime_pooling_allocation_config_t*, u64) -> void"
    ),
    "wasmtime_pooling_allocation_config_table_keep_resident_set": (
        "(wasmtime_pooling_allocation_config_t*, u64) -> void"
    ),
    "wasmtime_pooling_allocation_config_total_component_instances_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_total_core_instances_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_total_gc_heaps_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_total_memories_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_total_stacks_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_config_total_tables_set": (
        "(wasmtime_pooling_allocation_config_t*, u32) -> void"
    ),
    "wasmtime_pooling_allocation_strategy_set": (
        "(wasm_config_t*, wasmtime_pooling_allocation_config_t*) -> void"
    ),
    "wasmtime_store_context": "(wasmtime_store*) -> wasmtime_context*",
    "wasmtime_store_delete": "(wasmtime_store*) -> void",
    "wasmtime_store_limiter": "(wasmtime_store*, i64, i64, i64, i64, i64) -> void",
    "wasmtime_store_new": "(wasm_engine_t*, void*, (void*) -> void) -> wasmtime_store*",
}

#: C struct or union → its size, and the offset, name and type of each field.
STRUCTS: dict[str, str] = {
    "wasm_byte_vec_t": "16: 0 size u64, 8 data u8*",
    "wasmtime_component_func_anon_0": "16: 0 store_id u64, 8 __private1 u32",
    "wasmtime_component_func_t": (
        "32: 0 _anon_1 wasmtime_component_func_anon_0, 16 __private2 u32, 24 __private3 void*"
    ),
    "wasmtime_component_instance_t": "16: 0 store_id u64, 8 __private u32",
    "wasmtime_component_val": "32: 0 kind u8, 8 of wasmtime_component_valunion",
    "wasmtime_component_valflags": "16: 0 size u64, 8 data wasm_byte_vec_t*",
    "wasmtime_component_vallist": "16: 0 size u64, 8 data wasmtime_component_val*",
    "wasmtime_component_valmap": "16: 0 size u64, 8 data wasmtime_component_valmap_entry*",
    "wasmtime_component_valrecord": "16: 0 size u64, 8 data wasmtime_component_valrecord_entry*",
    "wasmtime_component_valrecord_entry": (
        "48: 0 name wasm_byte_vec_t, 16 val wasmtime_component_val"
    ),
    "wasmtime_component_valresult": "16: 0 is_ok bool, 8 val wasmtime_component_val*",
    "wasmtime_component_valtuple": "16: 0 size u64, 8 data wasmtime_component_val*",
    "wasmtime_component_valunion": (
        "24: 0 boolean bool, 0 s8 i8, 0 u8 u8, 0 s16 i16, 0 u16 u16, 0 s32 i32, 0 u32 u32, 0 "
        "s64 i64, 0 u64 u64, 0 f32 f32, 0 f64 f64, 0 character u32, 0 string "
        "wasm_byte_vec_t, 0 list wasmtime_component_vallist, 0 record "
        "wasmtime_component_valrecord, 0 tuple wasmtime_component_valtuple, 0 variant "
        "wasmtime_component_valvariant, 0 enumeration wasm_byte_vec_t, 0 option "
        "wasmtime_component_val*, 0 result wasmtime_component_valresult, 0 flags "
        "wasmtime_component_valflags, 0 map wasmtime_component_valmap, 0 resource "
        "wasmtime_component_resource_any*"
    ),
    "wasmtime_component_valvariant": (
        "24: 0 discriminant wasm_byte_vec_t, 16 val wasmtime_component_val*"
    ),
}

#: C constant → its value.
CONSTANTS: dict[str, str] = {
    "WASMTIME_COMPONENT_ENUM": "17",
    "WASMTIME_COMPONENT_F64": "10",
    "WASMTIME_COMPONENT_LIST": "13",
    "WASMTIME_COMPONENT_RECORD": "14",
    "WASMTIME_COMPONENT_RESULT": "19",
    "WASMTIME_COMPONENT_STRING": "12",
    "WASMTIME_COMPONENT_U16": "4",
    "WASMTIME_COMPONENT_U32": "6",
    "WASMTIME_COMPONENT_U64": "8",
    "WASMTIME_COMPONENT_VARIANT": "16",
}

#: Other C type → what it is: a host function's callback, a byte of a string.
TYPES: dict[str, str] = {
    "wasm_byte_t": "u8",
    "wasmtime_component_func_callback_t": (
        "(void*, wasmtime_context*, wasmtime_component_func_type_t*, "
        "wasmtime_component_val*, u64, wasmtime_component_val*, u64) -> u64"
    ),
}

#: Opaque structs, of which there are only pointers.
OPAQUE: dict[str, str] = {
    "wasmtime_component_extern_t": "opaque",
    "wasmtime_component_linker_instance_t": "opaque",
    "wasmtime_component_t": "opaque",
}

#: Attributes of wasmtime-py's classes.
ATTRIBUTES: tuple[str, ...] = (
    "Config.ptr",
    "Engine.ptr",
    "WasiConfig._consume",
    "WasmtimeError._consume",
    "WasmtimeError._from_ptr",
)

_INTEGERS = {"b": "i", "h": "i", "i": "i", "l": "i", "q": "i"} | dict.fromkeys("BHILQ", "u")
_OTHERS = {"?": "bool", "c": "char", "d": "f64", "f": "f32", "P": "void*"}


def differences() -> Iterator[str]:
    """Yields what differs between the list and the installed wasmtime-py, in words."""
    import wasmtime

    try:
        from wasmtime import _bindings, _ffi
    except ImportError as error:
        yield str(error)
        return
    for name, expected in FUNCTIONS.items():
        yield from _difference(name, expected, getattr(_bindings, f"_{name}", None), _signature)
    described = ((STRUCTS, _layout), (TYPES, _type), (CONSTANTS, _value), (OPAQUE, _opaque))
    for names, describe in described:
        for name, expected in names.items():
            yield from _difference(name, expected, getattr(_ffi, name, None), describe)
    for name in ATTRIBUTES:
        owner, _, attribute = name.partition(".")
        if not callable(getattr(getattr(wasmtime, owner, None), attribute, None)):
            yield f"{name} is missing"
    if not isinstance(getattr(_ffi, "dll", None), ctypes.CDLL):
        yield "_ffi.dll is missing"


def _difference(name: str, expected: str, found: Any, describe: Any) -> Iterator[str]:
    if found is None:
        yield f"{name} is missing"
        return
    try:
        description = describe(found)
    except (AttributeError, KeyError, TypeError):
        description = repr(found)
    if description != expected:
        yield f"{name} is {description}, not {expected}"


def _signature(function: Any) -> str:
    """Returns a C function's parameters and result, such as `(wasm_byte_vec_t*, u64) -> void`."""
    return f"({', '.join(map(_type, function.argtypes))}) -> {_type(function.restype)}"


def _layout(struct: Any) -> str:
    """Returns a struct's size and fields, such as `16: 0 size u64, 8 data u8*`."""
    fields = [
        f"{getattr(struct, name).offset} {name} {_type(kind)}" for name, kind, *_ in struct._fields_
    ]
    return f"{ctypes.sizeof(struct)}: {', '.join(fields)}"


def _opaque(struct: Any) -> str:
    has_fields = hasattr(struct, "_fields_") or not issubclass(struct, ctypes.Structure)
    return str(struct.__name__) if has_fields else "opaque"


def _value(constant: Any) -> str:
    return str(constant.value)


def _type(kind: Any) -> str:
    """Returns a ctypes type in short: integers by their size, structs by name, pointers with a
    star.
    """
    if kind is None:
        return "void"
    if issubclass(kind, ctypes.Structure | ctypes.Union):
        return str(kind.__name__)
    if issubclass(kind, ctypes._CFuncPtr):  # type: ignore[attr-defined]  # noqa: SLF001
        takes = ", ".join(map(_type, kind._argtypes_))
        return f"({takes}) -> {_type(kind._restype_)}"
    inner = kind._type_
    if not isinstance(inner, str):
        return f"{_type(inner)}*"
    if inner in _INTEGERS:
        return f"{_INTEGERS[inner]}{8 * ctypes.sizeof(kind)}"
    return _OTHERS[inner]
