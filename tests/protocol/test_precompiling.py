"""Tests background compilation of built-in plugins after `initialize`, once per code cache."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from carrel.config import DEFAULT_PLUGINS
from carrel.plugins.compiling.precompile import missing_code
from carrel.plugins.sources.source import builtin_digest
from carrel.runtime.codecache import CodeCache, code_key
from support.fetch_harness import until
from support.stdio_client import StdioClient

pytestmark = pytest.mark.long("matrix")

STACK = 2**20
#: Seconds that compiling may take on a busy machine.
LONG = 120.0


class Served:
    """A server with an empty cache folder."""

    def __init__(self, folder: Path) -> None:
        self.code = folder / "cache" / "code"
        settings = folder / "carrel.json"
        folders = {"cache_dir": str(folder / "cache"), "data_dir": str(folder)}
        settings.write_text(json.dumps(folders), "utf-8")
        recordings = folder / "recordings"
        recordings.mkdir(exist_ok=True)
        options = ["serve", "--config", str(settings), "--replay", str(recordings)]
        self.client = StdioClient([sys.executable, "-m", "carrel", *options])

    def compilers(self) -> list[psutil.Process]:
        """Returns the server's child processes that compile."""
        children = psutil.Process(self.client.process.pid).children(recursive=True)
        return [child for child in children if _compiles(child)]

    def missing(self) -> list[str]:
        """Returns the plugins without code in the cache."""
        return missing_code(DEFAULT_PLUGINS, CodeCache(self.code), STACK)


def _compiles(child: psutil.Process) -> bool:
    try:
        return any("compile" in word for word in child.cmdline())
    except psutil.Error:  # it has just ended
        return False


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def keys() -> list[str]:
    """Returns the cache keys of the built-in plugins' code."""
    return [code_key(builtin_digest(name), STACK) for name in DEFAULT_PLUGINS]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[], Served]]:
    served: list[Served] = []

    def start() -> Served:
        served.append(Served(tmp_path))
        return served[-1]

    yield start
    for one in served:
        with one.client:
            pass


@pytest.mark.requirement("serve:alive:precompiled")
def test_after_initialize_and_an_idle_wait_the_code_of_all_built_in_plugins_is_there(
    serve: Callable[[], Served],
) -> None:
    server = serve()
    server.client.open()
    seen: set[int] = set()

    def ready() -> bool:
        seen.update(one.pid for one in server.compilers())
        return server.missing() == []

    until(ready, LONG)
    assert len(seen) == 1, "one child process compiles all of them"
    until(lambda: server.compilers() == [], 10.0)
    # Nothing is left to compile, so the call reports no wait for the compiler.
    call = server.client.start_call("pubmed_spell", token="t", term="asthma")
    assert "error" in json.dumps(server.client.answer(call))
    assert "compiling" not in json.dumps([frame for frame, _ in server.client.pairs])
    assert len(list(server.code.glob("*.cwasm"))) == len(DEFAULT_PLUGINS)
    assert server.client.finish() == 0


@pytest.mark.requirement("serve:alive:precompiled")
@pytest.mark.skipif(sys.platform == "win32", reason="nice is POSIX")
def test_the_background_compiler_has_low_priority_and_calls_continue(
    serve: Callable[[], Served],
) -> None:
    server = serve()
    server.client.open()
    until(lambda: bool(server.compilers()), LONG)
    own = psutil.Process(server.client.process.pid).nice()
    [compiler] = server.compilers()
    until(lambda: not compiler.is_running() or compiler.nice() >= min(own + 10, 19), 10.0)
    assert len(server.client.request("tools/list")["result"]["tools"]) > 10
    assert server.client.request("ping")["result"] == {}
    assert server.client.finish() == 0


@pytest.mark.requirement("serve:alive:precompiled")
@pytest.mark.parametrize("killed", [False, True], ids=["orderly", "killed"])
def test_the_end_of_the_server_ends_the_background_compiler(
    serve: Callable[[], Served], killed: bool
) -> None:
    server = serve()
    # The child waits for these claims, so nothing is compiled yet.
    claims = [CodeCache(server.code).claim(key) for key in keys()]
    server.client.open()
    until(lambda: bool(server.compilers()), LONG)
    compilers = server.compilers()
    if killed:
        server.client.process.kill()
        server.client.wait()
    else:
        assert server.client.finish() == 0
    until(lambda: not any(map(_is_alive, compilers)), LONG)
    assert len(server.missing()) == len(claims)
    assert b"Traceback" not in server.client.stderr
    for claim in claims:
        assert claim is not None
        claim.release()


@pytest.mark.requirement("serve:alive:precompiled")
def test_two_servers_never_compile_the_same_plugin(serve: Callable[[], Served]) -> None:
    first, second = serve(), serve()
    cache = CodeCache(first.code)
    held = [cache.claim(key) for key in keys()]
    assert None not in held
    for server in (first, second):
        server.client.open()
    until(lambda: bool(first.compilers()) and bool(second.compilers()), LONG)
    # Entries that another process has claimed are not compiled.
    for claim in held:
        assert claim is not None
        claim.release()
    until(lambda: first.missing() == [], LONG)
    assert len(list(first.code.glob("*.cwasm"))) == len(held)
    for server in (first, second):
        assert server.client.finish() == 0


@pytest.mark.requirement("serve:alive:why-it-waits")
def test_a_call_during_compiling_reports_that_it_waits_for_the_compiler(
    serve: Callable[[], Served],
) -> None:
    server = serve()
    server.client.open()
    call = server.client.start_call("pubmed_spell", token="t", term="asthma")
    report = server.client.notification("notifications/progress")["params"]
    assert report["message"] == "compiling the plugin, once"
    assert report["progress"] == 0
    assert "total" not in report
    assert "not_recorded" in json.dumps(server.client.answer(call))
    assert server.client.finish() == 0
