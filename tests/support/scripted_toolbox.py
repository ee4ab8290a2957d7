"""A toolbox with scripted tools, in the process of a real server.

Run as a program it serves itself over stdio: `python scripted_toolbox.py [SETTINGS AS JSON]`.
"""

# ruff: noqa: T201, BLE001  # prints on purpose, and passes every exception to the caller

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import json
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from carrel.config import Config
from carrel.errors import (
    ArgumentError,
    Cancelled,
    ConfigError,
    SourceError,
    UnknownNameError,
)
from carrel.exchange import Call, ProgressHandler
from carrel.runtime.pending import Pending
from carrel.tools.prompts import Prompt
from carrel.tools.toolbox import Owner

if TYPE_CHECKING:
    from carrel.tools import Toolbox

SECRET = "hunter2-never-to-be-seen"
OBJECT: dict[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class ScriptedTool:
    name: str
    description: str
    title: str | None = None
    input_schema: dict[str, Any] = field(default_factory=lambda: OBJECT)
    output_schema: dict[str, Any] = field(default_factory=lambda: OBJECT)
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    plugin: str = "scripted"
    hints: Mapping[str, bool | str] | None = None


@dataclass(frozen=True, slots=True)
class ScriptedResource:
    uri: str
    name: str
    description: str
    title: str | None = None
    mime_type: str | None = "application/json"
    size: int | None = None


RESOURCES = (
    ScriptedResource("scripted://facts", "facts", "Something from outside.", title="Facts"),
    ScriptedResource("scripted://broken", "broken", "Fails as a plugin may."),
    ScriptedResource("scripted://crash", "crash", "Raises what nothing should."),
)


@dataclass(frozen=True, slots=True)
class ScriptedResult:
    text: str
    data: dict[str, Any]
    content: tuple[dict[str, Any], ...] | None = None
    structured: bool = True
    meta: Mapping[str, Any] | None = None
    link: None = None

    @property
    def utf8(self) -> bytes:
        return self.text.encode()


TOOLS = (
    ScriptedTool(
        "echo",
        "Gives its arguments back, or says that there were none.",
        title="Echo",
        input_schema={
            "type": "object",
            "$defs": {"anything": {}},
            "properties": {"value": {"$ref": "#/$defs/anything"}},
        },
    ),
    ScriptedTool("fetch", "Brings something from outside.", open_world=True),
    ScriptedTool("layout", "Answers with JSON of an unusual layout."),
    ScriptedTool("large", "Answers with `bytes` bytes."),
    ScriptedTool("work", "Reports progress `steps` times as quickly as it can."),
    ScriptedTool("wait", "Ends when `release` is called with the same key, or it is cancelled."),
    ScriptedTool("release", "Ends the `wait` of a key."),
    ScriptedTool("ignore", "Never ends and does not notice that it is cancelled."),
    ScriptedTool("hang", "Never ends, in a thread that is waited for at exit."),
    ScriptedTool("cancelled", "Says which keys were cancelled."),
    ScriptedTool("refuse", "Fails as a plugin may.", read_only=False, destructive=True),
    ScriptedTool("crash", "Raises what no tool should."),
    ScriptedTool("noisy", "Prints on stdout in every way there is."),
    ScriptedTool("log", "Writes a log line."),
)


@dataclass(frozen=True, slots=True)
class ScriptedTemplate:
    uri_template: str
    name: str
    description: str
    title: str | None = None
    mime_type: str | None = None


class ScriptedPrompts:
    """No prompts, templates or completions."""

    completes = False

    def templates(self) -> Sequence[ScriptedTemplate]:
        return ()

    def listed(self) -> Sequence[Prompt]:
        return ()

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None,
        *,
        call_started: Callable[[Call], None] | None = None,
    ) -> dict[str, Any]:
        raise UnknownNameError("prompt", name)

    async def complete(
        self,
        reference: Mapping[str, str],
        argument: Mapping[str, str],
        known: Mapping[str, str],
        *,
        call_started: Callable[[Call], None] | None = None,
    ) -> dict[str, Any]:
        return {"values": []}


