"""Validates a large result of a plugin that is not built in, in a subprocess.

Decoding and validating eight megabytes blocks the interpreter for half a second and, if the result
is made for it, takes a gigabyte of memory. A child process with limits of its own does it, so calls
of other plugins continue.

Run as `python -m carrel.plugins.schemas.subprocess_check`: reads a header line and the text from
stdin, prints the faults as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from carrel.errors import ContractViolation
from carrel.runtime.child import child_command, child_environment, limit_child
from carrel.text.json_text import decode_object

from .schema import compile_schema, validation_faults

_CPU_SECONDS = 10
_MEMORY_BYTES = 2 * 2**30


def check_in_subprocess(
    text: bytes, schema: Mapping[str, Any], *, plugin: str, tool: str, seconds: float
) -> list[str]:
    """Returns what is wrong with a result by the tool's schema; empty for a valid one.

    Args:
        text: what the plugin returned.
        schema: the tool's.
        plugin: for errors.
        tool: for errors.
        seconds: how long to wait for the child.

    Raises:
        ContractViolation: not a JSON object, or too large to validate within the limits.
    """
    header = json.dumps({"schema": schema, "plugin": plugin, "tool": tool}).encode()
    refusal = f"{plugin}: {tool} returned a text of {len(text)} bytes that cannot be checked"
    try:
        child = subprocess.run(  # noqa: S603 - our own interpreter and module
            child_command("carrel.plugins.schemas.subprocess_check"),
            input=b"".join((header, b"\n", text)),
            capture_output=True,
            timeout=max(1.0, seconds),
            env=child_environment(),
            check=False,
        )
        answer = json.loads(child.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        raise ContractViolation(
            f"{refusal} within {_CPU_SECONDS} s and {_MEMORY_BYTES} bytes", plugin=plugin, tool=tool
        ) from None
    if "violation" in answer:
        raise ContractViolation(answer["violation"], plugin=plugin, tool=tool)
    return list(answer["faults"])


def _main() -> int:
    limit_child(_CPU_SECONDS, _MEMORY_BYTES)
    header = json.loads(sys.stdin.buffer.readline())
    text = sys.stdin.buffer.read()
    try:
        value = decode_object(text, plugin=header["plugin"], tool=header["tool"], strict=True)
        answer: dict[str, Any] = {
            "faults": validation_faults(compile_schema(header["schema"]), value)
        }
    except ContractViolation as violation:
        answer = {"violation": violation.message}
    sys.stdout.write(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(_main())
