"""Measures `carrel parse` as a process, including its start."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence

from bench import documents
from bench.measure import Bar, Row, alternate
from bench.workbench import ENTRIES, Workbench


def against_importing_wasmtime(bench: Workbench) -> Sequence[Row]:
    """Measures parsing a small feed, against a Python process that only imports the runtime."""
    bench.host.plugins()
    file = bench.document_file("small.xml", documents.feed(ENTRIES))
    parse = [*bench.command, "parse", "arxiv", "feed", str(file)]
    result = json.loads(run(bench, parse)[1])
    assert len(result["entries"]) == ENTRIES
    commands = (parse, [sys.executable, "-c", "import wasmtime"], [sys.executable, "-c", ""])
    ours, wasmtime, python = alternate(
        *((lambda command=command: run(bench, command)[0]) for command in commands),
        rounds=bench.rounds(40),
    )
    return [
        Row(
            "process",
            f"carrel parse of {ENTRIES} entries as a process : python -c 'import wasmtime'",
            ours, wasmtime, Bar(2),
        ),
        Row("process-python", "the same : python -c ''", ours, python),
    ]  # fmt: skip


def run(bench: Workbench, command: Sequence[str]) -> tuple[float, bytes]:
    """Returns the seconds that a process takes, and its output."""
    start = time.perf_counter()
    done = subprocess.run(command, env=bench.environment, capture_output=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{command} failed: {done.stderr.decode(errors='replace')}")
    return seconds, done.stdout
