"""The base class of tools that the host implements.

A plugin's tool runs in a sandbox and its result is validated; a host tool runs in a thread and gets
data from sources by calling plugins. Both take a `Call` and return a `Pending`, so callers treat
them alike. Host tools are listed after those of plugins.
"""

from __future__ import annotations

import contextvars
import json
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import CarrelError, InternalError
from carrel.exchange import Call, Limits, ProgressHandler
from carrel.plugins.calls.result import LinkOffer, Result
from carrel.plugins.calls.running_call import RunningCall
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.runtime.pending import Pending

from .naming import HOST

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.manifests.tool_spec import ToolSpec

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """The result of a call with what is beside it.

    Attributes:
        data: conforms to the output schema.
        meta: members of the MCP result's `_meta`.
        link: see `Result`.
    """

    data: dict[str, Any]
    meta: Mapping[str, Any] | None = None
    link: LinkOffer | None = None


class HostTool(ABC):
    """A tool that the host implements; a subclass defines `answer`.

    Attributes:
        spec: the tool's description for clients; its name has no prefix.

    Args:
        spec: see above.
        limits: of each call; only `wall_seconds` has an effect.
    """

    def __init__(self, spec: ToolSpec, limits: Limits | None = None) -> None:
        self.spec = spec
        self._limits = limits or Limits()
        self._validator = compile_schema(spec.input_schema)

    @abstractmethod
    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any] | HostAnswer:
        """Returns the result of a call, which conforms to the output schema.

        Runs in a separate thread. A `HostAnswer` has more than the result.

        Args:
            arguments: validated.
            call: from `new_call`.

        Raises:
            CarrelError: the call failed. Any other exception is logged and becomes
                `InternalError`.
        """

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a new call; its deadline starts now."""
        return Call(HOST, self.spec.name, self._limits, on_progress)

    def close(self) -> None:  # noqa: B027 - most tools open nothing
        """Closes what the tool opened; tools that share something close it once."""

    def argument_faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """Returns the faults of the arguments, according to the tool's input schema."""
        return validation_faults(self._validator, arguments)

    def start(self, arguments: Mapping[str, Any], call: Call) -> RunningCall[Result]:
        """Starts a call with validated arguments.

        The thread is a daemon, so that a hang cannot keep the process alive.
        """
        pending = Pending()
        answered: list[HostAnswer] = []

        def work() -> None:
            try:
                answer = self.answer(arguments, call)
                answered.append(answer if isinstance(answer, HostAnswer) else HostAnswer(answer))
                text = json.dumps(answered[0].data, ensure_ascii=False, separators=(",", ":"))
                # An argument that is quoted may contain a surrogate, which UTF-8 cannot encode.
                encoded = text.encode("utf-8", "replace")
            except Exception as error:  # noqa: BLE001 - raised in the thread that waits
                pending.settle(error=error)
            else:
                pending.settle(encoded)

        def read(text: bytes) -> Result:
            data: dict[str, Any] = json.loads(text)
            return Result(text, data, meta=answered[0].meta, link=answered[0].link)

        context = contextvars.copy_context()  # so that the thread knows the call's principal
        threading.Thread(
            target=context.run, args=(work,), name=f"carrel-{self.spec.name}", daemon=True
        ).start()
        return RunningCall(call, pending, read, _as_error)


def host_limits(config: Config, wall_seconds: float) -> Limits:
    """Returns the limits of a host tool's calls.

    Args:
        config: its setting `limits.wall_seconds` overrides the default.
        wall_seconds: the default.
    """
    return Limits(wall_seconds=config.limits.get("wall_seconds", wall_seconds))


def _as_error(error: Exception, _call: Call) -> CarrelError:
    _log.error("a host tool failed", exc_info=error)
    return InternalError()
