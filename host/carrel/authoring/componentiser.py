"""Compiles the program that converts core modules to components, once for each user.

Its sources come with Carrel, because an author of a Rust plugin has cargo. The program is cached
under the hash of its sources.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from carrel.errors import BuildError

from .kit import COMPONENTISER, copy_crates, kit_root
from .steps import Say, run_step, verbosity
from .toolchain import REMEDY, Toolchain, native_toolchain

#: What compiling needs. A folder that takes it is not the reason of a failure.
_PROBE_BYTES = 300 * 2**20

_PROGRAM = "carrel-componentize" + (".exe" if sys.platform == "win32" else "")


def componentiser(cache: Path, say: Say, *, spare: Path) -> Path:
    """Returns the program; compiles it if necessary.

    Args:
        cache: the user's cache folder.
        say: called with a message when it is compiled.
        spare: the folder to use if the cache folder is not writable.

    Raises:
        BuildError: it cannot be compiled.
    """
    name = f"componentize-{_sources_hash()[:16]}"
    folders = (cache / "authoring" / name, spare / f"carrel-{name}")
    for folder in folders:
        program = folder / "target" / "debug" / _PROGRAM
        if program.is_file():
            return program
    chain = native_toolchain()
    if chain is None:
        raise BuildError("cargo is not here, which the componentiser needs", remedy=REMEDY)
    say("compiling the componentiser, once: about a minute")
    try:
        return _build(chain, folders[0])
    except (OSError, BuildError):
        fault = _write_fault(cache)
        if fault is None:
            raise
        shutil.rmtree(folders[0], ignore_errors=True)
        say(f"the cache folder cannot be written ({fault}); compiling it in {spare}")
        return _build(chain, folders[1])


def _build(chain: Toolchain, folder: Path) -> Path:
    """Compiles the program in a folder and returns its file."""
    _unpack(folder)
    # Unoptimised: it is quicker to compile than it ever has to run.
    run_step(
        [chain.cargo, "build", *verbosity(), f"--target-dir={folder / 'target'}"],
        purpose="compile the componentiser",
        folder=folder,
        environment=chain.environment(),
        remedy=REMEDY,
    )
    return folder / "target" / "debug" / _PROGRAM


def _write_fault(folder: Path) -> str | None:
    """Returns why a folder is not writable; None if it is."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            for _ in range(0, _PROBE_BYTES, 2**20):
                file.write(bytes(2**20))
            file.flush()
    except OSError as error:
        return f"{folder}: {error.strerror or error}"
    return None


def _unpack(folder: Path) -> None:
    """Writes the sources atomically, because another process may do so too."""
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
    digest = hashlib.sha256()
    for path in files:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()
