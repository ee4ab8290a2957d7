"""Makes the checkout's environment, `.venv`; needs only Python and a package registry.

    python3 scripts/environment.py          for running Carrel
    python3 scripts/environment.py --dev    for developing it, too

`try.py`, `test.py` and `just setup` call this. A stamp file has a hash of the files that define the
environment, so a second run installs nothing and needs no network.

uv makes the environment if it is installed, because it is fast. If not, or if only pip is
configured for the package registry, venv and pip make it. Both install the versions of
`constraints.txt`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
OLDEST = (3, 11)

#: Files that define the environment's content, besides its Python version.
_DECIDING = ("pyproject.toml", "constraints.txt", "scripts/environment.py")


def say(text: str) -> None:
    """Prints a message to stderr; stdout is for programs that run in the environment."""
    print(text, file=sys.stderr, flush=True)


def run(*words: str | Path, quiet: bool = False) -> bool:
    """Returns whether a command succeeded. Its output is written to stderr, or discarded."""
    output = subprocess.DEVNULL if quiet else sys.stderr
    command = [str(word) for word in words]
    try:
        done = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def ready(*, dev: bool) -> Path:
    """Returns the environment's Python, after installing what has changed since the last run.

    Ends the process with a message if that is not possible.
    """
    continue_in_newer_python()
    python = python_of(VENV)
    if _is_current(python, dev=dev):
        return python
    say(f"Setting up {VENV} for {'development' if dev else 'use'}; this is done once.")
    if not _works(python):
        shutil.rmtree(VENV, ignore_errors=True)
    if not (_install_with_uv(python, dev=dev) or _install_with_pip(python, dev=dev)):
        sys.exit(
            "The packages that Carrel needs could not be installed; the reason is printed above.\n"
            "A package registry must be reachable. Its address and the proxy are pip's own\n"
            "settings: PIP_INDEX_URL, PIP_PROXY, or pip.conf."
        )
    for kind in ("use", "dev") if dev else ("use",):
        _stamp(kind).write_text(_digest(), "utf-8")
    return python


def continue_in_newer_python() -> None:
    """Restarts with a newer Python if this one is too old, or ends the process."""
    if sys.version_info >= OLDEST:
        return
    required = ".".join(map(str, OLDEST))
    for minor in range(OLDEST[1] + 8, OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found and _works(Path(found)):
            sys.exit(subprocess.call([found, *sys.argv]))
    have = ".".join(map(str, sys.version_info[:2]))
    sys.exit(
        f"Carrel needs Python {required} or newer; this is {have}, and no newer one is on PATH."
    )


def development_requirements() -> list[str]:
    """Returns the development tools that `pyproject.toml` lists.

    pip reads that list since version 25.1; Python 3.11 comes with an older pip.
    """
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    tools: list[str] = project["dependency-groups"]["dev"]
    return tools


def python_of(venv: Path) -> Path:
    """Returns the path of an environment's Python, which need not exist."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _works(python: Path) -> bool:
    """Returns whether a Python starts and is new enough: a venv's base Python may be removed."""
    question = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    return run(python, "-c", question, quiet=True)


def _stamp(kind: str) -> Path:
    return VENV / f"carrel-{kind}.installed"


def _digest() -> str:
    digest = hashlib.sha256()
    for name in _DECIDING:
        digest.update((ROOT / name).read_bytes().replace(b"\r\n", b"\n"))
    # The editable installation refers to the checkout's path, which may have changed.
    digest.update(str(ROOT).encode())
    return digest.hexdigest()


def _is_current(python: Path, *, dev: bool) -> bool:
    try:
        installed = _stamp("dev" if dev else "use").read_text("utf-8")
    except OSError:
        return False
    return installed == _digest() and _works(python)


def _requirements(*, dev: bool) -> list[str]:
    tools = development_requirements() if dev else []
    return ["--constraint", str(ROOT / "constraints.txt"), "--editable", str(ROOT), *tools]


def _install_with_uv(python: Path, *, dev: bool) -> bool:
    uv = shutil.which("uv")
    if uv is None:
        return False
    made = python.exists() or run(uv, "venv", "--quiet", "--python", _base_python(), VENV)
    install = (uv, "pip", "install", "--quiet", "--python", python)
    if made and run(*install, *_requirements(dev=dev)):
        return True
    say("uv could not do it; trying venv and pip.")
    return False


def _install_with_pip(python: Path, *, dev: bool) -> bool:
    # Without pip first: Debian packages `ensurepip` separately.
    if not python.exists() and not run(_base_python(), "-m", "venv", "--without-pip", VENV):
        return False
    pip: tuple[str | Path, ...] = (python, "-m", "pip")
    if not run(*pip, "--version", quiet=True) and not run(
        python, "-m", "ensurepip", "--default-pip", quiet=True
    ):
        pip = (_base_python(), "-m", "pip", "--python", python)
    options = ("--quiet", "--disable-pip-version-check", "--no-input")
    return run(*pip, "install", *options, *_requirements(dev=dev))


def _base_python() -> str:
    """Returns the Python outside of venvs: the venv that runs this script may be replaced."""
    base: str = getattr(sys, "_base_executable", None) or sys.executable
    return base


if __name__ == "__main__":
    ready(dev="--dev" in sys.argv[1:])
