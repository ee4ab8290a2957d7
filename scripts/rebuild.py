"""Rebuilds the components and compares them with the committed ones.

    python scripts/rebuild.py       run by the development environment's Python

The same compiler must give the same bytes; with another compiler every fixture must give the
expected result. Exits with 77 if there is no toolchain for the target.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

from environment import ROOT, say

CANNOT = 77  # the exit code for "skipped" of automake and other test harnesses


def main() -> int:
    """Builds and compares the bytes; runs the fixtures with components of other bytes."""
    build_wasm = _build_wasm()
    try:
        toolchain = build_wasm.toolchain()
    except SystemExit as reason:
        say(str(reason))
        return CANNOT
    code: int
    code, equal = build_wasm.rebuild(toolchain)
    if code or equal:
        return code
    with tempfile.TemporaryDirectory() as name:
        # A copy of the package with the new components, because their lock is checked at load.
        copy = Path(name)
        for folder in ("host", "contract"):
            shutil.copytree(ROOT / folder, copy / folder)
        build_wasm.build(toolchain, copy / "host" / "carrel" / "components")
        environ = {**os.environ, "PYTHONPATH": str(copy / "host")}
        golden = [sys.executable, "-m", "pytest", "-q", "tests/plugins/test_golden.py"]
        return subprocess.call(golden, cwd=ROOT, env=environ)


def _build_wasm() -> Any:
    """Imports `scripts/build-wasm` as a module; it sets up the toolchain."""
    loader = SourceFileLoader("build_wasm", str(ROOT / "scripts" / "build-wasm"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None, "a loader was given"
    module = module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up here
    loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
