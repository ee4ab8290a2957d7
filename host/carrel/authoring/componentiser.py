"""The program that makes components of core modules, compiled once for each user.

Its sources come with Carrel: whoever builds a Rust plugin has cargo, and so needs nothing more. The
built program is kept under the hash of its sources.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from carrel.errors import BuildError

from .kit import COMPONENTISER, copy_crates, kit_root
from .steps import Say, run_step
from .toolchain import REMEDY, native_cargo

_PROGRAM = "carrel-componentize" + (".exe" if sys.platform == "win32" else "")


def componentiser(cache: Path, say: Say) -> Path:
    """The program; compiled now when it is not there yet.

    Raises:
        BuildError: it cannot be compiled.
    """
    folder = cache / "authoring" / f"componentize-{_sources_hash()[:16]}"
    program = folder / "target" / "debug" / _PROGRAM
    if program.is_file():
        return program
    cargo = native_cargo()
    if cargo is None:
        raise BuildError("cargo is not here, which the componentiser needs", remedy=REMEDY)
    say("compiling the componentiser, once: about a minute")
    _unpack(folder)
    # Unoptimised: it is quicker to compile than it ever has to run.
    run_step(
        [cargo, "build", "--quiet", f"--target-dir={folder / 'target'}"],
        purpose="compile the componentiser",
        folder=folder,
        remedy=REMEDY,
    )
    return program


def _unpack(folder: Path) -> None:
    """Writes the sources, whole or not at all; another process may be at it too."""
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        copy = Path(name) / "sources"
        copy_crates([COMPONENTISER], copy)
        shutil.copyfile(kit_root() / "Cargo.lock", copy / "Cargo.lock")
        try:
            copy.rename(folder)
        except OSError:
            if not folder.exists():
                raise


def _sources_hash() -> str:
    root = kit_root()
    files = [root / "Cargo.toml", root / "Cargo.lock"]
    files += sorted(path for path in (root / COMPONENTISER).rglob("*") if path.is_file())
    told = hashlib.sha256()
    for path in files:
        data = path.read_bytes()
        told.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode() + data)
    return told.hexdigest()
