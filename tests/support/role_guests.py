"""Makes guests that answer each reserved tool with a result of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.guests import Guest, guest
from support.manifests import manifest_text

#: Where results begin; strings that the host passes in are below.
_RESULTS = 2**20
_PAGE = 2**16
#: Where the address and the length of a result are left.
_ANSWER = 64


def role_guest(results: Mapping[str, str], **manifest: Any) -> Guest:
    """Returns a guest that returns `results[tool]`, and traps for every other tool.

    Args:
        results: reserved tool → JSON text.
        manifest: members of the manifest that replace the sample's.
    """
    data, body, names, at = [], [], 512, _RESULTS
    for tool, text in results.items():
        raw, name = text.encode(), tool.encode()
        data.append(
            f'(data (i32.const {names}) "{tool}") (data (i32.const {at}) "{_escaped(raw)}")'
        )
        body.append(f"""
      (if (call $is (local.get $tool) (local.get $tool_length)
                    (i32.const {names}) (i32.const {len(name)}))
        (then
          (i32.store8 (i32.const {_ANSWER}) (i32.const 0))
          (i32.store (i32.const {_ANSWER + 4}) (i32.const {at}))
          (i32.store (i32.const {_ANSWER + 8}) (i32.const {len(raw)}))
          (return (i32.const {_ANSWER}))))""")
        names, at = names + len(name), at + len(raw)
    text = manifest_text(**{"hosts": [], "contract": "1.1", "tools": [], **manifest})
    return guest(
        "".join(body) + "unreachable",
        manifest=text,
        data="\n".join(data),
        functions=_IS,
        pages=at // _PAGE + 1,
    )


#: Whether two texts are equal.
_IS = """
    (func $is (param $one i32) (param $length i32) (param $other i32) (param $its i32) (result i32)
      (local $i i32)
      (if (i32.ne (local.get $length) (local.get $its)) (then (return (i32.const 0))))
      (loop $next
        (if (i32.ge_u (local.get $i) (local.get $length)) (then (return (i32.const 1))))
        (if (i32.ne (i32.load8_u (i32.add (local.get $one) (local.get $i)))
                    (i32.load8_u (i32.add (local.get $other) (local.get $i))))
          (then (return (i32.const 0))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next))
      unreachable)
"""


def _escaped(raw: bytes) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02x}" for byte in raw
    )
