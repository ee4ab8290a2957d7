"""Tests `carrel serve`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import carrel.server
from carrel.__main__ import main
from support.command_line import CommandLine


@pytest.fixture
def unfrozen() -> Iterator[None]:
    gc.unfreeze()  # a server in this process may have frozen its objects
    yield
    gc.unfreeze()
    assert gc.isenabled()


@pytest.mark.requirement("stdio:pure:end-of-stdin-ends-the-command")
def test_the_end_of_stdin_ends_the_server_without_a_byte_on_stdout(tmp_path: Path) -> None:
    done = CommandLine(tmp_path, real=True)("serve")
    assert (done.code, done.out) == (0, "")


def test_an_invalid_configuration_is_reported_before_serving(tmp_path: Path) -> None:
    carrel = CommandLine(tmp_path, real=True)
    carrel.write("c.toml", "server.max_inflight = 1")
    done = carrel("serve", "--config", "c.toml")
    assert (done.code, done.out) == (2, "")
    assert "server.max_inflight: unknown key; did you mean 'max_in_flight'?" in done.err


@pytest.mark.usefixtures("unfrozen")
def test_garbage_is_searched_for_once_the_tools_are_there_and_not_among_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    seen: list[tuple[bool, int]] = []

    def serve(make: Callable[[], Any], *_: object, **__: object) -> int:
        seen.append((gc.isenabled(), gc.get_freeze_count()))
        make().close()
        seen.append((gc.isenabled(), gc.get_freeze_count()))
        return 0

    monkeypatch.setattr(carrel.server, "serve_stdio", serve)
    assert main(["serve"]) == 0
    (at_first, frozen), (then, kept) = seen
    assert not at_first
    assert frozen == 0
    assert then
    assert kept > 10_000


@pytest.mark.usefixtures("unfrozen")
def test_a_server_that_cannot_start_does_not_change_garbage_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    def serve(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(carrel.server, "serve_stdio", serve)
    assert main(["serve"]) == 130
    assert gc.isenabled()
