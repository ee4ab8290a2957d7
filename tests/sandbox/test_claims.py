"""Tests that one process compiles an entry of the code cache and others wait, up to a limit."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import LoadError
from carrel.runtime import compile as compiling
from carrel.runtime import loader
from carrel.runtime.codecache import CodeCache, code_key
from carrel.runtime.loader import Runtime, RuntimeSettings
from support.guests import Guest, guest

STACK = RuntimeSettings(Path()).stack_bytes


class Compiles:
    """Returns the compiled entries, with their age relative to this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nices: list[int] = []
        self.ended: list[bool] = []
        really = compiling.compile_component

        def counted(*args: Any, **options: Any) -> bytes | None:
            self.nices.append(options["nice"])
            code = really(*args, **options)
            self.ended.append(code is not None)
            return code

        monkeypatch.setattr(compiling, "compile_component", counted)


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> Compiles:
    return Compiles(monkeypatch)


def key_of(one: Guest) -> str:
    return code_key(one.digest, STACK)


def made_code(one: Guest) -> bytes:
    return compiling.compile_here(one.wasm, "guest", STACK)


def test_a_claim_is_held_by_one_until_it_is_released(code: Path) -> None:
    cache = CodeCache(code)
    claim = cache.claim("key")
    assert claim is not None
    assert cache.claim("key") is None
    assert CodeCache(code).claim("key") is None
    other = cache.claim("other")
    assert other is not None
    claim.release()
    again = cache.claim("key")
    assert again is not None
    again.release()
    other.release()


def test_a_component_that_another_process_compiles_is_not_compiled_again(
    code: Path, compiles: Compiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "_PATIENCE", 60.0)
    one, cache, announced = guest(), CodeCache(code), threading.Event()
    claim = cache.claim(key_of(one))
    assert claim is not None

    def other() -> None:
        assert announced.wait(60)
        cache.store(key_of(one), made_code(one))
        claim.release()

    thread = threading.Thread(target=other)
    thread.start()
    runtime = Runtime(RuntimeSettings(code))
    runtime.load("guest", one.wasm, one.digest, on_compile=announced.set)
    thread.join()
    runtime.close()
    assert compiles.nices == []


def test_a_call_waits_for_another_compiler_only_for_a_limited_time(
    code: Path, compiles: Compiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the other process, at low priority, gets no CPU time."""
    monkeypatch.setattr(loader, "_PATIENCE", 0.05)
    one, cache = guest(), CodeCache(code)
    claim = cache.claim(key_of(one))
    runtime = Runtime(RuntimeSettings(code))
    runtime.load("guest", one.wasm, one.digest, urgent=True)
    assert compiles.nices == [0]
    assert compiles.ended == [True]

    two = guest(result='{"two":2}')
    slow, made = cache.claim(key_of(two)), made_code(two)
    _hang(monkeypatch)
    thread = threading.Timer(0.5, lambda: cache.store(key_of(two), made))
    thread.start()
    runtime.load("guest", two.wasm, two.digest, urgent=True)
    assert compiles.ended == [True, False], "its own compiler was ended"
    runtime.close()
    for one_claim in (claim, slow):
        assert one_claim is not None
        one_claim.release()


def test_a_needed_built_in_plugin_is_compiled_at_the_servers_priority_and_others_below(
    code: Path, compiles: Compiles
) -> None:
    runtime = Runtime(RuntimeSettings(code))
    mine, strangers = guest(result='{"mine":1}'), guest(result='{"other":1}')
    runtime.load("mine", mine.wasm, mine.digest, urgent=True)
    runtime.load("other", strangers.wasm, strangers.digest)
    runtime.close()
    assert compiles.nices == [0, 10]


def test_the_compiler_ends_with_the_runtime(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _hang(monkeypatch)
    one, failures = guest(), []
    runtime = Runtime(RuntimeSettings(code))
    begun = threading.Event()

    def load() -> None:
        try:
            runtime.load("guest", one.wasm, one.digest, on_compile=begun.set)
        except LoadError as error:
            failures.append(error.message)

    thread = threading.Thread(target=load)
    thread.start()
    assert begun.wait(60)
    time.sleep(0.1)
    runtime.close()
    thread.join(30)
    assert failures == ["guest: not compiled; the server is stopping"]


def _hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the compiler hang without reading its input."""
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(compiling, "child_command", lambda *_: sleep)
