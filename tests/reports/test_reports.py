"""Faults of libraries that Carrel works around, as programs that can be sent to their authors.

One that passes is mended: what works around it can then be looked at again.
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
