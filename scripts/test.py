"""The whole test suite in one command: set up what it needs, then run it.

    python3 scripts/test.py                     everything
    python3 scripts/test.py tests/host -k deny  arguments are pytest's

The last line of the output is pytest's. Nothing but packages is downloaded, into `.venv`.
"""

from __future__ import annotations

import subprocess
import sys

import environment
import native


def main() -> int:
    """Sets up what is missing, runs pytest, and returns its exit code."""
    python = environment.ready(dev=True)
    native.build(python)
    return subprocess.call([python, "-m", "pytest", *sys.argv[1:]], cwd=environment.ROOT)


if __name__ == "__main__":
    raise SystemExit(main())
