"""Fixtures: a runtime in a temporary folder, and helpers to load and call a guest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from carrel.exchange import Call, Fetcher, Limits, Outcome, Request, Response
from carrel.runtime.component import SandboxedComponent
from carrel.runtime.instance import OfflineFetcher
from carrel.runtime.loader import Runtime, RuntimeSettings
from support.guests import Guest

Load = Callable[..., SandboxedComponent]
Invoke = Callable[..., str]


class AnsweringFetcher:
    """Returns an empty document for every request, and counts requests."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        self.requests += requests
        return [Response(200, request.url, (), "") for request in requests]


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    runtime = Runtime(RuntimeSettings(tmp_path_factory.mktemp("code")))
    yield runtime
    runtime.close()


@pytest.fixture
def load(runtime: Runtime) -> Load:
    def load(guest: Guest, name: str = "guest") -> SandboxedComponent:
        return runtime.load(name, guest.wasm, guest.digest)

    return load


@pytest.fixture
def invoke(load: Load) -> Invoke:
    """Loads a guest and calls it once; returns its JSON text or raises."""

    def invoke(
        guest: Guest,
        text: str = "{}",
        *,
        limits: Limits | None = None,
        fetcher: Fetcher | None = None,
        call: Call | None = None,
    ) -> str:
        call = call or Call("guest", "tool", limits or Limits())
        component = load(guest)
        try:
            future = component.submit_call(
                "tool", text, call, fetcher=fetcher or OfflineFetcher(), settings={}
            )
            return future.result(timeout=30)
        finally:
            component.close()

    return invoke


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Returns an empty folder for precompiled code."""
    return tmp_path / "code"
