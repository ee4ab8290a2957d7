"""The one JSON text that the host reads from a guest, decoded under caps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from carrel.errors import ContractViolation

#: Deeper nesting is refused. It is the limit of the decoder (jiter), which stops there by itself.
MAX_DEPTH = 200

#: From so many bytes on the project's own texts are read by msgspec, which saves there what
#: importing it costs once.
_LARGE = 2**18


def decode_object(
    text: str | bytes, *, plugin: str, tool: str, strict: bool = False
) -> dict[str, Any]:
    """The JSON object that a guest returned; its size was capped when it left the sandbox.

    `pydantic_core.from_json` because it bounds depth, takes no NaN, and is quicker than `json`.

    Args:
        text: what came back.
        plugin: for errors.
        tool: for errors.
        strict: also refuse what readers of JSON take differently: a member that stands twice, a
            number beyond those of a double. What is checked here is what every client reads.

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
    """As `decode_object`, of a component whose bytes the project pins.

    Such a component writes JSON that every reader takes alike, and its schemas say how deep it
    goes, so that the quicker of two decoders serves: msgspec is as strict, and stops where Python's
    own recursion does.
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
            raise ValueError("a member stands twice in an object")

    def number(digits: str) -> None:
        if float(digits) in (float("inf"), float("-inf")):
            raise ValueError("a number is larger than any that JSON readers agree on")

    json.loads(text, object_pairs_hook=members, parse_float=number, parse_int=number)
