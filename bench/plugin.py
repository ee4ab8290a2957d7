"""A no-op plugin: a component whose only tool returns its arguments."""

from __future__ import annotations

import json
import sys
from pathlib import Path

_TESTS = str(Path(__file__).parents[1] / "tests")
if _TESTS not in sys.path:
    sys.path.append(_TESTS)  # reuses the tests' guests

_OBJECT = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0}},
    "additionalProperties": False,
}

#: Returns the arguments as the result: byte for the case, pointer, length.
_ECHO = """
  (i32.store8 (i32.const 0) (i32.const 0))
  (i32.store (i32.const 4) (local.get $text))
  (i32.store (i32.const 8) (local.get $text_length))
  (return (i32.const 0))
"""


def echo_plugin(name: str) -> bytes:
    """Returns the component; its tool is listed as `<name>_echo`."""
    from support.guests import guest

    manifest = json.dumps(
        {
            "contract": "1.0",
            "name": name,
            "version": "0.1.0",
            "description": "Returns its arguments.",
            "licence": "Apache-2.0",
            "hosts": [],
            "formats": [],
            "tools": [
                {
                    "name": "echo",
                    "description": "Returns its arguments.",
                    "input_schema": _OBJECT,
                    "output_schema": _OBJECT,
                    "annotations": {
                        "read_only": True,
                        "destructive": False,
                        "idempotent": True,
                        "open_world": False,
                    },
                }
            ],
        }
    )
    wasm = guest(_ECHO, manifest=manifest).wasm
    # Real components carry their manifest in a custom section too, so listing runs no guest.
    return wasm + _custom_section("carrel:manifest", manifest.encode())


def _custom_section(name: str, body: bytes) -> bytes:
    content = _leb128(len(name)) + name.encode() + body
    return b"\0" + _leb128(len(content)) + content


def _leb128(number: int) -> bytes:
    out = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)
