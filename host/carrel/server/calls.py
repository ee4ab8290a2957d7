"""Runs one `tools/call`: rate limit, start, progress, result or error."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SERVER_INFO_META_KEY, Implementation
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from carrel.awaiting import run_in_thread
from carrel.config import ServerConfig
from carrel.errors import CarrelError, InternalError, RequestRefusedError, UnknownNameError
from carrel.exchange import Call
from carrel.principal import current_principal
from carrel.text.printable import printable

from . import answers
from .progress import ProgressRelay
from .rate_limit import CallRateLimit
from .toolbox_loader import ToolboxLoader

if TYPE_CHECKING:
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.tools import Result, Toolbox

    from .identity.allowances import Allowances
    from .request_observer import CallReport, RequestObserver

logger = logging.getLogger(__name__)

T = TypeVar("T")

Context = ServerRequestContext[Any, Any]

#: JSON-RPC error code of a request over the limit of requests in flight.
BUSY: Final = -32000

_NAME_LENGTH = 128
#: Keyword of a schema that asks for an argument in an HTTP header too.
_HEADER_ARGUMENT: Final = '"x-mcp-header"'


class ToolCalls:
    """Runs tool calls and tracks those that are running.

    Args:
        loader: creates the toolbox.
        settings: the limits.
        identity: the server's, added to results if the revision asks for it.
        raw: whether the transport can write a component's JSON text unchanged.
        allowances: the limits of principals; None without identity.
    """

    def __init__(
        self,
        loader: ToolboxLoader,
        settings: ServerConfig,
        identity: Implementation,
        *,
        raw: bool,
        allowances: Allowances | None = None,
    ) -> None:
        self._loader = loader
        self._allowances = allowances
        self._pace = CallRateLimit(
            settings.calls_per_second, settings.burst, settings.patience_seconds
        )
        self._identity = identity.model_dump(by_alias=True, mode="json", exclude_none=True)
        self._raw = raw
        self._is_compact = settings.text == "compact"
        self._running: dict[int, Call] = {}  # by identity, because calls are not hashable values
        self._untrusted: dict[str, bool] = {}
        self._header_arguments: dict[str, bool] = {}
        self.answered = 0
        #: Counts and records calls; None without an operator's settings.
        self.observer: RequestObserver | None = None

    @property
    def running(self) -> int:
        """The number of running calls."""
        return len(self._running)

    def cancel_all(self) -> None:
        """Cancels every running call; each returns a `cancelled` error."""
        for call in list(self._running.values()):
            call.cancel()

    def forget_tools(self) -> None:
        """Clears the cache of tools, after they changed."""
        self._untrusted.clear()
        self._header_arguments.clear()

    async def answer(
        self, ctx: Context, name: str, arguments: Mapping[str, Any] | None, *, raw: bool
    ) -> dict[str, Any]:
        """Runs a call and returns its MCP result; a failure is a result too.

        Raises:
            MCPError: no such tool.
        """
        revision = ctx.protocol_version
        try:
            result = await self._observed(name, partial(self._run, ctx, name, arguments))
        except UnknownNameError as error:
            if error.kind != "tool":
                return self.failure(error, name, revision)
            is_short = len(name) <= _NAME_LENGTH
            message = printable(answers.message_of(error)) if is_short else "unknown tool"
            data = {"error": answers.error_object(error)} if is_short else None
            raise MCPError(INVALID_PARAMS, message, data) from None
        except RequestRefusedError as error:
            raise MCPError(error.rpc_code, printable(answers.message_of(error), 2000)) from None
        except CarrelError as error:
            return self.failure(error, name, revision)
        except Exception:
            logger.exception("tool %.100r failed", name)
            return self.failure(InternalError(), name, revision)
        text_format = wanted_text((ctx.params or {}).get("_meta"))
        raw = raw and self._raw
        if text_format == "json" or not (self._is_compact or text_format):
            answer = answers.success(result, revision=revision, raw=raw)
        else:
            answer = await run_in_thread(self._compact, result, revision, raw)
        return self._finish(answer, name, revision, result.meta)

    async def _observed(self, tool: str, run: Callable[[], Awaitable[T]]) -> T:
        """Runs a call of a tool, or of another method (""), and reports it."""
        if self.observer is None:
            return await run()
        answer: T = await self.observer.call(tool, run)
        return answer

    def start(self, name: str, arguments: Mapping[str, Any] | None) -> RunningCall[Result] | None:
        """Starts a call, or returns None if it must wait or the tool is unknown.

        The caller must call `ended` afterwards.

        Raises:
            CarrelError: the arguments are refused.
        """
        toolbox, principal, allowances = self._loader.loaded, current_principal(), self._allowances
        if toolbox is None or not self._pace.take():
            return None
        if allowances is not None and not allowances.take(principal):
            self._pace.put_back()
            return None
        try:
            started = toolbox.start(name, arguments)
        except UnknownNameError:
            started = None
        if started is None:
            self._pace.put_back()  # `answer` takes it
            if allowances is not None:
                allowances.put_back(principal)
            return None
        self._running[id(started.call)] = started.call
        return started

    def ended(self, started: RunningCall[Result]) -> None:
        """Records that a call started by `start` has ended."""
        self._running.pop(id(started.call), None)
        self.answered += 1

    def outcome(
        self,
        started: RunningCall[Result],
        name: str,
        revision: str,
        report: CallReport | None = None,
    ) -> dict[str, Any]:
        """Returns the MCP result of a call started by `start`, for `frames.encode_response`.

        Thread-safe.

        Args:
            started: the call.
            name: the tool's.
            revision: of the protocol.
            report: gets the code of an error.
        """
        try:
            result = started.result()
            if self._is_compact:
                answer = self._compact(result, revision, True)
            else:
                answer = answers.success(result, revision=revision, raw=True)
        except CarrelError as error:
            if report is not None:
                report.code = error.error_code
            return self.failure(error, name, revision)
        except Exception:
            logger.exception("tool %.100r failed", name)
            if report is not None:
                report.code = InternalError.code
            return self.failure(InternalError(), name, revision)
        return self._finish(answer, name, revision, result.meta)

    def _compact(self, result: Result, revision: str, raw: bool) -> dict[str, Any]:
        """Returns the result as compact text, with structured content if it was announced."""
        structured = not self._is_compact
        return answers.compact(result, revision=revision, raw=raw, structured=structured)

    def failure(self, error: CarrelError, name: str, revision: str) -> dict[str, Any]:
        """Returns the MCP result of a failure."""
        return self._finish(answers.failure(error, revision=revision), name, revision)

    async def _run(self, ctx: Context, name: str, arguments: Mapping[str, Any] | None) -> Result:
        await self._wait_for_rate_limit()
        toolbox = self._loader.loaded or await self._loader.get()
        relay = _relay(ctx)
        refresh = wants_refresh((ctx.params or {}).get("_meta"))
        try:
            with self._watched(refresh=refresh) as started:
                result = await toolbox.call(
                    name, arguments, on_progress=relay, call_started=started
                )
                if result.link is None:
                    return result
                return await run_in_thread(toolbox.linked, result)
        finally:
            if relay is not None:
                await relay.finish()

    async def _wait_for_rate_limit(self) -> None:
        """Waits until the current principal, and the server, may make another call.

        Raises:
            BusyError: the wait would be too long, or the principal's calls of the day are spent.
        """
        if self._allowances is not None:
            await self._allowances.wait(current_principal())
        await self._pace.wait()

    async def read(self, uri: str) -> Result:
        """Reads a resource of a plugin, under the rate limit of tool calls.

        Raises:
            CarrelError: no such resource, or it cannot be read.
        """

        async def run() -> Result:
            await self._wait_for_rate_limit()
            toolbox = self._loader.loaded or await self._loader.get()
            with self._watched() as started:
                return await toolbox.read_resource(uri, call_started=started)

        return await self._observed("", run)

    async def ask(self, question: Callable[[Toolbox, Callable[[Call], None]], Awaitable[T]]) -> T:
        """Runs a call that is not a tool call, under the rate limit of tool calls.

        Args:
            question: starts the call; its argument registers the call as running.

        Raises:
            CarrelError: raised by `question`.
        """

        async def run() -> T:
            await self._wait_for_rate_limit()
            toolbox = self._loader.loaded or await self._loader.get()
            with self._watched() as started:
                return await question(toolbox, started)

        return await self._observed("", run)

    @contextmanager
    def _watched(self, *, refresh: bool = False) -> Iterator[Callable[[Call], None]]:
        """Yields a function that registers a started call until the block ends."""
        calls: list[Call] = []

        def started(call: Call) -> None:
            call.refresh = refresh
            calls.append(call)
            self._running[id(call)] = call

        try:
            with self._loader.lease():
                yield started
        except asyncio.CancelledError:
            # The client cancelled, or the connection ended: interrupt the guest.
            for call in calls:
                call.cancel()
            raise
        finally:
            for call in calls:
                self._running.pop(id(call), None)
            self.answered += 1

    def _finish(
        self,
        answer: dict[str, Any],
        name: str,
        revision: str,
        own: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Adds the tool's own `_meta`, the label for external content, and what the revision
        requires.
        """
        meta: dict[str, Any] = dict(own or {})
        if self._is_untrusted(name):
            meta[answers.CONTENT_LABEL] = answers.UNTRUSTED
        if revision in MODERN_PROTOCOL_VERSIONS:
            answer["resultType"] = "complete"
            meta[SERVER_INFO_META_KEY] = self._identity
        if meta:
            answer["_meta"] = meta
        return answer

    def has_header_arguments(self, name: str) -> bool:
        """Returns whether a tool's input schema has `x-mcp-header`; true for an unknown tool."""
        has_header = self._header_arguments.get(name)
        toolbox = self._loader.loaded
        if has_header is None and toolbox is not None:
            found = next((tool for tool in toolbox.tools() if tool.name == name), None)
            if found is not None:
                has_header = _HEADER_ARGUMENT in json.dumps(found.input_schema, default=dict)
                self._header_arguments[name] = has_header
        return True if has_header is None else has_header

    def _is_untrusted(self, name: str) -> bool:
        """Returns whether the tool's results are external content; true for an unknown tool."""
        toolbox = self._loader.of_server
        if not self._untrusted and toolbox is not None:
            self._untrusted = {tool.name: tool.open_world for tool in toolbox.tools()}
        return self._untrusted.get(name, True)


def wants_refresh(meta: object) -> bool:
    """Returns whether a request's `_meta` asks to bypass the cache."""
    return isinstance(meta, dict) and meta.get(answers.REFRESH) is True


def wanted_text(meta: object) -> str | None:
    """Returns the text format that a request's `_meta` asks for; None without one."""
    text_format = meta.get(answers.TEXT) if isinstance(meta, dict) else None
    return text_format if text_format in ("json", "compact") else None


def _relay(ctx: Context) -> ProgressRelay | None:
    """Returns a progress handler if the client asked for progress, else None."""
    meta = (ctx.params or {}).get("_meta")
    if not isinstance(meta, dict) or meta.get("progressToken") is None:
        return None
    return ProgressRelay(asyncio.get_running_loop(), ctx.session.report_progress)


def session_id(ctx: Context) -> str | None:
    """Returns the id of the session that a request over HTTP belongs to; None over stdio."""
    return None if ctx.request is None else ctx.request.headers.get("mcp-session-id")
