"""`carrel` with a compiler that waits until a file exists: `python gated_server.py FILE …`."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

from carrel.__main__ import main
from carrel.plugins.manifests import reading
from carrel.runtime import compile as compiling

#: Seconds that a list waits for plugins; longer than the event loop may be blocked.
PATIENCE = 1.5


def wait_for(gate: Path) -> None:
    pause = threading.Event()
    while not gate.exists():
        pause.wait(0.02)


def run() -> int:
    gate = Path(sys.argv.pop(1))
    compile_component = compiling.compile_component

    def gated(*args: Any, **options: Any) -> bytes | None:
        wait_for(gate)
        return compile_component(*args, **options)

    compiling.compile_component = gated
    reading.PATIENCE = PATIENCE
    return main()


if __name__ == "__main__":
    sys.exit(run())
