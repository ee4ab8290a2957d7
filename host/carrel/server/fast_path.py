"""Fast path of ordinary requests: a tool call goes from the line to its worker thread and back.

The SDK makes a task, a cancel scope and a context of each request, which costs more than a small
call itself. A tool call of the plainest shape, on a connection that is open, needs none of them,
and neither does a list of tools that was made before. Everything else goes the SDK's way: a call
that asks for progress or log lines, one that must wait its turn, one of a plugin that is still to
be loaded, one of a tool that does not exist.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from mcp_types import JSONRPCNotification, JSONRPCRequest, RequestId

from carrel.errors import CarrelError, InternalError

from .calls import ToolCalls
from .frames import encode_response

if TYPE_CHECKING:
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.tools import Result

logger = logging.getLogger(__name__)

_PLAIN: Final = frozenset({"name", "arguments"})


class FastPath:
    """The calls of one connection that go the short way. Lives on the loop.

    Args:
        calls: runs them.
        answer: takes a request's id and the line that answers it; None for no answer.
        find_list: gives the answer to `tools/list` for a revision, if it was made before.
    """

    def __init__(
        self,
        calls: ToolCalls,
        answer: Callable[[RequestId, bytes | None], None],
        *,
        find_list: Callable[[str], dict[str, Any] | None] = lambda _revision: None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls = calls
        self._answer = answer
        self._find_list = find_list
        self._running: dict[RequestId, RunningCall[Result]] = {}

    def take(self, request: JSONRPCRequest, revision: str) -> bool:
        """Takes a request that can go this way; False for any other."""
        params = request.params
        if request.method == "tools/list" and not params:
            return self._list(request.id, revision)
        if request.method != "tools/call" or not params or not params.keys() <= _PLAIN:
            return False
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            return False
        try:
            started = self._calls.start(name, arguments)
        except CarrelError as error:
            self._refuse(request.id, self._calls.failure(error, name, revision))
            return True
        except Exception:
            logger.exception("tool %.100r could not start", name)
            self._refuse(request.id, self._calls.failure(InternalError(), name, revision))
            return True
        if started is None:
            return False
        self._run(request.id, started, name, revision)
        return True

    def _list(self, id_: RequestId, revision: str) -> bool:
        known = self._find_list(revision)
        if known is not None:
            self._answer(id_, encode_response(id_, known))
        return known is not None

    def _refuse(self, id_: RequestId, failure: dict[str, Any]) -> None:
        self._answer(id_, encode_response(id_, failure))

    def _run(self, id_: RequestId, started: RunningCall[Result], name: str, revision: str) -> None:
        self._running[id_] = started

        if started.is_done:  # kept from an earlier call
            line = encode_response(id_, self._calls.outcome(started, name, revision))
            self._finish(id_, started, line)
            return

        def ended() -> None:
            # In the worker's thread: checking a large result must not hold up the loop.
            line = encode_response(id_, self._calls.outcome(started, name, revision))
            try:
                self._loop.call_soon_threadsafe(self._finish, id_, started, line)
            except RuntimeError:
                pass  # the loop has ended, and the client with it

        started.when_done(ended)

    def _finish(self, id_: RequestId, started: RunningCall[Result], line: bytes | None) -> None:
        if self._running.get(id_) is started:  # nobody gave it up meanwhile
            del self._running[id_]
            self._calls.ended(started)
            self._answer(id_, line)

    def notice(self, notification: JSONRPCNotification) -> None:
        """Interrupts the call that the client gave up, if it is one of these."""
        if notification.method != "notifications/cancelled":
            return
        wanted = (notification.params or {}).get("requestId")
        for id_ in list(self._running):
            # As in the SDK, a number may come back as a string.
            if id_ == wanted or str(id_) == wanted:
                self._interrupt(id_)

    def close(self) -> None:
        """Interrupts every call, and answers none; the connection ends."""
        for id_ in list(self._running):
            self._interrupt(id_)

    def _interrupt(self, id_: RequestId) -> None:
        started = self._running[id_]
        started.call.cancel()
        self._finish(id_, started, None)
