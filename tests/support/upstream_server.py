"""`carrel` with all fetches directed to a local server: `python upstream_server.py PORT …`."""

from __future__ import annotations

import sys
from typing import Any

from carrel.__main__ import main
from carrel.fetch import client
from support.upstream import Names


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
