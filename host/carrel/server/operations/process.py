"""Reads memory, processor time and descriptors of this process from the system; Linux only.

A guest's linear memory is a mapping that can be read and written, at the start of a reserved range
of address space of gigabytes. wasmtime's C interface does not report its size, but the kernel does.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc/self")
#: Address space behind a linear memory that cannot be accessed; heaps and stacks have far less.
_RESERVED: Final = 2**30
_MAPPING: Final = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) ")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """The resources that the process uses; None where the system does not report them.

    Attributes:
        cpu_seconds: in user and system mode.
        resident_bytes: memory in RAM.
        open_files: descriptors.
        threads: their number.
        guest_bytes: linear memory of guests in RAM.
    """

    cpu_seconds: float
    resident_bytes: int | None = None
    open_files: int | None = None
    threads: int | None = None
    guest_bytes: int | None = None


def process_usage() -> ProcessUsage:
    """Returns what the process uses now; takes some milliseconds."""
    try:
        status = (_PROC / "status").read_text()
        files = len(os.listdir(_PROC / "fd"))  # noqa: PTH208 - names alone
        guests = guest_bytes((_PROC / "smaps").read_text())
    except OSError:
        return ProcessUsage(time.process_time())
    return ProcessUsage(
        time.process_time(),
        _field(status, "VmRSS") * 1024,
        files,
        _field(status, "Threads"),
        guests,
    )


def start_time() -> float:
    """Returns when the process started, in seconds since 1970."""
    try:
        ticks = int((_PROC / "stat").read_text().rpartition(")")[2].split()[19])
        booted = re.search(r"^btime (\d+)$", Path("/proc/stat").read_text(), re.MULTILINE)
        if booted is not None:
            return int(booted[1]) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        pass
    return time.time() - time.process_time()


def guest_bytes(smaps: str) -> int:
    """Returns the bytes in RAM of linear memories, from the text of `/proc/self/smaps`.

    A memory is several mappings in a row, because the component's data is mapped from a file.
    """
    total = run = previous_end = 0
    is_memory = False
    for line in smaps.splitlines():
        mapping = _MAPPING.match(line)
        if mapping is not None:
            first, last = int(mapping[1], 16), int(mapping[2], 16)
            follows = first == previous_end
            if follows and mapping[3].startswith("---") and last - first >= _RESERVED:
                total += run
            is_memory = mapping[3] == "rw-p"
            if not (follows and is_memory):
                run = 0
            previous_end = last
        elif is_memory and line.startswith("Rss:"):
            run += int(line.split()[1]) * 1024
    return total


def _field(status: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    return int(found[1]) if found else 0