class ScriptedStarted:
    """A call in its own thread."""

    def __init__(self, call: Call, work: Callable[[], ScriptedResult]) -> None:
        self.call = call
        self._pending = Pending()
        self._work = work
        self._outcome: ScriptedResult | Exception = AssertionError("not ended")
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), daemon=True).start()

    def _run(self) -> None:
        try:
            self._outcome = self._work()
        except Exception as error:
            self._outcome = error
        self._pending.settle()

    @property
    def is_done(self) -> bool:
        return self._pending.done

    def when_done(self, callback: Callable[[], None]) -> None:
        self._pending.when_done(callback)

    def result(self) -> ScriptedResult:
        self._pending.result()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


async def in_thread(function: Callable[..., ScriptedResult], *args: object) -> ScriptedResult:
    """Runs `function` in a thread that an abandoned call does not wait for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[ScriptedResult] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: ScriptedResult | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        elif result is not None:
            future.set_result(result)

    def run() -> None:
        outcome: tuple[ScriptedResult | None, Exception | None]
        try:
            outcome = context.run(function, *args), None
        except Exception as error:
            outcome = None, error
        try:
            loop.call_soon_threadsafe(settle, *outcome)
        except RuntimeError:
            pass  # the server has ended

    threading.Thread(target=run, daemon=True).start()
    return await future


class ScriptedToolbox:
    """Tools that run on worker threads, like plugins' tools."""

    def __init__(self) -> None:
        self._waiting: dict[str, threading.Event] = {}
        self._interrupted: list[str] = []
        self._lock = threading.Lock()

    def tools(self) -> Sequence[ScriptedTool]:
        return TOOLS

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        on_progress: ProgressHandler | None = None,
        call_started: Callable[[Call], None] | None = None,
    ) -> ScriptedResult:
        if name not in {tool.name for tool in TOOLS}:
            raise UnknownNameError("tool", name, known=[tool.name for tool in TOOLS])
        call = Call("scripted", name, on_progress=on_progress)
        if call_started is not None:
            call_started(call)
        if name in {"echo", "fetch"}:
            return _echo(arguments)
        if name == "hang":
            await asyncio.to_thread(threading.Event().wait)
        return await in_thread(getattr(self, f"_{name}"), call, arguments or {})

    def start(self, name: str, arguments: Mapping[str, Any] | None) -> ScriptedStarted | None:
        if name not in {tool.name for tool in TOOLS}:
            raise UnknownNameError("tool", name, known=[tool.name for tool in TOOLS])
        if name == "hang":
            return None
        call = Call("scripted", name)
        if name in {"echo", "fetch"}:
            return ScriptedStarted(call, lambda: _echo(arguments))
        return ScriptedStarted(call, lambda: getattr(self, f"_{name}")(call, arguments or {}))

    def owner_of_tool(self, name: str) -> Owner | None:
        return Owner(plugin="scripted") if name in {tool.name for tool in TOOLS} else None

    @property
    def config(self) -> Config:
        folder = Path(tempfile.gettempdir()) / f"carrel-scripted-{os.getpid()}"
        return Config(cache_dir=folder / "cache", data_dir=folder / "data")

    def restricted(self, config: Config, toolsets: Collection[str] | None) -> ScriptedToolbox:
        del config, toolsets
        return self

    def resources(self) -> Sequence[ScriptedResource]:
        return RESOURCES

    async def read_resource(
        self, uri: str, *, call_started: Callable[[Call], None] | None = None
    ) -> ScriptedResult:
        if uri not in {one.uri for one in RESOURCES}:
            raise UnknownNameError("resource", uri)
        if call_started is not None:
            call_started(Call("scripted", "resource"))
        if uri.endswith("crash"):
            raise RuntimeError(SECRET)
        if uri.endswith("broken"):
            raise SourceError(
                "upstream_unavailable", "no\x1b[2J answer", plugin="scripted", tool="resource"
            )
        return ScriptedResult('{ "n": 1 }', {"n": 1})

    def _layout(self, _call: Call, arguments: Mapping[str, Any]) -> ScriptedResult:
        text = str(arguments["text"])
        return ScriptedResult(text, json.loads(text))

    def _large(self, _call: Call, arguments: Mapping[str, Any]) -> ScriptedResult:
        return _result({"filler": "x" * int(arguments["bytes"])})

    def _work(self, call: Call, arguments: Mapping[str, Any]) -> ScriptedResult:
        steps = int(arguments["steps"])
        for step in range(steps):
            call.progress(step + 1, steps, f"step {step + 1}")
        call.progress(1, steps, "going backwards")
        call.progress(float("nan"), None, "not a number")
        if "key" in arguments:
            self._wait(call, arguments)
        return _result({"steps": steps})

    def _event(self, key: str) -> threading.Event:
        with self._lock:
            return self._waiting.setdefault(key, threading.Event())

    def _wait(self, call: Call, arguments: Mapping[str, Any]) -> ScriptedResult:
        key = str(arguments["key"])
        event = self._event(key)

        def interrupt() -> None:
            # Printed by the canceller: at its end the process does not wait for this thread.
            with self._lock:
                self._interrupted.append(key)
            print(f"cancelled {key}", file=sys.stderr, flush=True)
            event.set()

        call.on_cancel(interrupt)
        call.progress(1, None, "waiting")
        event.wait()
        if call.cancelled:
            raise Cancelled(plugin="scripted", tool="wait")
        return _result({"released": key})

    def _release(self, _call: Call, arguments: Mapping[str, Any]) -> ScriptedResult:
        self._event(str(arguments["key"])).set()
        return _result({})

    def _ignore(self, _call: Call, _arguments: Mapping[str, Any]) -> ScriptedResult:
        threading.Event().wait()
        raise AssertionError

    def _cancelled(self, _call: Call, _arguments: Mapping[str, Any]) -> ScriptedResult:
        with self._lock:
            return _result({"keys": list(self._interrupted)})

    def _refuse(self, _call: Call, arguments: Mapping[str, Any]) -> ScriptedResult:
        if arguments.get("code") == "invalid_arguments":
            raise ArgumentError(["value: 3 is not a string", "x: unknown"], tool="refuse")
        raise SourceError(
            "rate_limited",
            "the source asks for a pause\n\x1b[31mred\u202e",
            plugin="scripted",
            tool="refuse",
            extra={"retry_after_seconds": 12.0},
        )

    def _crash(self, _call: Call, _arguments: Mapping[str, Any]) -> ScriptedResult:
        raise ValueError(SECRET)

    def _noisy(self, _call: Call, _arguments: Mapping[str, Any]) -> ScriptedResult:
        print("stray print")
        sys.stdout.write("stray write without line feed")
        os.write(1, b"stray os.write\n")
        if os.name == "posix":
            library = ctypes.CDLL(None)
            library.puts(b"stray puts")
            library.printf(b"stray printf in a buffer")
        return _result({"noise": True})

    def _log(self, _call: Call, arguments: Mapping[str, Any]) -> ScriptedResult:
        level = logging.getLevelNamesMapping()[str(arguments["level"]).upper()]
        logging.getLogger("carrel.plugin.scripted").log(level, "%s", arguments["text"])
        return _result({})

    @property
    def prompts(self) -> ScriptedPrompts:
        return ScriptedPrompts()

    def resource_templates(self) -> Sequence[Any]:
        return self.prompts.templates()

    def watch_resources(
        self, list_changed: Callable[[], None], updated: Callable[[str], None]
    ) -> None:
        pass

    def on_list_changed(self, listener: Callable[[str], None]) -> None:
        pass

    def on_resource_updated(self, listener: Callable[[str], None]) -> None:
        pass

    def health(self) -> dict[str, Any]:
        return {"ok": True, "plugins": [{"name": "scripted", "status": "loaded"}]}

    def known_plugins(self) -> Sequence[Any]:
        return []

    def upstreams(self) -> Sequence[Any]:
        return []

    def close(self) -> None:
        print("toolbox closed", file=sys.stderr, flush=True)


def _echo(arguments: Mapping[str, Any] | None) -> ScriptedResult:
    return _result({"absent": True} if arguments is None else dict(arguments))


def _result(data: dict[str, Any]) -> ScriptedResult:
    return ScriptedResult(json.dumps(data, separators=(",", ":"), ensure_ascii=False), data)


def unusable_toolbox() -> ScriptedToolbox:
    raise ConfigError(["pluginz: unknown key; did you mean 'plugins'?"], path="carrel.toml")


def as_toolbox(double: ScriptedToolbox) -> Toolbox:
    """Casts the test double to the real class, for type checkers."""
    return cast("Toolbox", double)


def main() -> int:
    from carrel.config import ServerConfig
    from carrel.server import serve_stdio

    options = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    make: Callable[[], ScriptedToolbox] = ScriptedToolbox
    if options.pop("unusable", False):
        make = unusable_toolbox
    return serve_stdio(lambda: as_toolbox(make()), ServerConfig(**options))


if __name__ == "__main__":
    sys.exit(main())
