"""Tests a module's log lines and the log level that it can read."""

from __future__ import annotations

import logging

import pytest

from support.modules import module, text_at

from .conftest import Run


def test_log_lines_reach_the_host_in_their_levels(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    lines = " ".join(
        f"(call $log_{level} (call $put (i32.const 0) (i32.const 6)))"
        for level in ("trace", "debug", "info", "warn", "error")
    )
    with caplog.at_level(logging.DEBUG, logger="carrel.plugin"):
        run(module(lines, data=text_at(0, b"a\x1b\xff\xc3\xb6b")))
    logged = [(one.levelname, one.message) for one in caplog.records if "guest:" in one.message]
    assert logged == [
        (level, "guest: a  \ufffd\xf6b".replace("  ", " "))
        for level in ("DEBUG", "DEBUG", "INFO", "WARNING", "ERROR")
    ]


def test_the_log_level_is_the_hosts(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    asks = module("(call $number (i64.extend_i32_u (call $get_log_level)))")
    for level, number in ((logging.DEBUG, 1), (logging.WARNING, 3), (logging.CRITICAL, 4)):
        with caplog.at_level(level, logger="carrel.plugin"):
            assert int(run(asks)) == number
