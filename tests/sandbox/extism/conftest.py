"""Fixtures: a helper to load a module and call it once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from carrel.exchange import Call, Fetcher, Limits
from carrel.runtime.extism.context import ModuleContext
from carrel.runtime.loader import Runtime
from support.guests import Guest

Run = Callable[..., str]


@pytest.fixture
def run(runtime: Runtime) -> Run:
    """Loads a module, calls an export once and returns its output."""

    def run(
        guest: Guest,
        text: str = "",
        *,
        export: str = "call_tool",
        limits: Limits | None = None,
        fetcher: Fetcher | None = None,
        config: dict[str, str] | None = None,
        context: ModuleContext | None = None,
        call: Call | None = None,
    ) -> str:
        loaded = runtime.load_module("guest", guest.wasm, guest.digest)
        try:
            return loaded.submit(
                export,
                text,
                call or Call("guest", export, limits or Limits()),
                config=config or {},
                context=context or ModuleContext(),
                fetcher=fetcher,
            ).result(timeout=30)
        finally:
            loaded.close()

    return run
