"""Builds `plugins/native`, the parsers as native code, in the development environment.

    python3 scripts/native.py                 exits with 1 if it could not be built
    python3 scripts/native.py --optimised     for benchmarks; takes minutes

Tests and benchmarks compare the sandbox with it. It needs Rust; without Rust those tests are
skipped, with the reason.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

import environment
from environment import ROOT, VENV, run, say

_STAMP = VENV / "carrel-native.installed"
_WHEELS = ROOT / "target" / "native-wheel"


def build(python: Path, *, optimised: bool = False) -> bool:
    """Builds and installs the module if its sources changed; returns whether it is installed.

    An installed optimised build also serves tests.
    """
    if not _rust_works():
        say(f"{_why_no_rust()}: tests that compare with the native parsers are skipped.")
        return False
    digest = _digest()
    installed = _STAMP.read_text("utf-8") if _STAMP.exists() else ""
    if installed == f"{digest} optimised" or (installed == digest and not optimised):
        return True
    say("Building the native parsers, which tests compare the sandbox with.")
    shutil.rmtree(_WHEELS, ignore_errors=True)
    maturin = "-m maturin build --locked --quiet --manifest-path plugins/native/Cargo.toml"
    # Without optimisation, `cargo test` has compiled most of it already.
    profile = ["--release", "--features", "optimised"] if optimised else ["--profile", "dev"]
    options = [*maturin.split(), *profile, "--interpreter", str(python), "--out", str(_WHEELS)]
    if not run(python, *options):
        say("They could not be built: tests that compare with them are skipped.")
        return False
    [wheel] = _WHEELS.glob("*.whl")
    # uv is a development tool; an environment that uv made has no pip.
    install = "-m uv pip install --offline --no-deps --force-reinstall --quiet"
    if not run(python, *install.split(), "--python", python, wheel):
        return False
    _STAMP.write_text(f"{digest} optimised" if optimised else digest, "utf-8")
    return True


def _rust_works() -> bool:
    """Returns whether cargo works; rustup's proxy may be on PATH without a toolchain."""
    return run("cargo", "--version", quiet=True)


def _why_no_rust() -> str:
    cargo = shutil.which("cargo")
    if cargo is None:
        return "Rust is not installed"
    return f"{cargo} starts no toolchain (where it is rustup's: rustup default stable)"


def _digest() -> str:
    digest = hashlib.sha256()
    sources = [path for path in (ROOT / "plugins").rglob("*") if path.suffix in {".rs", ".toml"}]
    for path in sorted([*sources, ROOT / "Cargo.toml", ROOT / "Cargo.lock"]):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    python = environment.ready(dev=True)
    raise SystemExit(not build(python, optimised="--optimised" in sys.argv[1:]))
