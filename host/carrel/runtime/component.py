"""A component of the contract, ready to run: the three functions of its `source` interface.

Each component has worker threads of its own, so that one that hangs in all of them delays nobody
else's calls.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from wasmtime.component import Variant

from carrel.errors import BusyError, CarrelError, ContractViolation, InternalError, LimitExceeded
from carrel.exchange import Call, Fetcher, Limits

from .instance import Execution
from .ticker import Ticker
from .worker import Worker

_log = logging.getLogger("carrel.runtime")


class PluginReport(Exception):
    """The error JSON that a plugin returned; who knows the contract's codes checks it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class SandboxedComponent:
    """A component whose code was verified, and the threads that run it.

    Attributes:
        name: the plugin's name, for errors and logs.
        digest: SHA-256 of the component's bytes, lower-case hex.
    """

    def __init__(
        self,
        name: str,
        digest: str,
        code: Path | bytes,
        *,
        ticker: Ticker,
        workers: int,
        stack_bytes: int,
    ) -> None:
        self.name = name
        self.digest = digest
        self._code = code
        self._ticker = ticker
        self._stack_bytes = stack_bytes
        self._local = threading.local()
        self._closed = False
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=f"carrel-{name}")

    def describe(self) -> str:
        """The manifest's JSON text; nothing of it is checked."""
        call = Call(self.name, "describe", Limits(cpu_seconds=2.0, wall_seconds=5.0))
        return self._text(self._submit(Execution("describe", (), call)).result(), call)

    def submit_call(
        self,
        tool: str,
        arguments: str,
        call: Call,
        *,
        fetcher: Fetcher,
        settings: Mapping[str, str],
    ) -> Future[str]:
        """Starts a tool call; the future holds the result's JSON text.

        The future raises `PluginReport` for the plugin's own error and `CarrelError` for the rest.
        """
        execution = Execution("call", (tool, arguments), call, fetcher=fetcher, settings=settings)
        return self._submit(execution)

    def submit_parse(
        self, document_format: str, document: str, call: Call, *, settings: Mapping[str, str]
    ) -> Future[str]:
        """Starts a parse; the future is that of `submit_call`."""
        execution = Execution("parse", (document_format, document), call, settings=settings)
        return self._submit(execution)

    def close(self) -> None:
        """Lets running calls finish and ends the threads."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _submit(self, execution: Execution) -> Future[str]:
        """Queues an execution. Its clocks run from now on: a call may also end in the queue."""
        done: Future[str] = Future()
        if self._closed:
            done.set_exception(BusyError(0))
            return done
        execution.when_ended_in_queue(lambda reason: _settle(done, error=reason))
        forget = execution.call.on_cancel(execution.cancel)
        self._ticker.add(execution)

        def run() -> None:
            try:
                value = self._worker().run(execution, self._code)
                text = self._text(value, execution.call)
            except (CarrelError, PluginReport) as error:
                _settle(done, error=error)
            except BaseException as error:  # noqa: BLE001 - the waiting future must hear of it
                _log.exception("%s: a call failed inside the host", self.name)
                internal = InternalError()
                internal.__cause__ = error
                _settle(done, error=internal)
            else:
                _settle(done, text)
            finally:
                forget()
                self._ticker.remove(execution)

        try:
            self._threads.submit(run)
        except RuntimeError:  # shut down in between
            forget()
            self._ticker.remove(execution)
            _settle(done, error=BusyError(0))
        return done

    def _worker(self) -> Worker:
        worker: Worker | None = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = Worker(self._stack_bytes)
        return worker

    def _text(self, value: Any, call: Call) -> str:
        """The text in what a function returned, under the output cap.

        `result<string, string>` has two payloads of one class, so it is a tagged `Variant`.
        """
        text = value.payload if isinstance(value, Variant) else value
        if not isinstance(text, str):
            raise ContractViolation(
                f"{self.name}: returned no text", plugin=self.name, tool=call.tool
            )
        # Characters are at most bytes: only a text near the cap needs to be encoded to be measured.
        cap = call.limits.output_bytes
        if len(text) > cap or (4 * len(text) > cap and len(text.encode()) > cap):
            raise LimitExceeded("output", cap, plugin=self.name, tool=call.tool)
        if isinstance(value, Variant) and value.tag != "ok":
            raise PluginReport(text)
        return text


def _settle(done: Future[str], text: str = "", *, error: Exception | None = None) -> None:
    """Sets the outcome unless the call was ended in the queue and has one already."""
    try:
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(text)
    except InvalidStateError:
        pass
