"""Gets the registries and clients that tests compare Carrel with.

    python3 scripts/peers.py [NAME…]    all of them, or these
    python3 scripts/peers.py --list     where each one is

`docker-registry` is Debian's package, installed where this runs as root. The others are Go
programs, built once at fixed versions and kept in the user's cache folder (or `CARREL_PEERS`) under
a key of what they are built from. Tests that need one that cannot be had are skipped and say so.

Exits with 77 when something cannot be had. The first time takes a quarter of an hour on two cores,
nearly all of it for the two cosigns; later a moment.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Seconds that getting one of them may take.
_PATIENCE = 1800


@dataclass(frozen=True)
class Peer:
    """A Go program at one version.

    Attributes:
        package: the program's import path; empty when `source` is the program.
        module: what `version` is of.
        source: a file of this checkout, built against the module.
        alone: whether it builds outside a module of ours (`go install PACKAGE@VERSION`).
    """

    module: str
    version: str
    package: str = ""
    source: Path | None = None
    alone: bool = True

    @property
    def key(self) -> str:
        """Changes with whatever the program is built from."""
        source = self.source.read_bytes() if self.source else b""
        parts = f"{self.module}\n{self.version}\n{self.package}\n".encode()
        return hashlib.sha256(parts + source).hexdigest()[:16]


_CONTAINERS = "github.com/google/go-containerregistry"

GO_PEERS = {
    "crane": Peer(_CONTAINERS, "v0.22.1", f"{_CONTAINERS}/cmd/crane"),
    "referrers-registry": Peer(
        _CONTAINERS, "v0.22.1", source=ROOT / "tests" / "support" / "referrers_registry.go"
    ),
    "oras": Peer("oras.land/oras", "v1.3.1", "oras.land/oras/cmd/oras", alone=False),
    "cosign3": Peer(
        "github.com/sigstore/cosign/v3", "v3.1.3", "github.com/sigstore/cosign/v3/cmd/cosign"
    ),
    "cosign2": Peer(
        "github.com/sigstore/cosign/v2", "v2.6.5", "github.com/sigstore/cosign/v2/cmd/cosign"
    ),
}
_DEBIAN = "docker-registry"
NAMES = (_DEBIAN, *GO_PEERS)


def find(name: str) -> Path | None:
    """The program of that name; None when it was not got yet."""
    if name == _DEBIAN:
        found = shutil.which(_DEBIAN)
        return Path(found) if found else None
    path = _place(name)
    return path if path.is_file() else None


def get(name: str) -> str:
    """Gets a program that is not there; why it cannot be had, or nothing."""
    if find(name):
        return ""
    if name == _DEBIAN:
        return _install()
    if shutil.which("go") is None:
        return "it is built with Go, which is not installed"
    path = _place(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        why = _build(GO_PEERS[name], Path(scratch))
        if why:
            return why
        (Path(scratch) / "program").replace(path)
    return ""


def _place(name: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(os.environ.get("CARREL_PEERS") or Path(cache) / "carrel-peers")
    return folder / f"{name}-{GO_PEERS[name].key}"


def _install() -> str:
    if shutil.which("apt-get") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "it is Debian's package docker-registry, which only root can install"
    install = ["apt-get", "install", "-y", "--no-install-recommends", _DEBIAN]
    why = _run(install, ROOT)
    if why:
        why = _run(["apt-get", "update"], ROOT) or _run(install, ROOT)
    return why


def _build(peer: Peer, scratch: Path) -> str:
    if peer.source is None and peer.alone:
        why = _run(["go", "install", f"{peer.package}@{peer.version}"], scratch, GOBIN=str(scratch))
        if not why:
            (scratch / peer.package.rpartition("/")[2]).replace(scratch / "program")
        return why
    (scratch / "go.mod").write_text("module carrel.test/peer\n", "utf-8")
    if peer.source is not None:
        shutil.copy(peer.source, scratch / "main.go")
    else:
        tools = f'package peer\n\nimport _ "{peer.package}"\n'
        (scratch / "peer.go").write_text(tools, "utf-8")
    return (
        _run(["go", "get", f"{peer.module}@{peer.version}"], scratch)
        or _run(["go", "mod", "tidy"], scratch)
        or _run(["go", "build", "-o", "program", peer.package or "."], scratch)
    )


def _run(command: list[str], folder: Path, **more: str) -> str:
    """Runs a command; the end of what it said when it failed, or nothing."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", **more}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"{' '.join(command[:3])}: {fault}"
    if done.returncode == 0:
        return ""
    return f"{' '.join(command[:3])} failed: {(done.stderr or done.stdout).strip()[-300:]}"


def main() -> int:
    """Gets what is missing, one after another; builds of this size do not gain from company."""
    parser = argparse.ArgumentParser(description="Get the programs that tests compare Carrel with.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(NAMES))
    parser.add_argument("--list", action="store_true", help="say where each one is")
    given = parser.parse_args()
    unknown = set(given.names) - set(NAMES)
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    missing = False
    for name in given.names or NAMES:
        started = time.monotonic()
        why = ("not there" if find(name) is None else "") if given.list else get(name)
        seconds = time.monotonic() - started
        missing = missing or bool(why)
        print(f"{name}: {why or find(name)}, {seconds:.0f} s", flush=True)
    return 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
