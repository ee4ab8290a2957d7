"""Runs programs that reproduce faults of libraries which Carrel works around.

A program that passes shows that the fault was fixed and the workaround can be reconsidered.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPORTS = sorted(Path(__file__).parent.glob("[!t]*.py"))


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
def test_a_reported_fault_can_be_seen(report: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(report)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (1, "")
