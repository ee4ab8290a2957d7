"""Calls the three functions of a component's `source` interface: describe, call, parse.

`Sandboxed` is the base class for components and Extism modules. Each has its own worker threads, so
a plugin that blocks all of them delays only its own calls. A parse may also run in its caller's
thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from carrel.errors import BusyError, CarrelError, InternalError
from carrel.exchange import Call, Fetcher, Limits
from carrel.text.utf8 import Utf8

from .allowance import LogAllowance
from .cpu_permits import CpuPermit, CpuPermits, Park, permit_count
from .documents import ENTRY, entry_arguments
from .engine import new_engine
from .ffi import Code
from .host_functions import define_imports
from .imports import imports_contract_only
from .inline import RESIDENT_BYTES_INLINE, InlineWorkers
from .instance import Execution
from .pending import Pending
from .principal_shares import PrincipalShares
from .signals import held_back
from .threads import WorkerThreads
from .ticker import Ticker
from .worker import Define, Worker

_log = logging.getLogger("carrel.runtime")

#: Seconds that a caller waits for a worker before it checks for signals and cancellation.
_PATIENCE = 0.1
#: Limits of `describe`, which only returns a text.
_DESCRIBE = Limits(cpu_seconds=2.0, wall_seconds=5.0, output_bytes=2**20)


class PluginReport(Exception):
    """The error JSON that a plugin returned, not validated yet."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


#: Called with a call's result, empty when there is none, and its error.
Ended = Callable[[bytes, Exception | None], None]


class Sandboxed:
    """Verified code and the worker threads that run it.

    Attributes:
        name: the plugin's name, for errors and logs.
        digest: SHA-256 of the plugin's bytes, lower-case hex.
    """

    def __init__(
        self,
        name: str,
        digest: str,
        code: Path | bytes,
        *,
        ticker: Ticker,
        shares: PrincipalShares,
        workers: int,
        stack_bytes: int,
        define: Define = define_imports,
    ) -> None:
        self.name = name
        self.digest = digest
        self._code = code
        self._ticker = ticker
        self._closed = False
        self._stack_bytes = stack_bytes
        self._allowance = LogAllowance()
        permits = CpuPermits()

        def make_worker(thread: int, park: Park) -> Worker:
            return Worker(stack_bytes, CpuPermit(permits, thread, park), define)

        def make_inline_worker() -> Worker:
            # Never waits for a permit: callers decide how many of their threads parse.
            return Worker(
                stack_bytes, CpuPermit(CpuPermits()), define, resident_bytes=RESIDENT_BYTES_INLINE
            )

        self._threads = WorkerThreads(name, workers, make_worker, shares)
        self._inline = InlineWorkers(make_inline_worker, min(workers, permit_count()))
        ticker.on_interval(self._threads.look_for_late)
        ticker.when_idle(self._inline.let_go_of_large)

    def close(self) -> None:
        """Ends the threads after queued and running calls have finished."""
        self._closed = True
        self._threads.close()
        self._inline.close()

    def _submit(
        self,
        execution: Execution,
        check: Callable[[bytes], None] | None = None,
        ended: Ended | None = None,
    ) -> Pending:
        """Queues an execution and starts its clocks; a deadline can pass in the queue."""
        pending = Pending()
        if self._closed:
            pending.settle(error=BusyError(0))
            return pending
        execution.when_ended_in_queue(lambda reason: pending.settle(error=reason))
        forget = execution.call.on_cancel(execution.cancel)
        self._ticker.add(execution)

        def run(worker: Worker, finish: Callable[[], None]) -> None:
            text = b""
            failure: Exception | None = None
            try:
                ok, view = worker.run(execution, self._code)
                text = bytes(view)
                if not ok:
                    failure = PluginReport(text.decode())
                elif check is not None:
                    check(text)
            except CarrelError as error:
                failure = error
            except BaseException:  # noqa: BLE001 - the waiting thread must get it
                _log.exception("%s: a call failed inside the host", self.name)
                failure = InternalError()
            forget()
            self._ticker.remove(execution)
            if ended is not None:
                ended(text, failure)
            finish()
            pending.settle(text, error=failure)

        self._threads.submit(run, execution.call.owner)
        return pending

    def _run_inline(self, execution: Execution) -> memoryview:
        """Runs an execution in the thread that calls this.

        Raises:
            PluginReport: the plugin's own error.
            CarrelError: the rest.
        """
        outcome = None
        while outcome is None:
            # Checked before each wait for a worker, so that signals and cancellation take effect
            # soon.
            execution.call.check()
            if self._closed:
                raise BusyError(0)
            with held_back():
                outcome = self._run_if_lent(execution)
        ok, text = outcome
        if not ok:
            raise PluginReport(bytes(text).decode())
        return text

    def _run_if_lent(self, execution: Execution) -> tuple[bool, memoryview] | None:
        """Runs an execution; returns None if no worker becomes free in time."""
        call = execution.call
        patience = min(_PATIENCE, call.remaining)
        with self._inline.lent(patience, execution.handing_in, call.owner) as worker:
            if worker is None:
                return None
            forget = call.on_cancel(execution.cancel)
            self._ticker.add(execution)
            try:
                return worker.run(execution, self._code)
            finally:
                forget()
                self._ticker.remove(execution)


