"""The seam for tools that are the host's own: listed behind those of plugins, called the same way.

A plugin's tool runs in a sandbox and is checked when it returns; a host tool runs in a thread, and
what it needs of sources it asks of plugins. Both take a `Call` and give a `Pending`, so that
whoever calls a tool treats both alike.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from carrel.errors import CarrelError, InternalError

if TYPE_CHECKING:
    from carrel.exchange import Call, ProgressHandler
    from carrel.plugins.manifest import ToolSpec
    from carrel.runtime.pending import Pending

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

    def submit(self, arguments: Mapping[str, Any], call: Call) -> Pending:
        """Starts a call with arguments that were checked.

        It ends with a JSON text that conforms to the output schema, or with a `CarrelError`.
        """
        ...


def in_thread(work: Callable[[], bytes], name: str) -> Pending:
    """Runs `work` in a daemon thread: one that hangs must not keep the process alive."""
    from carrel.runtime.pending import Pending

    pending = Pending()

    def settle() -> None:
        try:
            text = work()
        except Exception as error:  # noqa: BLE001 - it is handed to whoever waits
            pending.settle(error=error)
        else:
            pending.settle(text)

    threading.Thread(target=settle, name=name, daemon=True).start()
    return pending


def host_outcome(pending: Pending) -> tuple[bytes, dict[str, Any]]:
    """The JSON text that a host tool returned, as UTF-8, and the same decoded; waits for it.

    Raises:
        CarrelError: what the tool ended with; `InternalError` for a fault of ours, which goes to
            the log.
    """
    import json
    import logging

    try:
        text = pending.utf8()
    except CarrelError:
        raise
    except Exception:
        logging.getLogger(__name__).exception("a tool of the host's own failed")
        raise InternalError from None
    data: dict[str, Any] = json.loads(text)
    return text, data
