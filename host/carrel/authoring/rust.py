"""Builds Rust plugins: cargo compiles a core module, the componentiser converts it to a
component.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from carrel.errors import BuildError

from .componentiser import componentiser
from .dependencies import Build, Dependencies
from .project import Project
from .steps import Say, run_step, verbosity
from .toolchain import REMEDY, TARGET, Toolchain, capture, find_toolchain


def build_rust(project: Project, cache: Path, say: Say) -> bytes:
    """Returns the component of a Cargo package, with no sections of Carrel's in it.

    Args:
        project: its package has a `cdylib` library that uses `carrel-pdk`.
        cache: the user's cache folder, for the componentiser and compiled dependencies.
        say: called with a message for every step.

    Raises:
        BuildError: there is no compiler for the target, or something does not compile.
    """
    chain = find_toolchain(say)
    if chain is None:
        raise BuildError(f"no Rust toolchain here can compile for {TARGET}", remedy=REMEDY)
    folder = project.folder
    # First, because the flags name the folders that the sources of crates are in.
    fetch = [chain.cargo, "fetch", *verbosity()]
    run_step(
        fetch,
        purpose="fetch the dependencies",
        folder=folder,
        environment=chain.environment(),
        remedy=REMEDY,
    )
    package = _package(chain, folder)
    module = _compile(chain, folder, package, cache, say)
    tool = componentiser(cache, say, spare=package.target_dir)
    with tempfile.TemporaryDirectory(prefix="carrel-build-") as name:
        output = Path(name) / "component.wasm"
        run_step([tool, module, output], purpose="make a component", folder=folder)
        return output.read_bytes()


@dataclass(frozen=True, slots=True)
class _Package:
    """A project's properties, from cargo.

    Attributes:
        library: the crate that becomes the module.
        target_dir: the folder that cargo builds in.
        root: the folder with `Cargo.lock`.
        own: names of all crates that are in folders.
    """

    library: str
    target_dir: Path
    root: Path
    own: frozenset[str]


def _compile(chain: Toolchain, folder: Path, package: _Package, cache: Path, say: Say) -> Path:
    """Compiles the package's core module and returns its file."""
    command = chain.build_command("--release", f"--target-dir={package.target_dir}", *verbosity())
    # The same flags in every project, or no project could use what another one compiled. Cargo
    # names a package's own sources by relative paths, so they say nothing of its folder.
    environment = chain.build_environment(None)
    dependencies = Dependencies(cache, say)
    toolchain = [
        chain.name,
        capture([chain.rustc or "rustc", "-vV"], folder),
        capture([chain.cargo, "-V"], folder),
        environment["CARGO_ENCODED_RUSTFLAGS"],
    ]
    build = Build(
        package.target_dir,
        package.root / "Cargo.lock",
        package.own,
        toolchain=json.dumps(toolchain),
    )
    is_first = dependencies.reuse(build)
    say(f"compiling with {chain.name}")
    run_step(command, purpose="compile the plugin", folder=folder, environment=environment)
    if is_first:
        dependencies.keep(build)
    name = package.library.replace("-", "_")
    return package.target_dir / TARGET / "release" / f"{name}.wasm"


def _package(chain: Toolchain, folder: Path) -> _Package:
    """Returns the properties of the package in a folder."""
    text = capture([chain.cargo, "metadata", "--format-version=1"], folder, chain.environment())
    manifest = folder / "Cargo.toml"
    if not text:
        raise BuildError(
            f"{manifest}: cargo cannot read it",
            remedy="'cargo metadata' in that folder says what is wrong",
        )
    metadata = json.loads(text)
    local = [package for package in metadata["packages"] if package["source"] is None]
    names = [target["name"] for package in local for target in package["targets"]]
    own = {name.replace("-", "_") for name in [*names, *(package["name"] for package in local)]}
    for package in local:
        if Path(package["manifest_path"]) != manifest.resolve():
            continue
        for target in package["targets"]:
            if "cdylib" in target["crate_types"]:
                root = Path(metadata["workspace_root"])
                target_dir = Path(metadata["target_directory"])
                # "build-script-build" is the name of every crate's build script.
                scripts = {"build_script_build"}
                return _Package(target["name"], target_dir, root, frozenset(own - scripts))
    raise BuildError(
        f"{manifest}: no library that can become a module",
        remedy='add crate-type = ["rlib", "cdylib"] under [lib]',
    )
