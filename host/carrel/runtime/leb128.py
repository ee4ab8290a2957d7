"""Reads and writes unsigned LEB128, the number encoding of WebAssembly's binary format."""

from __future__ import annotations


def read_leb128(data: bytes, at: int) -> tuple[int, int]:
    """Returns a number of at most 32 bits and the offset behind it; -1 when malformed."""
    value = 0
    for shift in range(0, 35, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
    return -1, at


def write_leb128(value: int) -> bytes:
    """Returns the shortest form of a number."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
