"""The contract's host functions: what a guest may call, and no others.

A host function never raises, see `guarded`. Values for the guest are shaped so that every variant
is tagged (see `contract/v1/plugin.wit`), because wasmtime-py lowers untagged ones through a shared
scratch set.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import wasmtime

from carrel.errors import InternalError
from carrel.exchange import Failure, FailureKind, Outcome, Request

from .ffi import MAX_WORDS, Linker
from .guarded import guarded
from .imports import CONFIG, HTTP, LOG, PROGRESS

if TYPE_CHECKING:
    from .instance import Execution

_log = logging.getLogger("carrel.runtime")

_MAX_MESSAGES = 1000


def define_imports(engine: wasmtime.Engine, current: Callable[[], Execution]) -> Linker:
    """Returns a linker that defines the contract's imports and WASI.

    Args:
        engine: of one worker; it serves one execution at a time.
        current: the execution that runs in that worker now.
    """
    linker = Linker(engine)
    linker.add_wasi()

    def may_fetch(count: int) -> bool:
        return current().may_fetch(count)

    def fetch(requests: list[Request]) -> list[Outcome]:
        execution = current()
        try:
            return execution.fetch_all(requests)
        except Exception:  # noqa: BLE001 - must not cross wasm, see the module
            _log.exception("%s: a host function failed", execution.call.plugin)
            execution.end(InternalError())
            return [_internal(request.url) for request in requests]

    with linker.root() as root:
        with root.add_instance(HTTP) as http:
            http.add_fetch("fetch", fetch, may_fetch=may_fetch, many=False)
            http.add_fetch("fetch-all", fetch, may_fetch=may_fetch, many=True)
            http.add_discard("discard", guarded(current, _discard))
        with root.add_instance(LOG) as log:
            write = guarded(current, _write)
            log.add_function("write", write, takes=("enum", "string"), most=MAX_WORDS)
        with root.add_instance(PROGRESS) as progress:
            report = guarded(current, _report)
            progress.add_function("report", report, takes=("u64", "u64", "string"), most=MAX_WORDS)
        with root.add_instance(CONFIG) as config:
            get = guarded(current, _get, "")
            config.add_function("get", get, takes=("string",), gives="string", most=MAX_WORDS)
    return linker


def _discard(execution: Execution, read: Callable[[], Request]) -> None:
    execution.discard(read())


def _write(execution: Execution, level: str, message: str) -> None:
    if execution.count_message(_MAX_MESSAGES):
        execution.log(level, message)


def _report(execution: Execution, done: int, total: int, message: str) -> None:
    if execution.count_message(_MAX_MESSAGES):
        execution.call.progress(float(done), float(total) if total else None, message[:200])


def _get(execution: Execution, key: str) -> str:
    return execution.setting(key)


def _internal(url: str) -> Failure:
    return Failure(FailureKind.UNREACHABLE, url, "internal error")
