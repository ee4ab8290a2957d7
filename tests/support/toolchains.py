"""Checks for a working Rust: `cargo` on PATH may be rustup's proxy without a toolchain."""

from __future__ import annotations

import functools
import shutil
import subprocess

import pytest

from carrel.authoring.toolchain import find_toolchain


@functools.cache
def no_cargo() -> str:
    """Returns why cargo cannot be used; empty if it can."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return "cargo is not installed"
    try:
        done = subprocess.run(
            [cargo, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{cargo} cannot be run: {type(error).__name__}"
    return f"{cargo} starts no toolchain" if done.returncode else ""


#: For tests that call cargo; the reason says what to fix.
needs_cargo = pytest.mark.skipif(bool(no_cargo()), reason=no_cargo() or "cargo is here")


def require_wasm_toolchain() -> None:
    """Skips the test if no toolchain can compile for the target of plugins."""
    if find_toolchain(lambda _: None) is None:
        pytest.skip("no Rust toolchain here can compile for wasm32-unknown-unknown")
