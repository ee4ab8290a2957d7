"""Builds the example plugins in Python and JavaScript and runs their fixtures.

    python scripts/examples.py      run by the development environment's Python

A component is rebuilt if its sources or tools have changed. It is written to the example's `dist`,
and its compiled code to `target/examples`, where the tests find both. Needs componentize-py, which
the development environment has, and npm. Without npm it builds the other example and exits with 77.
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
CANNOT = 77  # the exit code for "skipped" of automake and other test harnesses


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
    """Runs a command of `carrel plugin`; ends the program if it fails."""
    command = [sys.executable, "-m", "carrel", "plugin", word, str(folder)]
    environment = {**os.environ, "CARREL_CACHE_DIR": str(CACHE)}
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        sys.exit(f"examples: 'carrel plugin {word} {folder.name}' failed")


def is_built(folder: Path, tool: str) -> bool:
    """Returns whether the component exists and is up to date."""
    there = any((folder / "dist").glob("*.wasm")) and stamp(folder).exists()
    return there and stamp(folder).read_text("utf-8") == content(folder, tool)


def stamp(folder: Path) -> Path:
    """Returns the file with the hash of a component's sources and tools."""
    return folder / "dist" / "made-of"


def content(folder: Path, tool: str) -> str:
    """Returns a hash of the component's sources and tools."""
    digest = hashlib.sha256(tool.encode())
    sources = [ROOT / "contract" / "v1" / "plugin.wit"]
    sources += sorted(path for path in folder.iterdir() if path.is_file())
    for path in sources:
        digest.update(f"{path.name} ".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
