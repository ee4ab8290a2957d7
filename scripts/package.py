"""Builds the sdist and, from it, the wheel, and runs the wheel as a user would.

    python scripts/package.py       into dist/; run by the development environment's Python

The check uses a new environment, an empty home directory and a folder outside the checkout, so that
no file of the checkout can replace a file that the wheel lacks.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from environment import ROOT, python_of, say
from example import CALL, RECORDING

DIST = ROOT / "dist"


def build() -> Path:
    """Returns the wheel, built from the sdist, so that a file that the sdist lacks is
    noticed.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, ROOT], check=True)
    [wheel] = DIST.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Returns the Python of a new environment in `folder` with the wheel and its
    dependencies.
    """
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = python_of(folder)
    options = [
        "--quiet",
        "--disable-pip-version-check",
        "--constraint",
        str(ROOT / "constraints.txt"),
    ]
    subprocess.run([python, "-m", "pip", "install", *options, wheel], check=True)
    return python


def try_out(python: Path, home: Path) -> None:
    """Runs the installed Carrel: parses a document and replays a call, with home folder `home`."""
    unwanted = ("CARREL_", "PYTHON", "XDG_")
    environ = {key: text for key, text in os.environ.items() if not key.startswith(unwanted)}
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        environ[name] = str(home)

    def carrel(*words: str | Path) -> Any:
        command = [python, "-m", "carrel", *words]
        done = subprocess.run(command, cwd=home, env=environ, check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    [feed] = RECORDING.glob("*.xml")
    parsed = carrel("parse", "arxiv", "feed", feed)["entries"]
    called = carrel("--replay", RECORDING, *CALL)["entries"]
    if not parsed or [entry["id"] for entry in parsed] != [entry["id"] for entry in called]:
        sys.exit("The installed wheel does not find the recording's entries.")
    items = home / "items.json"
    items.write_text('[{"id": "a", "type": "book", "title": "One"}]', "utf-8")
    entry = carrel("cite", "--items", items, "--style", "turabian", "--locale", "de", "--jsonl")
    if "One" not in entry["text"]:
        sys.exit("The installed wheel does not render a bibliography.")


def main() -> None:
    """Builds, installs and runs the packages."""
    wheel = build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        try_out(install(wheel, folder / "environment"), home)
    say(f"{wheel.name} installs by itself, parses and replays.")


if __name__ == "__main__":
    main()
