"""A call's limits: defaults, what the manifest asks for, what the operator says."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from carrel.exchange import Limits


def effective_limits(
    asked: Mapping[str, float], overrides: Mapping[str, float], *, trusted: bool
) -> Limits:
    """The limits that hold for a plugin's calls.

    Args:
        asked: the manifest's `limits`.
        overrides: the operator's, which win.
        trusted: whether what the manifest asks for is granted: so for built-in plugins. Another
            plugin can ask for less than the defaults, never for more.
    """
    defaults = Limits()
    values: dict[str, float] = {}
    for name, value in asked.items():
        values[name] = value if trusted else min(value, getattr(defaults, name))
    values.update(overrides)
    return dataclasses.replace(defaults, **values)  # type: ignore[arg-type]
