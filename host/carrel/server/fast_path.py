"""Fast path: handles plain tool calls and cached tool lists without the SDK.

The SDK creates a task, a cancel scope and a context for each request, which takes more time than a
small call. A plain tool call on an initialised connection needs none of them, nor does a cached
tool list. The SDK handles everything else: a call that asks for progress or log lines, that is rate
limited, whose plugin is not loaded yet, or whose tool does not exist.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcp_types import JSONRPCNotification, JSONRPCRequest, RequestId

from carrel.errors import Cancelled, CarrelError, InternalError

from .calls import ToolCalls
from .frames import encode_response

if TYPE_CHECKING:
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.tools import Result

    from .request_observer import CallReport

logger = logging.getLogger(__name__)

_PLAIN: Final = frozenset({"name", "arguments"})


def plain_call(params: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None] | None:
    """Returns the name and the arguments of a plain call, which has no other members; else None."""
    if not params.keys() <= _PLAIN:
        return None
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, dict | None):
        return None
    return name, arguments


class FastPath:
    """The calls of one connection on the fast path. Used on the event loop only.

    Args:
        calls: runs them.
        answer: called with a request's id and its response line; None for no response.
        find_list: returns the cached response to `tools/list` for a revision, or None.
        session: the id of its session; None without one.
    """

    def __init__(
        self,
        calls: ToolCalls,
        answer: Callable[[RequestId, bytes | None], None],
        *,
        find_list: Callable[[str], dict[str, Any] | None] = lambda _revision: None,
        session: str | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls = calls
        self._answer = answer
        self._find_list = find_list
        self._session = session
        self._running: dict[RequestId, RunningCall[Result]] = {}
        self._reports: dict[RequestId, CallReport] = {}

    def take(self, request: JSONRPCRequest, revision: str) -> bool:
        """Handles a request and returns True; returns False if the fast path does not support
        it.
        """
        params = request.params
        if request.method == "tools/list" and not params:
            return self._list(request.id, revision)
        if request.method != "tools/call" or params is None:
            return False
        plain = plain_call(params)
        if plain is None:
            return False
        name, arguments = plain
        start = partial(self._calls.start, name, arguments)
        observer, report = self._calls.observer, None
        if observer is not None:
            report = observer.begin(name, params, request.id, self._session)
        try:
            started = start() if report is None else report.run(start)
        except CarrelError as error:
            self._refuse(request.id, self._calls.failure(error, name, revision), report, error)
            return True
        except Exception:
            logger.exception("tool %.100r could not start", name)
            fault = InternalError()
            self._refuse(request.id, self._calls.failure(fault, name, revision), report, fault)
            return True
        if started is None:
            if report is not None:
                report.dropped()
            return False
        if report is not None:
            self._reports[request.id] = report
        self._run(request.id, started, name, revision)
        return True

    def _list(self, id_: RequestId, revision: str) -> bool:
        result = self._find_list(revision)
        if result is not None:
            self._answer(id_, encode_response(id_, result))
        return result is not None

    def _refuse(
        self,
        id_: RequestId,
        failure: dict[str, Any],
        report: CallReport | None,
        error: CarrelError,
    ) -> None:
        if report is not None:
            report.code = error.error_code
            report.ended()
        self._answer(id_, encode_response(id_, failure))

    def _run(self, id_: RequestId, started: RunningCall[Result], name: str, revision: str) -> None:
        self._running[id_] = started
        report = self._reports.get(id_)

        if started.is_done:  # a cached result
            line = encode_response(id_, self._calls.outcome(started, name, revision, report))
            self._finish(id_, started, line)
            return

        def ended() -> None:
            # In the worker's thread, because validating a large result must not block the loop.
            line = encode_response(id_, self._calls.outcome(started, name, revision, report))
            try:
                self._loop.call_soon_threadsafe(self._finish, id_, started, line)
            except RuntimeError:
                pass  # the event loop has ended

        started.when_done(ended)

    def _finish(self, id_: RequestId, started: RunningCall[Result], line: bytes | None) -> None:
        if self._running.get(id_) is started:  # not cancelled
            del self._running[id_]
            report = self._reports.pop(id_, None)
            if report is not None:
                report.ended()
            self._calls.ended(started)
            self._answer(id_, line)

    def notice(self, notification: JSONRPCNotification) -> None:
        """Cancels the call that a notification names, if it is on the fast path."""
        if notification.method != "notifications/cancelled":
            return
        request_id = (notification.params or {}).get("requestId")
        for id_ in list(self._running):
            # As in the SDK, a numeric id may be sent as a string.
            if id_ == request_id or str(id_) == request_id:
                self._interrupt(id_)

    def close(self) -> None:
        """Cancels every call without a response, because the connection ends."""
        for id_ in list(self._running):
            self._interrupt(id_)

    def _interrupt(self, id_: RequestId) -> None:
        started = self._running[id_]
        started.call.cancel()
        if id_ in self._reports:
            self._reports[id_].code = Cancelled.code
        self._finish(id_, started, None)
