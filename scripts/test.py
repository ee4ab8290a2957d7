"""The test suite in one command: set up what it needs, then run it.

    python3 scripts/test.py                     what tells that all works, in under six minutes
    python3 scripts/test.py --all               everything, as CI runs it; arguments may follow
    python3 scripts/test.py tests/host -k deny  those tests and no others; arguments are pytest's

The first two run pytest twice: tests that measure time or load the machine run alone, then the
others in parallel. What is left out is said at the end, one line for each reason, with the command
that brings it. The last line of the output is pytest's; the exit code is that of the first run that
failed.

What needs no root is got: packages into `.venv`, the native parsers where Rust is, and registries
and clients to compare with into the user's cache folder. The first time takes some minutes more.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import environment
import native
import peers

#: Seconds for one program that the quick run gets.
_PATIENCE = 180
_MOST_WORKERS = 4


def main() -> int:
    """Sets up what is missing, runs pytest, and returns its exit code."""
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    python = environment.ready(dev=True)
    native.build(python)
    pytest = [str(python), "-m", "pytest"]
    if arguments and not everything:
        return subprocess.call([*pytest, *arguments], cwd=environment.ROOT)
    if everything:
        get_peers(peers.NAMES, peers.PATIENCE)
        options = [one for one in arguments if one != "--all"]
    else:
        get_peers(peers.QUICK, _PATIENCE)
        options = ["--quick", "-r", "fE"]
    return run_parts(pytest, options)


def get_peers(names: tuple[str, ...], patience: int) -> None:
    """Gets the programs that tests compare with; those that cannot be had are named."""
    for name in names:
        if peers.find(name) is None:
            environment.say(f"Getting {name}, which tests compare Carrel with.")
            why = peers.get(name, patience)
            if why:
                environment.say(f"{name} cannot be had: {why}")


def run_parts(pytest: list[str], options: list[str]) -> int:
    """Runs the tests that have to be alone, then the others; the first exit code that is not 0."""
    with tempfile.TemporaryDirectory() as folder:
        # In one word with its option: pytest takes its root folder from words that are paths.
        note = Path(folder, "note.json")
        alone = subprocess.call(
            [*pytest, "-m", "alone", f"--note={note}", *options], cwd=environment.ROOT
        )
        if alone not in {0, 1}:
            return alone  # interrupted, or not even collected
        together = subprocess.call(
            [*pytest, "-m", "not alone", f"--noted={note}", *in_parallel(), *options],
            cwd=environment.ROOT,
        )
    return alone or together


def in_parallel() -> list[str]:
    """pytest-xdist's options for this machine."""
    workers = min(os.cpu_count() or 1, _MOST_WORKERS)
    return ["-n", str(workers), "--dist", "worksteal"] if workers > 1 else []


if __name__ == "__main__":
    raise SystemExit(main())
