"""Rust: cargo makes a core module, the componentiser a component of it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from carrel.errors import BuildError

from .componentiser import componentiser
from .project import Project
from .steps import Say, run_step
from .toolchain import REMEDY, TARGET, Toolchain, capture, find_toolchain


def build_rust(project: Project, cache: Path, say: Say) -> bytes:
    """The component of a Cargo package, with no sections of Carrel's in it.

    Args:
        project: its package has a `cdylib` library that uses `carrel-pdk`.
        cache: the user's cache folder, for the componentiser.
        say: is told of every step.

    Raises:
        BuildError: there is no compiler for the target, or something does not compile.
    """
    chain = find_toolchain(say)
    if chain is None:
        raise BuildError(f"no Rust toolchain here can compile for {TARGET}", remedy=REMEDY)
    folder = project.folder
    # First, because the flags name the folders that the sources of crates are in.
    fetch = [chain.cargo, "fetch", "--quiet"]
    run_step(fetch, purpose="fetch the dependencies", folder=folder, remedy=REMEDY)
    module = _compile(chain, folder, say)
    tool = componentiser(cache, say)
    with tempfile.TemporaryDirectory(prefix="carrel-build-") as name:
        output = Path(name) / "component.wasm"
        run_step([tool, module, output], purpose="make a component", folder=folder)
        return output.read_bytes()


def _compile(chain: Toolchain, folder: Path, say: Say) -> Path:
    """Compiles the package's core module and returns its file."""
    library, target_dir = _library(chain, folder)
    command = chain.build_command("--release", f"--target-dir={target_dir}")
    if not os.isatty(2):
        command.append("--quiet")
    say(f"compiling with {chain.name}")
    run_step(
        command,
        purpose="compile the plugin",
        folder=folder,
        environment=chain.build_environment(folder),
    )
    return target_dir / TARGET / "release" / f"{library.replace('-', '_')}.wasm"


def _library(chain: Toolchain, folder: Path) -> tuple[str, Path]:
    """The name of the package's library, and the folder that cargo builds in."""
    text = capture([chain.cargo, "metadata", "--no-deps", "--format-version=1"], folder)
    manifest = folder / "Cargo.toml"
    if not text:
        raise BuildError(
            f"{manifest}: cargo cannot read it",
            remedy="'cargo metadata' in that folder says what is wrong",
        )
    told = json.loads(text)
    for package in told["packages"]:
        if Path(package["manifest_path"]) != manifest.resolve():
            continue
        for target in package["targets"]:
            if "cdylib" in target["crate_types"]:
                return target["name"], Path(told["target_directory"])
    raise BuildError(
        f"{manifest}: no library that can become a module",
        remedy='add crate-type = ["rlib", "cdylib"] under [lib]',
    )
