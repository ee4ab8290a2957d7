"""Runs one call of a guest in its own store and instance, under limits.

A worker thread runs one execution at a time. A CPU limit, the deadline, the client or a budget ends
it early through `end`, which keeps the first reason and interrupts the guest at its next epoch
check.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import wasmtime

from carrel import telemetry
from carrel.errors import (
    ArgumentError,
    Cancelled,
    CarrelError,
    ContractViolation,
    DeadlineExceeded,
    LimitExceeded,
)
from carrel.exchange import (
    AnswerDiscarder,
    Call,
    Failure,
    FailureKind,
    Fetcher,
    Outcome,
    QueueReporter,
    Request,
    report_denials,
)
from carrel.text.printable import printable
from carrel.text.utf8 import Utf8

from .allowance import LogAllowance
from .cpu_permits import LONG, CpuPermit
from .ffi import MismatchError, OutputError, call_text
from .traps import MEMORIES_EXCEEDED, from_wasmtime

if TYPE_CHECKING:
    from .ffi import Store
    from .worker_state import Loaded, WorkerState

_log = logging.getLogger("carrel.plugin")
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}
#: Assumed number of linear memories of a component with several; each gets an equal share of the
#: limit.
_MEMORIES = 4
#: The key under which `config.get` returns the number of the plugin's waiting requests.
WAITING = "carrel:waiting"
#: Maximum calls of log, progress, config and discard in one execution; plugins need far fewer.
_MAX_REPORTS = 5_000
#: Those after which each further one pauses the guest, and for how many seconds.
_QUICK_REPORTS, _REPORT_PAUSE = 100, 0.0001
#: Maximum lines of standard output that are logged when an execution ends.
_OUTPUT_LINES = 100


class OfflineFetcher:
    """Refuses every request, for `describe` and `parse`."""

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Denies all of them."""
        denials: list[Outcome] = [
            Failure(
                FailureKind.DENIED,
                request.url,
                "describe and parse have no network",
                reason="offline",
            )
            for request in requests
        ]
        if denials and isinstance(denials[-1], Failure):
            call.denial = denials[-1]
        return denials