class SandboxedComponent(Sandboxed):
    """A component of the contract.

    Attributes:
        reads_bytes: whether it exports the optional interface `documents`.
    """

    def __init__(
        self, name: str, digest: str, code: Path | bytes, *, reads_bytes: bool = False, **rest: Any
    ) -> None:
        """A component whose code was verified; `rest` is that of `Sandboxed`."""
        super().__init__(name, digest, code, **rest)
        self.reads_bytes = reads_bytes

    @cached_property
    def is_pure(self) -> bool:
        """Whether only the contract is imported: no clock, no random numbers, no WASI."""
        engine = new_engine(self._stack_bytes)
        return imports_contract_only(Code(engine, self._code))

    def describe(self) -> str:
        """Returns the manifest's JSON text, not validated."""
        call = Call(self.name, "describe", _DESCRIBE)
        return self._submit(Execution("describe", (), call)).result()

    def submit_call(
        self,
        tool: str,
        arguments: str,
        call: Call,
        *,
        fetcher: Fetcher,
        settings: Mapping[str, str],
        check: Callable[[bytes], None] | None = None,
        ended: Ended | None = None,
    ) -> Pending:
        """Starts a tool call; its outcome is the result's JSON text, unless `check` raises.

        `ended` is called in the worker's thread before the outcome is set.

        An error is a `PluginReport` if the plugin returned it, else a `CarrelError`.
        """
        execution = Execution(
            "call",
            (tool, arguments),
            call,
            fetcher=fetcher,
            settings=settings,
            allowance=self._allowance,
        )
        return self._submit(execution, check, ended)

    def parse(
        self,
        document_format: str,
        document: str | Utf8,
        call: Call,
        *,
        settings: Mapping[str, str],
        inline: bool = False,
    ) -> memoryview:
        """Parses a document and returns the result, a JSON text in UTF-8.

        Args:
            document_format: one of the plugin's.
            document: its text.
            call: limits, deadline, cancellation.
            settings: the plugin's settings.
            inline: run the guest in this thread, see `inline`.

        Raises:
            PluginReport: the plugin's own error.
            CarrelError: the rest.
        """
        return self._parse("parse", (document_format, document), call, settings, inline=inline)

    def parse_bytes(
        self,
        document_format: str,
        document: bytes,
        options: str,
        call: Call,
        *,
        settings: Mapping[str, str],
        inline: bool = False,
    ) -> memoryview:
        """The result of a document of bytes, as `parse` returns one of text.

        Args:
            document_format: one of the plugin's that is bytes.
            document: any bytes.
            options: a JSON object.
            call: limits, deadline, cancellation.
            settings: the plugin's own.
            inline: run the guest in this thread, see `inline`.

        Raises:
            PluginReport: the plugin's own error.
            CarrelError: the rest.
        """
        text, encoding = entry_arguments(document)
        arguments = (document_format, text, options, encoding)
        return self._parse(ENTRY, arguments, call, settings, inline=inline)

    def _parse(
        self,
        function: str,
        arguments: tuple[str | Utf8, ...],
        call: Call,
        settings: Mapping[str, str],
        *,
        inline: bool,
    ) -> memoryview:
        execution = Execution(
            function, arguments, call, settings=settings, allowance=self._allowance
        )
        if inline:
            return self._run_inline(execution)
        return memoryview(self._submit(execution).utf8())
