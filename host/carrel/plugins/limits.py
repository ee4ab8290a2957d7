"""A call's limits: defaults, what the manifest asks for, what the operator says."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from carrel.exchange import Limits

#: Of a stranger's tool call, unless the operator says otherwise. No client has use for more, and
#: all other answers of a connection wait behind one that is being written.
STRANGERS_OUTPUT_BYTES = 8 * 2**20


#: Fetches of a module's call. A module cannot ask for several at once or declare a limit, and one
#: request for each entry of a list is what modules are written to make.
MODULE_FETCHES = 1_000


def module_limits(overrides: Mapping[str, float], *, output_bytes: int | None = None) -> Limits:
    """The limits that hold for an Extism module's calls; arguments as of `effective_limits`."""
    return effective_limits(
        {}, {"fetches": MODULE_FETCHES, **overrides}, trusted=False, output_bytes=output_bytes
    )


def effective_limits(
    asked: Mapping[str, float],
    overrides: Mapping[str, float],
    *,
    trusted: bool,
    output_bytes: int | None = None,
) -> Limits:
    """The limits that hold for a plugin's calls.

    Args:
        asked: the manifest's `limits`.
        overrides: the operator's, which win.
        trusted: whether what the manifest asks for is granted: so for built-in plugins. Another
            plugin can ask for less than the defaults, never for more.
        output_bytes: the default to use in place of that of `Limits`.
    """
    defaults = Limits()
    if output_bytes is not None:
        defaults = dataclasses.replace(defaults, output_bytes=output_bytes)
    values: dict[str, float] = {}
    for name, value in asked.items():
        values[name] = value if trusted else min(value, getattr(defaults, name))
    values.update(overrides)
    return dataclasses.replace(defaults, **values)  # type: ignore[arg-type]
