"""Builds Carrel's packages as pip does, with the installed backend and without a network."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Packages:
    """The built packages.

    Attributes:
        wheel: from the checkout.
        wheel_of_sdist: from the unpacked sdist.
        unpacked: the folder that the sdist, built from the checkout, unpacks to.
    """

    wheel: Path
    wheel_of_sdist: Path
    unpacked: Path

    @classmethod
    def build(cls, folder: Path) -> Packages:
        """Builds all packages below a folder."""
        with tarfile.open(_build("sdist", ROOT, folder / "sdist")) as archive:
            # Python 3.11.4 added the filter, and later versions warn if none is given.
            safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder / "unpacked", **safely)
        [unpacked] = (folder / "unpacked").iterdir()
        return cls(
            _build("wheel", ROOT, folder / "wheel"),
            _build("wheel", unpacked, folder / "wheel-of-sdist"),
            unpacked,
        )


def _build(kind: Literal["sdist", "wheel"], source: Path, into: Path) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir"]
    done = subprocess.run([*command, into, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = into.iterdir()
    return built
