"""Sets up Carrel, queries arXiv, and shows the result of the sandboxed parser.

    python3 scripts/try.py              a live query (needs the network)
    python3 scripts/try.py --offline    the same query, answered from examples/recordings

Both install only packages, in `.venv` of this checkout.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from pathlib import Path

import environment
from example import CALL, RECORDING


def command(python: Path, *, offline: bool) -> list[str]:
    """Returns the command: the environment's Python and the arguments that a person would type."""
    replay = ["--replay", str(RECORDING.relative_to(environment.ROOT))] if offline else []
    return [str(python), "-m", "carrel", *replay, *CALL]


def run(words: list[str], *, offline: bool) -> int:
    """Runs the call and returns its exit code; if a live call fails, names `--offline`."""
    environment.say("$ " + shlex.join(["carrel", *words[3:]]))
    code = subprocess.call(words, cwd=environment.ROOT)
    if code and not offline:
        python = "python" if os.name == "nt" else "python3"
        environment.say(
            "\nThe live query failed; the reason is printed above. Without a network, the\n"
            "same query can be answered from the recording that comes with Carrel:\n\n"
            f"    {python} scripts/try.py --offline"
        )
    return code


def main() -> int:
    """Installs what is missing, then makes the call."""
    parser = argparse.ArgumentParser(
        description="Set up Carrel in .venv and ask arXiv for three papers."
    )
    parser.add_argument(
        "--offline",
        action="store_true",
        help="answer from the recording in examples/recordings, not from the network",
    )
    offline: bool = parser.parse_args().offline
    python = environment.ready(dev=False)
    return run(command(python, offline=offline), offline=offline)


if __name__ == "__main__":
    raise SystemExit(main())
