"""Tags of wasmtime's C values, for the types that the contract uses."""

from __future__ import annotations

from wasmtime import _ffi as c

STRING = c.WASMTIME_COMPONENT_STRING.value
LIST = c.WASMTIME_COMPONENT_LIST.value
RECORD = c.WASMTIME_COMPONENT_RECORD.value
ENUM = c.WASMTIME_COMPONENT_ENUM.value
VARIANT = c.WASMTIME_COMPONENT_VARIANT.value
RESULT = c.WASMTIME_COMPONENT_RESULT.value
U16 = c.WASMTIME_COMPONENT_U16.value
U32 = c.WASMTIME_COMPONENT_U32.value
U64 = c.WASMTIME_COMPONENT_U64.value
F64 = c.WASMTIME_COMPONENT_F64.value
