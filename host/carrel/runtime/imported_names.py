"""Reads a plugin's imports from its bytes, without compiling or running it.

For display only. `imports` decides what may run, from the imports that wasmtime reports.
"""

from __future__ import annotations

from carrel.errors import LoadError

from .leb128 import read_leb128
from .sections import is_core_module, sections

_IMPORT_SECTION = 10

# externdesc of the component model's binary format: kind → how many LEB128 numbers follow it.
_MODULE, _TYPE = 0x00, 0x03
_ONE_INDEX = frozenset({0x01, 0x04, 0x05})  # func, component, instance


def imported_names(wasm: bytes) -> list[str]:
    """Returns the names of a module's imports, or of the outermost component's, in order.

    Ends at the first import that this reader does not know: a name that is missing here is still
    refused when the component is loaded.
    """
    if is_core_module(wasm):
        return _names_of_module(wasm)
    return [
        name
        for section, start, end in sections(wasm)
        if section == _IMPORT_SECTION
        for name in _names_in(wasm[start:end])
    ]


def _names_of_module(wasm: bytes) -> list[str]:
    from .extism.outline import read_outline

    try:
        imports = read_outline(wasm, "").imports
    except LoadError:
        return []
    return [f"{imported.module}#{imported.name}" for imported in imports]


def _names_in(section: bytes) -> list[str]:
    count, at = read_leb128(section, 0)
    names: list[str] = []
    for _ in range(count):
        if at + 1 >= len(section):
            break
        length, start = read_leb128(section, at + 1)  # behind the byte that says which kind of name
        at = start + length
        if length < 0 or at + 1 >= len(section):
            break
        names.append(section[start:at].decode("utf-8", "replace"))
        kind = section[at]
        if kind in _ONE_INDEX:
            at += 1
        elif kind == _MODULE or (kind == _TYPE and section[at + 1] == 0):
            at += 2  # one more byte before the index
        elif kind == _TYPE:
            at += 2  # a bare bound has no index
            continue
        else:
            break
        _, at = read_leb128(section, at)
    return names