class Execution:
    """One run of one function of a guest.

    Attributes:
        call: limits, deadline, cancellation.
        context: state of host functions beyond the contract's, for this call.
        handing_in: number of characters that a host function is about to pass to the guest; they
            must fit into its memory, as the arguments must.
        bulky: whether the guest made the host allocate much memory that the result does not need.
        cpu_seconds: processor time that the run took; 0 before its end.
    """

    def __init__(
        self,
        function: str,
        arguments: tuple[str | Utf8, ...],
        call: Call,
        *,
        fetcher: Fetcher | None = None,
        settings: Mapping[str, str] | None = None,
        context: object = None,
        memories: int = 1,
        allowance: LogAllowance | None = None,
    ) -> None:
        """An execution that has not started.

        Args:
            function: its name in the `source` interface.
            arguments: its arguments.
            call: the call it belongs to.
            fetcher: answers its requests; without one they are refused.
            settings: the plugin's settings as JSON texts.
            context: see the class.
            memories: number of linear memories, if known; each gets an equal share of the limit.
            allowance: limit of log lines, shared with other executions.
        """
        self.call = call
        self.context = context
        self.handing_in = sum(len(argument) for argument in arguments)
        self._memories = memories
        self._function = function
        self._arguments = arguments
        self._fetcher = fetcher or OfflineFetcher()
        self._settings = settings or {}
        self._allowance = allowance or LogAllowance()
        self._lock = threading.Lock()
        self._ended: threading.Event | None = None
        self._reason: CarrelError | None = None
        self._started = False
        self._abandon: Callable[[CarrelError], None] | None = None
        self._worker: WorkerState | None = None
        self._permit: CpuPermit | None = None
        self._cpu_at_start = 0.0
        self._waited = 0.0
        self._messages = 0
        self._reports = 0
        self.bulky = False
        self.cpu_seconds = 0.0
        self._output = bytearray()
        self._complaint = ""
        self._dropped = 0

    def end(self, reason: CarrelError) -> None:
        """Ends the call with `reason`; the first reason stays. From any thread."""
        with self._lock:
            if self._reason is None:
                self._reason = reason
            if self._worker is not None:
                self._worker.engine.increment_epoch()
            if self._ended is not None:
                self._ended.set()
            abandon = None if self._started else self._abandon
            self._abandon = None
        if abandon is not None:
            abandon(reason)

    def when_ended_in_queue(self, abandon: Callable[[CarrelError], None]) -> None:
        """Calls `abandon` with the reason if the call ends while it is queued."""
        self._abandon = abandon

    def cancel(self) -> None:
        """Ends the call because the client cancelled it."""
        self.end(Cancelled(plugin=self.call.plugin, tool=self.call.tool))

    def tick(self, *, crowded: bool) -> None:
        """Ends the call if its CPU time or deadline has passed; called by the ticker."""
        call = self.call
        if time.monotonic() >= call.deadline:
            self.end(self._deadline_error())
        elif self._worker is not None:
            seconds = self._cpu_seconds()
            if seconds >= call.limits.cpu_seconds:
                limit = call.limits.cpu_seconds
                self.end(LimitExceeded("cpu", limit, plugin=call.plugin, tool=call.tool))
            elif seconds >= LONG and crowded and self._permit is not None:
                self._permit.step_back()

    def _deadline_error(self) -> DeadlineExceeded:
        call = self.call
        return DeadlineExceeded(
            plugin=call.plugin, tool=call.tool, seconds=call.limits.wall_seconds
        )

    def _cpu_seconds(self) -> float:
        worker = self._worker
        if worker is None:
            return 0.0
        return worker.clock() - self._cpu_at_start - (0.0 if worker.exact_clock else self._waited)

    def run(self, worker: WorkerState, loaded: Loaded) -> tuple[bool, memoryview]:
        """Runs the function in a new instance: whether its result is no error, and the text.

        Raises:
            ArgumentError: an argument is not valid Unicode.
            PluginError: the guest failed, or was interrupted.
            CarrelError: the reason passed to `end`.
        """
        observer = telemetry.observer()
        if observer is None:
            return self._run(worker, loaded)
        with observer.guest(self.call.plugin, self.call.tool) as guest:
            try:
                return self._run(worker, loaded)
            finally:
                guest.used(self.cpu_seconds)

    def _run(self, worker: WorkerState, loaded: Loaded) -> tuple[bool, memoryview]:
        # Encoded before taking a CPU permit, because encoding holds the GIL.
        texts = [self._encoded(argument) for argument in self._arguments]
        worker.permit.prepare(self.call.owner)
        with self._lock:
            if self._reason is not None:
                raise self._reason
            self._cpu_at_start = worker.clock()
            self._worker = worker
            self._permit = worker.permit
        worker.memories = max(worker.memories, self._memories)
        try:
            try:
                store, instance = self._instantiate(worker, loaded)
            except wasmtime.WasmtimeError as error:
                if worker.memories > 1 or MEMORIES_EXCEEDED not in str(error):
                    raise
                worker.memories = _MEMORIES
                store, instance = self._instantiate(worker, loaded)
            worker.permit.prepared(self._cpu_seconds())
            self._take_permit(worker.permit)
            value = self._invoke(store, instance, worker, loaded, texts)
        except CarrelError:
            raise
        except Exception as error:  # noqa: BLE001 - wasmtime raises several kinds
            self._raise_reason()
            output = f"{self._text()}\n{self._complaint}"
            raise from_wasmtime(
                error, self.call, output=output, input_size=self.handing_in
            ) from None
        finally:
            self.cpu_seconds = self._cpu_seconds()
            with self._lock:
                self._worker = None
            self._flush()
        self._raise_reason()
        return value

    def _encoded(self, argument: str | Utf8) -> bytes:
        if isinstance(argument, Utf8):
            return argument.data
        try:
            return argument.encode()
        except UnicodeEncodeError as fault:
            before = argument[max(0, fault.start - 30) : fault.start]
            raise ArgumentError(
                [f"half of a character (a lone surrogate) behind '{printable(before, 30)}'"],
                plugin=self.call.plugin,
                tool=self.call.tool,
            ) from None

    def _raise_reason(self) -> None:
        if self._reason is not None:
            raise self._reason
        if self.call.fatal is not None:
            raise self.call.fatal

    def _take_permit(self, permit: CpuPermit) -> None:
        waiting_since = time.monotonic()
        permit.take()
        self._waited += time.monotonic() - waiting_since
        with self._lock:
            self._started = True
        self._raise_reason()

    def _instantiate(self, worker: WorkerState, loaded: Loaded) -> tuple[Store, Any]:
        store = worker.new_store(self.call.limits.memory_bytes)
        if loaded.uses_wasi:
            wasi = wasmtime.WasiConfig()
            wasi.stdout_custom = self.capture
            wasi.stderr_custom = self.capture
            store.set_wasi(wasi)
        return store, store.instantiate(worker.linker, loaded.code)

    def _invoke(
        self,
        store: Store,
        instance: Any,
        worker: WorkerState,
        loaded: Loaded,
        texts: Sequence[bytes],
    ) -> tuple[bool, memoryview]:
        function = store.function(instance, loaded.functions[self._function])
        if function is None:
            raise ContractViolation(
                f"{self.call.plugin}: exports no function {self._function}",
                plugin=self.call.plugin,
                tool=self.call.tool,
            )
        cap = self.call.limits.output_bytes
        try:
            return call_text(function, store, texts, max_bytes=cap, returned=worker.permit.give)
        except OutputError:
            self.bulky = True
            raise LimitExceeded(
                "output", cap, plugin=self.call.plugin, tool=self.call.tool
            ) from None
        except MismatchError:
            raise ContractViolation(
                f"{self.call.plugin}: {self._function} has another type than the contract's",
                plugin=self.call.plugin,
                tool=self.call.tool,
            ) from None

    def fetch_all(self, requests: Sequence[Request]) -> list[Outcome]:
        """Passes the guest's requests to the fetcher; the time is not counted as CPU time."""
        with self._waiting() as permit:
            self.call.on_wait = permit.park
            try:
                outcomes = self._fetcher.fetch_all(requests, self.call)
            finally:
                self.call.on_wait = None
            report_denials(self.call, outcomes)
        if self.call.fatal is not None:
            self.end(self.call.fatal)
        return outcomes

    def discard(self, request: Request) -> None:
        """Removes the call's responses to a request from the cache; the time is not counted as CPU
        time.
        """
        if not isinstance(self._fetcher, AnswerDiscarder):
            return
        with self._waiting():
            self._fetcher.discard(self.call, request)

    @contextmanager
    def _waiting(self) -> Iterator[CpuPermit]:
        """Releases the CPU permit, and does not count the time as the guest's CPU time."""
        permit = self._permit
        assert permit is not None, "only a running guest calls host functions"
        started = time.monotonic()
        permit.give()
        try:
            yield permit
        finally:
            permit.take()
            self._waited += time.monotonic() - started

    def sleep(self, seconds: float) -> None:
        """Waits without counting CPU time; returns early when the call ends."""
        with self._lock:
            if self._reason is not None:
                return
            self._ended = threading.Event()
        with self._waiting() as permit:
            permit.park()
            self._ended.wait(min(seconds, self.call.remaining + 1.0))

    def may_fetch(self, count: int) -> bool:
        """Returns whether the budget allows so many requests more; if not, the call ends."""
        call = self.call
        if call.fetches + count <= call.limits.fetches:
            return True
        self.bulky = True
        self.end(LimitExceeded("fetches", call.limits.fetches, plugin=call.plugin, tool=call.tool))
        return False

    def count_report(self) -> bool:
        """Counts a call of log, progress, config or discard; beyond the cap, ends the execution.

        Each such call holds the GIL briefly. A guest that does nothing else takes it again before
        another thread wakes up, so it pauses at each call after the first hundred.
        """
        self._reports += 1
        if self._reports <= _MAX_REPORTS:
            if self._reports > _QUICK_REPORTS:
                time.sleep(_REPORT_PAUSE)
            return True
        call = self.call
        self.end(LimitExceeded("reports", _MAX_REPORTS, plugin=call.plugin, tool=call.tool))
        return False

    def setting(self, key: str) -> str:
        """Returns a setting of the plugin, or a value that the host provides, as JSON text.

        Returns "" for an unknown key.
        """
        if key == WAITING:
            return str(self._fetcher.waiting()) if isinstance(self._fetcher, QueueReporter) else ""
        return self._settings.get(key, "")

    def count_message(self, most: int) -> bool:
        """Counts a log line or progress report; returns False when there were too many."""
        self._messages += 1
        return self._messages <= most

    def log(self, level: str, message: str) -> None:
        """Writes the guest's line to the host's log; keeps an error's line to explain a trap."""
        if level == "error":
            self._complaint = message
        if not self._allowance.take():
            return
        dropped = self._allowance.take_dropped()
        if dropped:
            _log.warning("%s: %d log lines were dropped", self.call.plugin, dropped)
        _log.log(_LEVELS.get(level, logging.INFO), "%s: %s", self.call.plugin, printable(message))

    def capture(self, data: bytes) -> int:
        """Keeps the guest's output to stdout or stderr, up to a cap, and logs it at the end."""
        room = self.call.limits.log_bytes - len(self._output)
        self._output += data[: max(0, room)]
        self._dropped += max(0, len(data) - max(0, room))
        return len(data)

    def _text(self) -> str:
        return self._output.decode("utf-8", "replace")

    def _flush(self) -> None:
        if not self._output:
            return
        lines = self._text().splitlines()
        for line in lines[:_OUTPUT_LINES]:
            if not self._allowance.take():
                break
            _log.info("%s: output: %s", self.call.plugin, printable(line))
        dropped = self._dropped + sum(len(line) for line in lines[_OUTPUT_LINES:])
        if dropped:
            _log.warning("%s: output: %d more bytes dropped", self.call.plugin, dropped)
