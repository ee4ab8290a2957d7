"""`carrel` whose wall clock a test can step: `python stepped_server.py FILE PORT …`.

The file has the seconds that are added to the machine's clock. The rest is `upstream_server`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def step_clock(path: Path) -> None:
    """Makes `time.time` follow the file; must run before Carrel is imported."""
    real = time.time

    def stepped() -> float:
        return real() + float(path.read_text("utf-8"))

    time.time = stepped


if __name__ == "__main__":
    step_clock(Path(sys.argv.pop(1)))
    from support.upstream_server import run

    sys.exit(run())
