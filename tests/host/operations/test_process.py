"""Tests what is read of the process: its memory, and that of guests."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from carrel import telemetry
from carrel.config import Config, PluginConfig
from carrel.server.operations.process import guest_bytes, process_usage, start_time
from carrel.tools import Toolbox
from support.guests import guest
from support.manifests import manifest_text

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

_SMAPS = """\
10000-20000 rw-p 00000000 00:01 77 /memfd:wasm-memory-image (deleted)
Rss:                  64 kB
20000-40000 rw-p 00000000 00:00 0
Rss:                 100 kB
40000-100040000 ---p 00000000 00:00 0
Rss:                   0 kB
200000000-200010000 rw-p 00000000 00:00 0
Rss:                   8 kB
200010000-200020000 ---p 00000000 00:00 0
Rss:                   0 kB
300000000-300010000 rw-p 00000000 00:00 0                                [heap]
Rss:                  16 kB
"""


def test_memory_before_a_large_reservation_is_a_guest_s() -> None:
    assert guest_bytes(_SMAPS) == 164 * 1024


@linux
def test_the_memory_of_a_running_guest_is_counted(tmp_path: Path, code_folder: Path) -> None:
    """The guest writes to 64 MiB of its memory, and then asks for a setting, where it is read."""
    touching = """
      (local.set $i (i32.const 1048576))
      (loop $next
        (i32.store8 (local.get $i) (i32.const 1))
        (local.set $i (i32.add (local.get $i) (i32.const 4096)))
        (br_if $next (i32.lt_u (local.get $i) (i32.const 67108864))))
      (drop (call $get (i32.const 1024) (i32.const 2)))
    """
    wasm = tmp_path / "sample.wasm"
    text = manifest_text()
    wasm.write_bytes(guest(touching, manifest=text, pages=1024, fetching=True).wasm)
    config = Config(
        code_folder, tmp_path, (PluginConfig("sample", wasm.as_uri(), allowed_hosts=()),)
    )
    seen: list[int] = []

    class Watching:
        """Gets the two reports of this call: that a guest runs, and its refused request."""

        def guest(self, _plugin: str, _tool: str) -> AbstractContextManager[Any]:
            return nullcontext(SimpleNamespace(used=lambda _seconds: None))

        def denied(self, _denial: telemetry.Denial) -> None:
            seen.append(process_usage().guest_bytes or 0)

    toolbox = Toolbox(config)
    with telemetry.observing(cast("telemetry.Observer", Watching())):
        toolbox.call_sync("sample_echo", {})
    toolbox.close()
    assert 60 * 2**20 <= seen[0] <= 80 * 2**20


@linux
def test_the_process_is_measured() -> None:
    usage = process_usage()
    assert usage.cpu_seconds > 0
    assert (usage.resident_bytes or 0) > 2**20
    assert (usage.open_files or 0) >= 3
    assert (usage.threads or 0) >= 1
    assert start_time() > 1_600_000_000
