"""Defines the interface of tools that the host implements.

A plugin's tool runs in a sandbox and its result is validated; a host tool runs in a thread and gets
data from sources by calling plugins. Both take a `Call` and return a `Pending`, so callers treat
them alike. Host tools are listed after those of plugins.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from carrel.errors import CarrelError, InternalError
from carrel.plugins.calls.result import Result
from carrel.plugins.calls.running_call import RunningCall
from carrel.runtime.pending import Pending

if TYPE_CHECKING:
    from carrel.exchange import Call, ProgressHandler
    from carrel.plugins.manifests.manifest import ToolSpec

_log = logging.getLogger(__name__)

#: Used in place of a plugin's name.
HOST: Final = "carrel"


class HostTool(Protocol):
    """A tool that the host implements."""

    @property
    def spec(self) -> ToolSpec:
        """The tool's description for clients; its name has no prefix."""
        ...

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a new call; its deadline starts now."""
        ...

    def argument_faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """Returns the faults of the arguments, according to the tool's input schema."""
        ...

    def start(self, arguments: Mapping[str, Any], call: Call) -> RunningCall[Result]:
        """Starts a call with validated arguments; the result conforms to the output schema."""
        ...


def start_in_thread(work: Callable[[], bytes], name: str, call: Call) -> RunningCall[Result]:
    """Runs `work`, which returns a JSON text, in a daemon thread, so that a hang cannot keep the
    process alive.

    Args:
        work: may raise a `CarrelError`; any other exception is logged and becomes `InternalError`.
        name: of the thread.
        call: the call that it belongs to.
    """
    pending = Pending()

    def settle() -> None:
        try:
            text = work()
        except Exception as error:  # noqa: BLE001 - it is raised to whatever waits for the result
            pending.settle(error=error)
        else:
            pending.settle(text)

    threading.Thread(target=settle, name=name, daemon=True).start()
    return RunningCall(call, pending, _read, _as_error)


def _read(text: bytes) -> Result:
    data: dict[str, Any] = json.loads(text)
    return Result(text, data)


def _as_error(error: Exception, _call: Call) -> CarrelError:
    _log.error("a host tool failed", exc_info=error)
    return InternalError()
