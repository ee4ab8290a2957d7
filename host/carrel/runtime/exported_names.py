"""Reads a component's exports from its bytes, without compiling or running it."""

from __future__ import annotations

from .leb128 import read_leb128
from .sections import sections

_EXPORT_SECTION = 11
#: Sorts of the component model's binary format; the first takes one byte more.
_CORE, _LAST_SORT = 0x00, 0x05


def exported_names(wasm: bytes) -> list[str]:
    """Returns the names of the outermost component's exports, in order.

    Ends at the first export that this reader does not know.
    """
    return [
        name
        for section, start, end in sections(wasm)
        if section == _EXPORT_SECTION
        for name in _names_in(wasm[start:end])
    ]


def _names_in(section: bytes) -> list[str]:
    count, at = read_leb128(section, 0)
    names: list[str] = []
    for _ in range(count):
        if at + 1 >= len(section):
            break
        length, start = read_leb128(section, at + 1)  # behind the byte that says which kind of name
        at = start + length
        if length < 0 or at + 1 >= len(section) or section[at] > _LAST_SORT:
            break
        names.append(section[start:at].decode("utf-8", "replace"))
        at += 2 if section[at] == _CORE else 1
        _, at = read_leb128(section, at)
        if at < 0 or at >= len(section) or section[at] != 0:
            break  # an explicit type follows
        at += 1
    return names
