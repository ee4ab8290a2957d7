"""Builds the components again and holds them against the committed ones.

    python scripts/rebuild.py       run by the development environment's Python

Equal builders must give equal bytes, and whatever the builder, every fixture must give what it is
expected to give. Exits with 77 where no toolchain for the target can be had.
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

CANNOT = 77  # what automake's tests, and others since, exit with for "skipped"


def main() -> int:
    """Builds, compares the bytes, then runs the fixtures through what was built."""
    build_wasm = _build_wasm()
    try:
        toolchain = build_wasm.toolchain()
    except SystemExit as reason:
        say(str(reason))
        return CANNOT
    code: int = build_wasm.rebuild(toolchain)
    if code:
        return code
    with tempfile.TemporaryDirectory() as name:
        # A copy of the package around the new components: their lock is checked on loading.
        copy = Path(name)
        for folder in ("host", "contract"):
            shutil.copytree(ROOT / folder, copy / folder)
        build_wasm.build(toolchain, copy / "host" / "carrel" / "components")
        environ = {**os.environ, "PYTHONPATH": str(copy / "host")}
        golden = [sys.executable, "-m", "pytest", "-q", "tests/plugins/test_golden.py"]
        return subprocess.call(golden, cwd=ROOT, env=environ)


def _build_wasm() -> Any:
    """`scripts/build-wasm` as a module: it knows what a toolchain needs."""
    loader = SourceFileLoader("build_wasm", str(ROOT / "scripts" / "build-wasm"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None, "a loader was given"
    module = module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
