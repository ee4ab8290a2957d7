"""`carrel` with all fetches directed to a local server: `python upstream_server.py PORT …`.

With `CARREL_TEST_AHEAD`, the machine's clock seems to be so many seconds ahead.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

_AHEAD = float(os.environ.get("CARREL_TEST_AHEAD", "0"))
if _AHEAD:
    _real = time.time
    time.time = lambda: _real() + _AHEAD

from carrel.__main__ import main  # noqa: E402 -- it reads the clock
from carrel.fetch import client  # noqa: E402
from support.upstream import Names  # noqa: E402


def run() -> int:
    port = int(sys.argv.pop(1))
    init = client.FetchClient.__init__

    def diverted(self: client.FetchClient, settings: Any, **options: Any) -> None:
        def dial(_address: str, _port: int) -> tuple[str, int]:
            return "127.0.0.1", port

        init(self, settings, **(options | {"resolver": Names(), "dialer": dial}))

    client.FetchClient.__init__ = diverted  # type: ignore[method-assign]
    return main()


if __name__ == "__main__":
    sys.exit(run())
