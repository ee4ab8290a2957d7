"""Implements the functions that `component.wat` imports, for Extism modules.

No function here raises (see `runtime.guarded`), and none receives a guest address: wasmtime passes
texts as strings.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import wasmtime

from carrel.errors import ContractViolation, SourceError, Trap
from carrel.exchange import Failure, FailureKind, Request
from carrel.runtime.ffi import Linker
from carrel.runtime.guarded import guarded

from .context import ModuleContext
from .host_functions import answer

if TYPE_CHECKING:
    from carrel.runtime.instance import Execution

_log = logging.getLogger("carrel.runtime")

INTERFACE = "carrel:extism/host@1.0.0"

#: Maximum number of log lines and notifications of one call; the rest is dropped.
_MAX_MESSAGES = 1000
#: Bytes of a request's JSON; the body is not in it.
_MAX_REQUEST = 256 * 1024
_METHODS = frozenset({"GET", "HEAD", "POST"})
#: Headers that belong to the host and that a plugin's HTTP library may set: dropped, not refused.
_HOST_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "transfer-encoding", "user-agent"}
)
_LEVELS = ("debug", "debug", "info", "warn", "error")


def define_services(engine: wasmtime.Engine, current: Callable[[], Execution]) -> Linker:
    """Returns a linker that defines the interface.

    Args:
        engine: of one worker; it serves one execution at a time.
        current: the execution that runs in that worker now.
    """
    linker = Linker(engine)

    def bound(function: Callable[..., Any], fallback: Any = None) -> Callable[..., Any]:
        return guarded(current, function, fallback)

    with linker.root() as root, root.add_instance(INTERFACE) as host:
        add = host.add_function
        add("config", bound(_config, ""), takes=("string",), gives="string")
        add("http", bound(_http, ""), takes=("string", "string"), gives="string")
        add("http-headers", bound(_http_headers, ""), gives="string")
        add("http-status", bound(lambda execution: _context(execution).status, 0), gives="u32")
        add("user", bound(answer, ""), takes=("u32", "string"), gives="string")
        add("log", bound(_write), takes=("u32", "string"))
        add("log-level", bound(_log_level, 4), gives="u32")
        add("clock", bound(_clock, 0), takes=("u32",), gives="u64")
        add("random", bound(lambda _: int.from_bytes(os.urandom(8)), 0), gives="u64")
        add("output", bound(_output), takes=("string",))
        add("sleep", bound(lambda execution, wait: execution.sleep(wait / 1e9)), takes=("u64",))
        add("exit", bound(_exit), takes=("u32",))
    return linker


def _context(execution: Execution) -> ModuleContext:
    context = execution.context
    assert isinstance(context, ModuleContext), "modules run with a context"
    return context


def _config(execution: Execution, key: str) -> str:
    return execution.setting(key)


def _write(execution: Execution, level: int, message: str) -> None:
    if execution.count_message(_MAX_MESSAGES):
        execution.log(_LEVELS[min(level, 4)], _decoded(message))


def _log_level(_execution: Execution) -> int:
    """Extism's number of the lowest level that is written anywhere."""
    level = logging.getLogger("carrel.plugin").getEffectiveLevel()
    return min(4, max(0, level // 10))


def _output(execution: Execution, text: str) -> None:
    execution.capture(text.encode("latin-1", "replace"))


def _decoded(text: str) -> str:
    """Returns the bytes of a text that was passed as Latin-1, which accepts any bytes of a
    guest.
    """
    return text.encode("latin-1", "replace").decode("utf-8", "replace")


def _clock(_execution: Execution, which: int) -> int:
    return time.time_ns() if which == 0 else time.monotonic_ns()


def _exit(execution: Execution, code: int) -> None:
    call = execution.call
    execution.end(Trap("exit", f"it exited with status {code}", plugin=call.plugin, tool=call.tool))


def _http(execution: Execution, text: str, body: str) -> str:
    """Makes one request. Without a response the call ends, as in Extism, with the reason."""
    context = _context(execution)
    context.status, context.headers = 0, {}
    try:
        request = _request(execution, text, body)
    except (ContractViolation, SourceError) as refused:
        execution.end(refused)
        return ""
    outcome = execution.fetch_all([request])[0]
    if isinstance(outcome, Failure):
        execution.end(_failed(execution, outcome))
        return ""
    context.status = outcome.status
    headers: dict[str, str] = {}
    for name, value in outcome.headers:
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    context.headers = headers
    execution.handing_in = len(outcome.body)
    return outcome.body


def _http_headers(execution: Execution) -> str:
    headers = _context(execution).headers
    return json.dumps(headers) if headers else ""


def _request(execution: Execution, text: str, body: str) -> Request:
    from pydantic_core import from_json

    call = execution.call
    try:
        raw = from_json(text) if len(text) <= _MAX_REQUEST else None
    except ValueError:
        raw = None
    url = raw.get("url") if isinstance(raw, dict) else None
    headers = (raw.get("headers") or {}) if isinstance(raw, dict) else {}
    method = (raw.get("method") or "GET") if isinstance(raw, dict) else ""
    if (
        not isinstance(url, str)
        or not isinstance(method, str)
        or not isinstance(headers, dict)
        or not all(isinstance(value, str) for value in headers.values())
    ):
        raise ContractViolation(
            f"{call.plugin}: requested something that is not an HTTP request",
            plugin=call.plugin,
            tool=call.tool,
        )
    method = method.upper()
    if method not in _METHODS or (body and method != "POST"):
        what = f"{method[:20]!r}" if method not in _METHODS else f"a body with {method}"
        raise SourceError(
            "denied",
            f"{call.plugin}: a plugin may GET, HEAD and POST, and send a body with POST; "
            f"it asked for {what}",
            plugin=call.plugin,
            tool=call.tool,
            extra={"denial_context": {"reason": "method_not_allowed", "url": url[:300]}},
        )
    lowered = ((name.lower(), value) for name, value in headers.items())
    return Request(
        method=method,  # type: ignore[arg-type]  # one of the three, as just checked
        url=url,
        headers=tuple(header for header in lowered if header[0] not in _HOST_HEADERS),
        body=body,
    )


def _failed(execution: Execution, failure: Failure) -> SourceError:
    """Returns the error that ends the call when a request has no response."""
    call = execution.call
    extra: dict[str, Any] = {}
    message = f"{call.plugin}: {failure.message}"
    if failure.kind is FailureKind.DENIED:
        extra["denial_context"] = {
            "reason": failure.reason,
            "url": failure.url[:300],
            "grant": failure.grant,
        }
    elif failure.kind is FailureKind.RATE_LIMITED and failure.seconds:
        extra["retry_after_seconds"] = failure.seconds
    if call.attempts:
        extra["attempts"] = call.attempts[-20:]
    return SourceError(
        failure.kind.error_code, message, plugin=call.plugin, tool=call.tool, extra=extra
    )
