"""Builds the example plugins in Python and JavaScript and runs their fixtures.

    python scripts/examples.py      run by the development environment's Python

A component is built once for the content of its sources and tools, and kept in the example's
`dist`, its compiled code in `target/examples`; the tests find both there. Needs componentize-py,
which the development environment has, and npm. Exits with 77 where npm is missing, after the
example that needs none.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from environment import ROOT, say

EXAMPLES = ROOT / "examples"
CACHE = ROOT / "target" / "examples"
CANNOT = 77  # what automake's tests, and others since, exit with for "skipped"


def main() -> int:
    """Builds what is out of date and tests both."""
    python = EXAMPLES / "python-plugin"
    build(python, f"componentize-py {version('componentize-py')}")
    javascript = EXAMPLES / "javascript-plugin"
    npm = shutil.which("npm")
    if npm is None:
        say("examples/javascript-plugin: npm is not installed")
        return CANNOT
    if not is_built(javascript, ""):
        install = [npm, "ci", "--no-audit", "--no-fund"]
        if subprocess.run(install, cwd=javascript, stdout=sys.stderr, check=False).returncode != 0:
            say("examples/javascript-plugin: npm could not install what its lock names")
            return CANNOT
    build(javascript, "")
    return 0


def build(folder: Path, tool: str) -> None:
    """Builds one example if it is out of date, and runs its fixtures."""
    if not is_built(folder, tool):
        run("build", folder)
        stamp(folder).write_text(content(folder, tool), "utf-8")
    run("test", folder)


def run(word: str, folder: Path) -> None:
    """Runs a command of `carrel plugin`; ends the program when it fails."""
    command = [sys.executable, "-m", "carrel", "plugin", word, str(folder)]
    environment = {**os.environ, "CARREL_CACHE_DIR": str(CACHE)}
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        sys.exit(f"examples: 'carrel plugin {word} {folder.name}' failed")


def is_built(folder: Path, tool: str) -> bool:
    """Returns whether the component is there and made of what lies in the folder now."""
    there = any((folder / "dist").glob("*.wasm")) and stamp(folder).exists()
    return there and stamp(folder).read_text("utf-8") == content(folder, tool)


def stamp(folder: Path) -> Path:
    """Returns the file that says what a component was made of."""
    return folder / "dist" / "made-of"


def content(folder: Path, tool: str) -> str:
    """Returns a hash of everything that decides the component."""
    told = hashlib.sha256(tool.encode())
    sources = [ROOT / "contract" / "v1" / "plugin.wit"]
    sources += sorted(path for path in folder.iterdir() if path.is_file())
    for path in sources:
        told.update(f"{path.name} ".encode() + hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
