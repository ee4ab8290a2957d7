"""The entry to a guest's `parse-bytes` by which a document crosses in one piece.

wasmtime's C interface has a value for each byte of a `list<u8>`: 10 MB take 1.5 s and 900 MB. A
string is one value. So the host appends to a component that exports `documents` a function of its
own, `ENTRY`, which takes the document as a string: as it is where its bytes are UTF-8, and in
base64 where they are not, which a small module beside the guest decodes in the guest's memory. The
module calls the same core function as the guest's own `parse-bytes`; `list<u8>` and a string in
UTF-8 reach it alike, as a pointer and a length. See docs/decisions/0031-documents-as-bytes.md.
"""

from __future__ import annotations

import binascii
from functools import cache
from pathlib import Path

from carrel.errors import LoadError
from carrel.text.utf8 import Utf8

from .definitions import (
    CORE_FUNC,
    CORE_INSTANCE,
    CORE_MODULE,
    FUNC,
    INSTANCE,
    MEMORY,
    POST_RETURN,
    REALLOC,
    TYPE,
    UTF8,
    Definitions,
    Lift,
    UnreadableError,
    read_definitions,
)
from .exported_names import exported_names
from .leb128 import write_leb128

#: The contract's optional interface and its function.
DOCUMENTS = "carrel:plugin/documents@1.0.0"
PARSE_BYTES = "parse-bytes"
#: The function that the host appends: `parse-bytes` with a string in place of the list, and the
#: string's encoding.
ENTRY = "carrel-parse-bytes"

#: An encoding, as `ENTRY` takes it.
_AS_IT_IS, _BASE64 = Utf8(b""), Utf8(b"base64")
#: Bytes that are encoded at once, a multiple of 3: other threads run in between.
_PIECE = 3 * 2**18

_WAT = Path(__file__).with_suffix(".wat")
_GUEST = "guest"
_RESULT, _FUNCTION, _STRING, _CORE_MEMORY_SORT = 0x6A, 0x40, 0x73, 0x02
_PARAMETERS = ("format", "document", "options", "encoding")


def exports_documents(wasm: bytes) -> bool:
    """Whether a component exports `documents`, by its bytes."""
    return DOCUMENTS in exported_names(wasm)


def entry_arguments(document: bytes) -> tuple[Utf8, Utf8]:
    """A document as `ENTRY` takes it: its text, and the text's encoding."""
    try:
        return Utf8(document), _AS_IT_IS
    except UnicodeDecodeError:
        pass
    pieces = range(0, len(document), _PIECE)
    view = memoryview(document)
    encoded = b"".join(
        binascii.b2a_base64(view[start : start + _PIECE], newline=False) for start in pieces
    )
    return Utf8(encoded), _BASE64


def with_entry(wasm: bytes, plugin: str) -> bytes:
    """The component with `ENTRY` appended.

    Args:
        wasm: a component that exports `documents`.
        plugin: for error messages.

    Raises:
        LoadError: its `parse-bytes` is not a function that the component itself lifts.
    """
    try:
        definitions = read_definitions(wasm)
        lift = _lift_of(definitions)
        memory, realloc = lift.options[MEMORY], lift.options[REALLOC]
    except (UnreadableError, KeyError) as fault:
        raise LoadError(
            f"{plugin}: its {DOCUMENTS}#{PARSE_BYTES} cannot be called ({_reason(fault)}); the "
            "component must lift it itself, with a memory and realloc, as wit-component does",
            plugin=plugin,
        ) from None
    assert memory is not None, "it is an index"
    assert realloc is not None, "it is an index"
    return wasm + _sections(definitions.counts, lift, memory, realloc)


def _reason(fault: Exception) -> str:
    if isinstance(fault, UnreadableError):
        return str(fault)
    return "no function of that name is lifted with a memory and realloc"


def _lift_of(found: Definitions) -> Lift:
    sort, index = found.exports[DOCUMENTS]
    if sort != INSTANCE:
        raise UnreadableError("it is not an instance")
    # An export is a separate item, after the instance that it exports.
    functions = [number for _name, kind, number in found.instances[index] if kind == FUNC]
    if len(functions) != 1:
        raise UnreadableError(f"its instance is made of {len(functions)} functions")
    lift = found.lifts[functions[0]]
    if not set(lift.options) <= {UTF8, MEMORY, REALLOC, POST_RETURN}:
        raise UnreadableError("it is asynchronous or takes strings in another encoding than UTF-8")
    return lift


@cache
def _module() -> bytes:
    import wasmtime

    return bytes(wasmtime.wat2wasm(_WAT.read_text("utf-8")))


def _sections(counts: dict[int, int], lift: Lift, memory: int, realloc: int) -> bytes:
    number, name = write_leb128, _name
    # The guest's memory and functions as an instance, and the module instantiated with it.
    guest = b"\x01" + _vector(
        [
            name("memory") + bytes([_CORE_MEMORY_SORT]) + number(memory),
            name("realloc") + b"\x00" + number(realloc),
            name("parse") + b"\x00" + number(lift.core_func),
        ]
    )
    instance = counts[CORE_INSTANCE]
    between = (
        b"\x00" + number(counts[CORE_MODULE]) + _vector([name(_GUEST) + b"\x12" + number(instance)])
    )
    alias = b"\x00\x00\x01" + number(instance + 1) + name("parse")
    text = bytes([_STRING])
    result = bytes([_RESULT, 1]) + text + b"\x01" + text
    function = (
        bytes([_FUNCTION])
        + _vector([name(parameter) + text for parameter in _PARAMETERS])
        + b"\x00"
        + _signed(counts[TYPE])
    )
    options = [bytes([UTF8]), bytes([MEMORY]) + number(memory), bytes([REALLOC]) + number(realloc)]
    freed = lift.options.get(POST_RETURN)
    if freed is not None:
        options.append(bytes([POST_RETURN]) + number(freed))
    lifted = b"\x00\x00" + number(counts[CORE_FUNC]) + _vector(options) + number(counts[TYPE] + 1)
    exported = b"\x00" + name(ENTRY) + bytes([FUNC]) + number(counts[FUNC]) + b"\x00"
    return b"".join(
        bytes([section]) + number(len(content)) + content
        for section, content in (
            (1, _module()),
            (2, _vector([guest, between])),
            (6, _vector([alias])),
            (7, _vector([result, function])),
            (8, _vector([lifted])),
            (11, _vector([exported])),
        )
    )


def _vector(items: list[bytes]) -> bytes:
    return write_leb128(len(items)) + b"".join(items)


def _name(text: str) -> bytes:
    return write_leb128(len(text)) + text.encode()


def _signed(value: int) -> bytes:
    """Encodes a type's index as a signed number, which needs a bit for the sign."""
    out = bytearray()
    while value > 0x3F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
