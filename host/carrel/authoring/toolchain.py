"""Finds a Rust compiler for WebAssembly, and its options.

`carrel plugin build` uses it for everybody's plugins and `scripts/build-wasm` for the built-in
ones, by its path: so it imports nothing of Carrel and nothing that must be installed.

The target is wasm32-unknown-unknown: a component made from it imports the contract and nothing else
(`docs/decisions/0012-wasm-target.md`). Three ways to compile for it, the first that works here is
taken: a Rust toolchain that has the target, one that can download it (rustup), Debian's rustc-web
with the standard library's sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TARGET = "wasm32-unknown-unknown"
DEBIAN_PACKAGES = ("rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "lld-22")

#: How to install a compiler.
REMEDY = (
    "install Rust from https://rustup.rs and run\n"
    f"  rustup target add {TARGET}\n"
    f"or, on Debian, as root\n  apt-get install {' '.join(DEBIAN_PACKAGES)}"
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Toolchain:
    """A way to compile for the target.

    Attributes:
        cargo: the cargo to call.
        rustc: the compiler it shall use; cargo's own choice when empty.
        options: what cargo needs beyond the usual.
        name: what `components.lock` calls it. Equal names make equal bytes.
    """

    cargo: str
    rustc: str
    options: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, cargo: str, rustc: str, options: tuple[str, ...] = ()) -> Toolchain:
        """Names the toolchain after its compiler and the source of its standard library."""
        version = capture([rustc or "rustc", "--version"]).strip()
        origin = "std built from source" if options else "std as shipped"
        return cls(cargo, rustc, options, f"{version}, {origin}, {TARGET}")

    def build_command(self, *arguments: str) -> list[str]:
        """Returns the command that compiles for the target."""
        return [self.cargo, "build", f"--target={TARGET}", "--lib", *self.options, *arguments]

    def environment(self) -> dict[str, str]:
        """Returns the environment for any command of `cargo`: it may ask a compiler other than
        `rustc`.
        """
        return {**os.environ, **({"RUSTC": self.rustc} if self.rustc else {})}

    def build_environment(self, root: Path | None, *more_flags: str) -> dict[str, str]:
        """Returns the environment for `build_command`, after `cargo fetch`.

        The same bytes wherever the sources in `root` and cargo's folder are; vector instructions
        for the scans that decide the parsers' speed, which every wasm engine in use has.

        Args:
            root: a folder whose absolute path may be among the compiler's arguments; None when all
                sources in folders are named by relative paths.
            more_flags: for the compiler.
        """
        # This variable for flags wins over all other sources of them and takes paths with spaces.
        flags = [] if root is None else [f"--remap-path-prefix={root}=/src"]
        flags += ["-Ctarget-feature=+simd128", *more_flags]
        # Cargo names the folder of the crates' sources after the registry's address, mirrors
        # included.
        cargo_home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
        crates = sorted(cargo_home.glob("registry/src/*"))
        flags += [f"--remap-path-prefix={folder}=/crates" for folder in crates]
        environment = {**self.environment(), "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags)}
        if self.options:
            # -Z options belong to nightly; the variable lets a stable compiler take them.
            environment["RUSTC_BOOTSTRAP"] = "1"
        return environment


def find_toolchain(say: Say, *, install: bool = False) -> Toolchain | None:
    """Returns the first toolchain that works here.

    Args:
        say: called with a message before slow steps.
        install: install Debian's packages when nothing else does and this is root on Debian.
    """
    return _installed() or _downloaded(say) or _debian(say, install=install)


def native_toolchain() -> Toolchain | None:
    """Returns a toolchain that compiles for this machine; a `cargo` on PATH may have none to
    start.
    """
    for cargo, rustc in (("cargo", ""), ("/usr/bin/cargo", "/usr/bin/rustc")):
        if capture([cargo, "--version"]) and capture([rustc or "rustc", "--version"]):
            return Toolchain(cargo, rustc, (), "")
    return None


def capture(
    command: Sequence[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Returns the command's standard output; empty when it cannot be run or fails."""
    try:
        done = subprocess.run(  # noqa: S603 - compilers that are here
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            cwd=folder,
            env=environment,
        )
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def _has_target(rustc: str) -> bool:
    """Returns whether the compiler has the target's standard library."""
    folder = capture([rustc, "--print", "target-libdir", "--target", TARGET]).strip()
    return bool(folder) and any(Path(folder).glob("libstd-*"))


def _installed() -> Toolchain | None:
    """Returns the usual toolchain, when it has the target."""
    if not capture(["cargo", "--version"]) or not _has_target("rustc"):
        return None
    return Toolchain.of("cargo", "")


def _downloaded(say: Say) -> Toolchain | None:
    """Returns the usual toolchain after rustup has fetched the target."""
    if not shutil.which("rustup"):
        return None
    say(f"asking rustup for {TARGET}")
    capture(["rustup", "target", "add", TARGET])
    return _installed()


def _debian(say: Say, *, install: bool) -> Toolchain | None:
    """Debian's compiler for the web, which builds the standard library along."""
    cargo, rustc = "/usr/bin/cargo", "/usr/bin/rustc"
    ready = Path("/usr/lib/rustlib/src").exists() and "rustc" in capture([rustc, "--version"])
    if not ready and not (install and _install_debian_packages(say)):
        return None
    return Toolchain.of(cargo, rustc, ("-Zbuild-std=std,panic_abort",))


def _install_debian_packages(say: Say) -> bool:
    """Installs the packages when that is possible here."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not is_root or not shutil.which("apt-get"):
        return False
    say("installing " + " ".join(DEBIAN_PACKAGES))
    command = ["apt-get", "install", "-y", "--no-install-recommends", *DEBIAN_PACKAGES]
    for step in (["apt-get", "update"], command):
        done = subprocess.run(step, stdout=sys.stderr, check=False)  # noqa: S603 - apt-get
        if done.returncode != 0:
            return False
    return True
