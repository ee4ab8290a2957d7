"""`carrel serve`: the server as the command line starts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import CommandLine


@pytest.mark.requirement("stdio:pure:end-of-stdin-ends-the-command")
def test_the_end_of_stdin_ends_the_server_without_a_byte_on_stdout(tmp_path: Path) -> None:
    done = CommandLine(tmp_path, real=True)("serve")
    assert (done.code, done.out) == (0, "")


def test_a_faulty_configuration_is_told_before_anything_is_served(tmp_path: Path) -> None:
    carrel = CommandLine(tmp_path, real=True)
    carrel.write("c.toml", "server.max_inflight = 1")
    done = carrel("serve", "--config", "c.toml")
    assert (done.code, done.out) == (2, "")
    assert "server.max_inflight: unknown key; did you mean 'max_in_flight'?" in done.err
