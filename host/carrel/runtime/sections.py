"""Reads the outermost layer of a wasm binary: its kind and its custom sections.

The bytes are untrusted and are read without wasmtime. The result decides whether to compile them at
all, and the contract version is read before compiling.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrel.errors import LoadError

from .leb128 import read_leb128

_MAGIC = b"\0asm"
_COMPONENT = b"\x0d\x00\x01\x00"
_CORE_MODULE = b"\x01\x00\x00\x00"


def is_core_module(wasm: bytes) -> bool:
    """Returns whether the first eight bytes are those of a core module."""
    return wasm[:8] == _MAGIC + _CORE_MODULE


def require_component(wasm: bytes, plugin: str, *, max_bytes: int) -> None:
    """Refuses bytes that cannot be a component of the contract.

    Raises:
        LoadError: too large, empty, not wasm, a core module, text format, or an unknown version.
    """
    if len(wasm) > max_bytes:
        raise LoadError(
            f"{plugin}: {len(wasm)} bytes is over the cap of {max_bytes} for a component",
            plugin=plugin,
        )
    if wasm[:4] != _MAGIC:
        found = "an empty file" if not wasm else f"a file that starts with {wasm[:4].hex(' ')}"
        raise LoadError(f"{plugin}: not WebAssembly: {found}", plugin=plugin)
    if wasm[4:8] == _CORE_MODULE:
        raise LoadError(
            f"{plugin}: a core module, but the contract asks for a component; "
            "componentise it with `wasm-tools component new`",
            plugin=plugin,
        )
    if wasm[4:8] != _COMPONENT:
        raise LoadError(
            f"{plugin}: an unknown WebAssembly version {wasm[4:8].hex(' ')}", plugin=plugin
        )


def require_module(wasm: bytes, plugin: str, *, max_bytes: int) -> None:
    """Refuses bytes that cannot be an Extism module.

    Raises:
        LoadError: too large, or not a core module.
    """
    if len(wasm) > max_bytes:
        raise LoadError(
            f"{plugin}: {len(wasm)} bytes is over the cap of {max_bytes} for a module",
            plugin=plugin,
        )
    if not is_core_module(wasm):
        raise LoadError(f"{plugin}: not a WebAssembly core module", plugin=plugin)


def sections(wasm: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields the id, start and end offset of each outermost section, in order.

    Stops at anything malformed. Yields offsets to avoid copying the code.
    """
    at = 8
    while at < len(wasm):
        section = wasm[at]
        size, start = read_leb128(wasm, at + 1)
        at = start + size
        if size < 0 or at > len(wasm):
            return
        yield section, start, at


def custom_sections(wasm: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields the custom sections of the outermost component, in order; stops at anything
    malformed.
    """
    for section, start, end in sections(wasm):
        if section == 0:
            length, name_at = read_leb128(wasm, start)
            if length < 0 or name_at + length > end:
                return
            name = wasm[name_at : name_at + length].decode("utf-8", "replace")
            yield name, wasm[name_at + length : end]


def custom_section(wasm: bytes, name: str) -> bytes | None:
    """Returns the first custom section of that name, or None."""
    return next((body for found, body in custom_sections(wasm) if found == name), None)
