"""Runs the sandbox's tests on several versions of wasmtime-py.

    python scripts/wasmtime_versions.py              all of tests/sandbox on all versions
    python scripts/wasmtime_versions.py --sample     a sample of the tests, as CI does
    python scripts/wasmtime_versions.py ~=48.0       on the newest 48 only

Run by the development environment's Python. A sample omits what the test suite already runs: the
pinned version with its own interface. Each version gets an environment in `.venv/wasmtime`, with
the development environment's other packages. If the interface for a version is `direct`, the tests
run again with the public one. Exits with 77 if a version cannot be installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from environment import ROOT, python_of, run, say

CANNOT = 77  # the exit code for "skipped" of automake and other test harnesses

#: The release with long-term support, the one in constraints.txt, and the newest. A version is
#: tested once, whatever its name.
VERSIONS = ("~=48.0", "pinned", "newest")
#: A part for each promise: limits, traps, results, imports, Extism, and both interfaces.
SAMPLE = (
    "tests/sandbox/ffi",
    "tests/sandbox/test_limits.py",
    "tests/sandbox/test_results.py",
    "tests/sandbox/test_wasi.py",
    "tests/sandbox/extism/test_http.py",
    "tests/sandbox/extism/test_memory.py",
)
_ASK = """
from importlib import metadata
from carrel.runtime.ffi import INTERFACE
print(metadata.version("wasmtime"), INTERFACE.name, INTERFACE.reason, sep="|")
"""


def main() -> int:
    """Makes the environments, runs the tests, and returns the worst exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", action="store_true", help="run a part of the tests")
    parser.add_argument("versions", nargs="*", default=VERSIONS, metavar="VERSION")
    options = parser.parse_args()
    paths = SAMPLE if options.sample else ("tests/sandbox",)
    tested: set[str] = set()
    worst = 0
    for requested in options.versions:
        python = _environment(requested)
        if python is None:
            say(f"wasmtime-py {requested} cannot be installed; the reason is printed above")
            return CANNOT
        version, interface, reason = _ask(python)
        if version in tested:
            say(f"== wasmtime-py {requested}: {version}, which was tested above")
            continue
        tested.add(version)
        chosen_by_itself = () if options.sample and requested == "pinned" else (interface,)
        for chosen in dict.fromkeys((*chosen_by_itself, "public")):
            say(f"== wasmtime-py {version}, {chosen} interface (by itself {interface}: {reason})")
            forced = chosen != interface
            worst = max(worst, _test(python, paths, forced=forced))
    return worst


def _environment(requested: str) -> Path | None:
    """Returns the Python of an environment with a version of wasmtime-py, or None."""
    folder = ROOT / ".venv" / "wasmtime" / requested.strip("~=<>! ")
    shutil.rmtree(folder, ignore_errors=True)
    python = python_of(folder)
    if not run(sys.executable, "-m", "venv", "--without-pip", folder):
        return None
    # The packages of this environment, after those of the new one.
    packages = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    ours = sysconfig.get_path("purelib")
    Path(packages, "development.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    requirement = "wasmtime" if requested == "newest" else f"wasmtime{requested}"
    if requested == "pinned":
        lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        requirement = next(line for line in lines if line.startswith("wasmtime=="))
    return python if _install(python, requirement) else None


def _install(python: Path, requirement: str) -> bool:
    """Installs wasmtime-py, which has no dependencies, with pip's or uv's settings."""
    options = ("--quiet", "--no-deps", "--upgrade", requirement)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    if run(*pip, "install", *options):
        return True
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    return uv is not None and run(uv, "pip", "install", "--python", python, *options)


def _environ(*, public: bool = False) -> dict[str, str]:
    environ = {name: text for name, text in os.environ.items() if name != "CARREL_WASMTIME_API"}
    environ["PYTHONPATH"] = str(ROOT / "host")
    return environ | ({"CARREL_WASMTIME_API": "public"} if public else {})


def _ask(python: Path) -> tuple[str, str, str]:
    """Returns the installed version, the interface that Carrel chooses with it, and why."""
    answer = subprocess.run(
        [python, "-c", _ASK],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=_environ(),
        cwd=ROOT,
        check=True,
    )
    version, interface, reason = answer.stdout.strip().split("|", 2)
    return version, interface, reason


def _test(python: Path, paths: tuple[str, ...], *, forced: bool) -> int:
    words = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n2", *paths]
    return subprocess.call(words, cwd=ROOT, env=_environ(public=forced))


if __name__ == "__main__":
    raise SystemExit(main())
