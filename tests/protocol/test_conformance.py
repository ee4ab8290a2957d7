"""Runs the protocol's official conformance suite against the HTTP server.

`python3 scripts/peers.py mcp-conformance` installs the suite. The server is
`support/conformance_server.py`, whose content a plugin serves.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.http_server import HttpServer

pytestmark = pytest.mark.long("programs")

SERVER = Path(__file__).parents[1] / "support" / "conformance_server.py"
#: Revision → the number of scenarios that the suite requires of a server.
REQUIRED = {"2025-11-25": 30, "2026-07-28": 37}


def suite() -> tuple[Path, Path]:
    """Returns Node.js and the suite's program; skips the test if they are not installed."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
    try:
        import peers
    finally:
        sys.path.pop(0)
    program = peers.find("mcp-conformance")
    if program is None:
        pytest.skip("needs the suite: python3 scripts/peers.py mcp-conformance")
    return program.parents[4] / "node_modules" / ".bin" / "node", program


@pytest.mark.alone
@pytest.mark.parametrize("revision", REQUIRED)
def test_every_required_scenario_passes(revision: str, tmp_path: Path) -> None:
    node, program = suite()
    with HttpServer([sys.executable, str(SERVER), str(tmp_path)]) as server:
        root = server.url.removesuffix("/mcp")
        end = time.monotonic() + 120
        while server.http.get(f"{root}/readyz").status_code != 200:
            assert time.monotonic() < end, server.lines
            time.sleep(0.2)
        done = subprocess.run(
            [node, program, "server", "--url", server.url, "--requirements", revision],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "NO_COLOR": "1"},
        )
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    required, _, _ = summary.partition("Total:")
    unscored = {
        line.split()[1] for line in summary.partition("Not scored")[2].splitlines() if "(" in line
    }
    outcomes = {
        name: mark for mark, name in re.findall(r"^([✓✗]) ([\w-]+):", required, re.MULTILINE)
    }
    scored = {name: mark for name, mark in outcomes.items() if name not in unscored}
    passed = [name for name, mark in scored.items() if mark == "✓"]
    print(f"{revision}: {len(passed)} of {len(scored)} required scenarios passed")  # noqa: T201
    assert sorted(passed) == sorted(scored), summary
    assert len(passed) == REQUIRED[revision], summary
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
