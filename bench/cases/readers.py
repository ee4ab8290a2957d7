"""Readers of documents: first use, first byte, bytes into the sandbox."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import carrel
from bench.measure import Row, alternate
from bench.workbench import Workbench
from carrel.config import BUILTIN_PLUGINS
from carrel.errors import SourceError

#: Plugin → a format of bytes, and the least that it reads or refuses.
_READERS = {"page": "text", "pdf": "pdf", "office": "docx", "tex": "tex"}
_FIRST_USE, _FIRST_BYTE = 8.0, 0.060
_SIZE = 8 << 20


def first_use(bench: Workbench) -> Sequence[Row]:
    """A file with the largest component, in a process: nothing is compiled yet, then all is."""
    folder = Path(carrel.__file__).parent / "components"
    sizes = {name: (folder / f"{name}.wasm").stat().st_size for name in _READERS}
    largest = max(sizes, key=lambda name: sizes[name])
    file = bench.folder / f"first.{_READERS[largest]}"
    file.write_bytes(b"nothing")
    cache = bench.folder / "cache-of-first-use"
    command = [*bench.command, "parse", largest, _READERS[largest], str(file)]
    environment = {**bench.environment, "CARREL_CACHE_DIR": str(cache)}

    def use(*, cold: bool) -> float:
        if cold:
            shutil.rmtree(cache, ignore_errors=True)
        start = time.perf_counter()
        subprocess.run(command, env=environment, capture_output=True, check=False)
        return time.perf_counter() - start

    cold, warm = alternate(
        lambda: use(cold=True), lambda: use(cold=False), rounds=bench.rounds(5, 1)
    )
    return [
        Row(
            "reader-first-use",
            f"carrel parse {largest} as a process, nothing compiled : compiled before",
            cold, warm, ceiling=_FIRST_USE,
        ),
        *_first_bytes(bench),
    ]  # fmt: skip


def _first_bytes(bench: Workbench) -> Sequence[Row]:
    """From nothing to the answer about a document of no bytes, its component compiled."""
    bench.host.plugins()
    rows = []
    for name, document_format in _READERS.items():

        def use(name: str = name, document_format: str = document_format) -> float:
            start = time.perf_counter()
            with carrel.Carrel(bench.config) as host, suppress(SourceError):
                host.parse(name, document_format, b"")
            return time.perf_counter() - start

        use()
        ours, python = alternate(use, _python, rounds=bench.rounds(15))
        rows.append(
            Row(
                f"reader-first-byte-{name}",
                "a new host until an empty document is answered : python -c ''",
                ours, python, ceiling=_FIRST_BYTE,
            )
        )  # fmt: skip
    return rows


def _python() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return time.perf_counter() - start


def crossing(bench: Workbench) -> Sequence[Row]:
    """Bytes into a guest that looks at the first few, against one copy of them in Python."""
    with carrel.Carrel(replace(bench.config, plugins=_only("tex", bench))) as host:

        def cross() -> float:
            data = bytes(_SIZE)
            start = time.perf_counter()
            with suppress(SourceError):
                host.parse("tex", "tex", data)
            return time.perf_counter() - start

        def copy() -> float:
            data = bytes(_SIZE)
            start = time.perf_counter()
            copied = bytearray(data)
            seconds = time.perf_counter() - start
            assert len(copied) == _SIZE
            return seconds

        cross()
        ours, theirs = alternate(cross, copy, rounds=bench.rounds(30))
    what = f"{_SIZE >> 20} MiB into a guest, which refuses them : one copy in Python"
    return [Row("bytes-crossing", what, ours, theirs)]


def _only(name: str, bench: Workbench) -> tuple[carrel.config.PluginConfig, ...]:
    assert name in BUILTIN_PLUGINS
    return tuple(plugin for plugin in bench.config.plugins if plugin.name == name)
