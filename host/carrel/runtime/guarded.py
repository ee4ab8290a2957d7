"""Wraps host functions so that no exception crosses into a guest."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from carrel.errors import InternalError

if TYPE_CHECKING:
    from .instance import Execution

_log = logging.getLogger("carrel.runtime")


def guarded(
    current: Callable[[], Execution], function: Callable[..., Any], fallback: Any = None
) -> Callable[..., Any]:
    """Returns a host function that counts its calls, and ends the guest's call instead of raising.

    wasmtime-py stores a callback's exception in one global variable, where another thread's call
    may find it.

    Args:
        current: the execution that runs now.
        function: takes that execution and the guest's arguments.
        fallback: returned to the guest if the function may not run, or fails.
    """

    def run(*arguments: Any) -> Any:
        execution = current()
        try:
            if not execution.count_report():
                return fallback
            return function(execution, *arguments)
        except Exception:  # noqa: BLE001 - must not cross wasm
            _log.exception("%s: a host function failed", execution.call.plugin)
            execution.end(InternalError())
            return fallback

    return run
