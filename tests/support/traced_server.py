"""A stdio server that records which of Carrel's files a call enters, in order.

    python traced_server.py AUTHORITY PORT FOLDER

It serves arXiv from a local upstream. SIGUSR1 starts the trace and SIGUSR2 stops it; the server
writes it to FOLDER/trace.json when it exits.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import carrel

PACKAGE = str(Path(carrel.__file__).parent) + "/"


class Trace:
    """The files that were entered during the trace, in the order of their first calls."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.on = False

    def switch(self, signum: int, _frame: FrameType | None) -> None:
        """Starts or stops the trace."""
        self.on = signum == signal.SIGUSR1

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if self.on and event == "call":
            name = frame.f_code.co_filename
            if name.startswith(PACKAGE):
                self.files.setdefault(name[len(PACKAGE) :])


def main(authority: str, port: str, folder: str) -> int:
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    signal.signal(signal.SIGUSR1, trace.switch)
    signal.signal(signal.SIGUSR2, trace.switch)
    from carrel.config import Config, builtin
    from carrel.fetch import FetchClient, FetchSettings
    from carrel.plugins.plugin_set import PluginSet
    from carrel.server import serve_stdio
    from carrel.tools import Toolbox

    async def resolve(host: str) -> Sequence[str]:
        return ["151.101.131.42"]

    home = Path(folder)
    config = Config(cache_dir=home, data_dir=home, plugins=(builtin("arxiv"),))
    settings = FetchSettings(
        ca_bundle=Path(authority), cache_path=home / "answers", pace_path=home / "pace"
    )
    client = FetchClient(
        settings,
        resolver=resolve,
        dialer=lambda _address, _port: ("127.0.0.1", int(port)),
    )

    code = 1
    try:
        code = serve_stdio(
            lambda: Toolbox(config, plugin_set=PluginSet(config, fetch_client=client))
        )
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        Path(home / "trace.json").write_text(json.dumps(list(trace.files)))
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
