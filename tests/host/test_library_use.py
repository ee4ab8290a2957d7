"""Tests that `Carrel()` does not change a program's allocator or garbage collector."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "examples" / "recordings" / "arxiv-query"
FEED = ROOT / "tests" / "fixtures" / "arxiv" / "new_generation" / "response.xml"

#: Records the functions of `gc` and of C libraries that are used during calls.
_PROGRAM = """
import ctypes, gc, json, sys
from pathlib import Path

called = []
for name in ("enable", "disable", "freeze", "unfreeze", "set_threshold", "set_debug"):
    setattr(gc, name, lambda *_, name=name: called.append(name))
looked_up = set()
look_up = ctypes.CDLL.__getattr__
def noted(library, name):
    looked_up.add(name)
    return look_up(library, name)
ctypes.CDLL.__getattr__ = noted
state = lambda: [gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()]

how, code, recording, feed = sys.argv[1:]
QUERY = {"search_query": "ti:sandbox AND cat:cs.CR", "max_results": 3}
before = state()
if how == "command":
    from carrel.cli.session import Session
    open_carrel = lambda config: Session()._opener(config)
else:
    from carrel import Carrel as open_carrel
from carrel.config import Config, builtin
config = Config(cache_dir=Path(code), data_dir=Path(code), replay_dir=Path(recording),
                plugins=(builtin("arxiv"),))
with open_carrel(config) as library:
    library.call("arxiv_query", QUERY)
    feed = Path(feed).read_bytes()
    feed = feed.replace(b"<entry>", b"<entry>" + b"<author><name>A</name></author>" * 20_000, 1)
    view = library.parse_view("arxiv", "feed", feed.decode())
    if how == "library":
        library.parse("arxiv", "feed", feed)
del view
if how == "library":
    import asyncio
    from carrel import AsyncCarrel
    async def parse():
        async with AsyncCarrel(config) as library:
            await library.call("arxiv_query", QUERY)
            await library.parse("arxiv", "feed", feed)
    asyncio.run(parse())
json.dump({"before": before, "after": state(), "called": called, "looked_up": sorted(looked_up)},
          sys.stdout)
"""


def run(how: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", _PROGRAM, how, str(folder), str(RECORDING), str(FEED)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_program_keeps_its_allocator_and_its_collector(code_folder: Path) -> None:
    report = run("library", code_folder)
    assert report["called"] == []
    assert report["after"] == report["before"]
    assert not {"mallopt", "malloc", "free"} & set(report["looked_up"])


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_the_command_line_configures_its_allocator(code_folder: Path) -> None:
    assert {"mallopt", "malloc"} <= set(run("command", code_folder)["looked_up"])
