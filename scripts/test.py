"""Sets up what the tests need, then runs them.

    python3 scripts/test.py                     the default tests, in under six minutes
    python3 scripts/test.py --all               everything; arguments may follow
    python3 scripts/test.py --all --sample      as CI runs it: every third case of tests with many
    python3 scripts/test.py tests/host -k deny  only these tests; arguments are pytest's

The first three run pytest twice: tests that measure time or load the machine run alone, then the
others in parallel. The output ends with one line for each reason why tests were skipped, with the
command that runs them, and pytest's last line. Up to ten tests that failed run again, one after
another: a test that passes then is listed as UNSTABLE, and does not fail the run. Otherwise the
exit code is that of the first failed run.

Installs what needs no root: packages in `.venv`, the native parsers if Rust works, and registries
and clients in the user's cache folder. The first run takes some minutes longer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import environment
import native
import peers

#: Timeout in seconds for one program that the default run installs.
_PATIENCE = 180
_MOST_WORKERS = 4
#: With more failures than this, something is broken: nothing runs again.
_MOST_AGAIN = 10


def main() -> int:
    """Installs what is missing, runs pytest, and returns its exit code."""
    # Tests are collected three times, and start hundreds of processes: each file is compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    python = environment.ready(dev=True)
    native.build(python)
    pytest = [str(python), "-m", "pytest"]
    if arguments and not everything:
        return subprocess.call([*pytest, *arguments], cwd=environment.ROOT)
    if everything:
        get_peers(peers.NAMES, peers.PATIENCE)
        options = [argument for argument in arguments if argument != "--all"]
    else:
        get_peers(peers.QUICK, _PATIENCE)
        options = ["--quick", "-r", "fE"]
    return run_parts(pytest, options)


def get_peers(names: tuple[str, ...], patience: int) -> None:
    """Installs the programs that tests compare with; names those that cannot be installed."""
    for name in names:
        if peers.find(name) is None:
            environment.say(f"Getting {name}, which tests compare Carrel with.")
            why = peers.get(name, patience)
            if why:
                environment.say(f"{name} cannot be installed: {why}")


def run_parts(pytest: list[str], options: list[str]) -> int:
    """Runs tests marked `alone`, then the others, then again those that failed.

    Returns 0 if no test failed, or if each failed test passed when it ran again; otherwise the
    first exit code that is not 0.
    """
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder, "code")
        code.mkdir(mode=0o700)
        os.environ.setdefault("CARREL_TESTS_CODE", str(code))  # both runs compile into it
        first, second = Path(folder, "alone.json"), Path(folder, "together.json")
        # One argument each: pytest derives its root folder from arguments that are paths.
        alone = subprocess.call(
            [*pytest, "-m", "alone", f"--note={first}", *options, *alone_files(options)],
            cwd=environment.ROOT,
        )
        if alone not in {0, 1}:
            return alone  # interrupted, or not even collected
        together = subprocess.call(
            [
                *pytest,
                *("-m", "not alone", f"--noted={first}", f"--note={second}"),
                *in_parallel(),
                *options,
            ],
            cwd=environment.ROOT,
        )
        failed = sum(map(failures, (first, second)))
        if together not in {0, 1} or not 0 < failed <= _MOST_AGAIN:
            return alone or together
        return subprocess.call(
            [*pytest, f"--again={first}", f"--again={second}", *options], cwd=environment.ROOT
        )


def alone_files(options: list[str]) -> list[str]:
    """Returns the files with tests marked `alone`; none if the options already name tests.

    Collecting all files would take a quarter of that run.
    """
    if any((environment.ROOT / option.partition("::")[0]).exists() for option in options):
        return []
    files = sorted((environment.ROOT / "tests").rglob("test_*.py"))
    return [
        path.relative_to(environment.ROOT).as_posix()
        for path in files
        if "mark.alone" in path.read_text("utf-8")
    ]


def failures(note: Path) -> int:
    """Returns how many tests failed in the run that wrote this note."""
    return len(json.loads(note.read_text("utf-8"))["failed"]) if note.exists() else 0


def in_parallel() -> list[str]:
    """Returns pytest-xdist's options for this machine."""
    # One more than there are processors: many tests wait for a process or a timer.
    workers = min((os.cpu_count() or 1) + 1, _MOST_WORKERS)
    return ["-n", str(workers), "--dist", "worksteal"]


if __name__ == "__main__":
    raise SystemExit(main())
