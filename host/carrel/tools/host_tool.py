"""The seam for tools that are the host's own: listed behind those of plugins, called the same way.

A plugin's tool runs in a sandbox and is checked when it returns; a host tool runs in a thread, and
what it needs of sources it asks of plugins. Both take a `Call` and give a `Pending`, so that
whoever calls a tool treats both alike.
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

#: What stands in the place of the plugin's name.
HOST: Final = "carrel"


class HostTool(Protocol):
    """A tool of the host's own."""

    @property
    def spec(self) -> ToolSpec:
        """What clients are told; its name is the whole name."""
        ...

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """A call that starts its clocks now."""
        ...

    def argument_faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """What is wrong with arguments, by the tool's input schema."""
        ...

    def start(self, arguments: Mapping[str, Any], call: Call) -> RunningCall[Result]:
        """Starts a call with arguments that were checked; the result fits the output schema."""
        ...


def start_in_thread(work: Callable[[], bytes], name: str, call: Call) -> RunningCall[Result]:
    """Runs `work`, which returns a JSON text, in a daemon thread: a hanging one must not keep the
    process alive.

    Args:
        work: may raise a `CarrelError`; any other exception is logged and becomes `InternalError`.
        name: of the thread.
        call: what it is part of.
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
    _log.error("a tool of the host's own failed", exc_info=error)
    return InternalError()
