"""Carrel's main job in one command: set up, ask arXiv, show what the sandboxed parser made of it.

    python3 scripts/try.py              a live query (needs the network)
    python3 scripts/try.py --offline    the same query, answered from examples/recordings

The only thing that either installs is packages, into `.venv` in this checkout.
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
    """Returns the call, as a person would type it, after the Python that runs it."""
    replay = ["--replay", str(RECORDING.relative_to(environment.ROOT))] if offline else []
    return [str(python), "-m", "carrel", *replay, *CALL]


def run(words: list[str], *, offline: bool) -> int:
    """Runs the call and returns its exit code; says the way out when a live one failed."""
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
    """Sets up what is missing, then makes the call."""
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
