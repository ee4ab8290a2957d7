"""Decodes the JSON text that a guest returned, under limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from carrel.errors import ContractViolation

#: Maximum nesting, which is the built-in limit of the decoder (jiter).
MAX_DEPTH = 200

#: Minimum size in bytes of a built-in plugin's text that msgspec decodes; for smaller ones its
#: import costs more than it saves.
_LARGE = 2**18


def decode_object(
    text: str | bytes, *, plugin: str, tool: str, strict: bool = False
) -> dict[str, Any]:
    """Returns the JSON object that a guest returned; its size was capped when it left the sandbox.

    Uses `pydantic_core.from_json`, which limits depth, refuses NaN, and is faster than `json`.

    Args:
        text: the guest's text.
        plugin: for errors.
        tool: for errors.
        strict: also refuse JSON that decoders read differently: duplicate members, and numbers
            beyond the range of a double.

    Raises:
        ContractViolation: not JSON, too deep, or not an object.
    """

    def read() -> Any:
        value = _by_jiter(text)
        if strict:
            _require_one_reading(text)
        return value

    return _object(read, plugin, tool)


def decode_own_object(text: bytes | memoryview, *, plugin: str, tool: str) -> dict[str, Any]:
    """As `decode_object`, for a built-in component.

    Its JSON is unambiguous and its schemas limit the depth, so a faster decoder can be used:
    msgspec is as strict, and limits nesting by Python's recursion limit.
    """
    if len(text) >= _LARGE:
        return _object(lambda: _by_msgspec(text), plugin, tool)
    return _object(lambda: _by_jiter(bytes(text)), plugin, tool)


def _object(read: Callable[[], Any], plugin: str, tool: str) -> dict[str, Any]:
    try:
        value = read()
    except ValueError as error:
        raise ContractViolation(
            f"{plugin}: {tool} returned text that is not JSON: {error}", plugin=plugin, tool=tool
        ) from None
    if not isinstance(value, dict):
        raise ContractViolation(
            f"{plugin}: {tool} returned JSON that is not an object", plugin=plugin, tool=tool
        )
    return value


def _by_jiter(text: str | bytes) -> Any:
    from pydantic_core import from_json

    return from_json(text, allow_inf_nan=False)


def _by_msgspec(text: bytes | memoryview) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _require_one_reading(text: str | bytes) -> None:
    import json

    def members(pairs: list[tuple[str, Any]]) -> None:
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("an object has a duplicate member")

    def number(digits: str) -> None:
        if float(digits) in (float("inf"), float("-inf")):
            raise ValueError("a number is beyond the range of a double")

    json.loads(text, object_pairs_hook=members, parse_float=number, parse_int=number)
