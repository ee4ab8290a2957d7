"""The one JSON text that the host reads from a guest, decoded under caps."""

from __future__ import annotations

from typing import Any

from .errors import ContractViolation

#: Deeper nesting is refused. It is the limit of the decoder (jiter), which stops there by itself.
MAX_DEPTH = 200


def decode_object(text: str | bytes, *, plugin: str, tool: str) -> dict[str, Any]:
    """The JSON object that a guest returned; its size was capped when it left the sandbox.

    `pydantic_core.from_json` because it bounds depth, takes no NaN, and is quicker than `json`.

    Raises:
        ContractViolation: not JSON, too deep, or not an object.
    """
    from pydantic_core import from_json

    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ContractViolation(
            f"{plugin}: {tool} returned text that is not JSON: {error}", plugin=plugin, tool=tool
        ) from None
    if not isinstance(value, dict):
        raise ContractViolation(
            f"{plugin}: {tool} returned JSON that is not an object", plugin=plugin, tool=tool
        )
    return value
