"""Host functions that never raise into a guest."""

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
    """A host function: counted, and one that fails ends the call instead of raising.

    wasmtime-py parks a callback's exception in one slot for the whole module, where another
    thread's call may find it.

    Args:
        current: the execution that runs now.
        function: takes that execution, and what the guest passed.
        fallback: what the guest is told when the function may not run, or failed.
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
