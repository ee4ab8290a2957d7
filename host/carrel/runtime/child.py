"""Starts child processes with limits, for work that must not run in the server process."""

from __future__ import annotations

import os
import sys

_INHERITED = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: Niceness of a child, so that the server process has priority.
NICE = 10


def child_command(module: str, *arguments: str) -> list[str]:
    """Returns the command that runs a module of Carrel in this Python interpreter."""
    return [sys.executable, "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """Returns the environment variables that an interpreter needs, and no secrets."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return environment


def limit_child(seconds: int, memory_bytes: int, nice: int = NICE) -> None:
    """Limits this process and lowers its priority.

    Args:
        seconds: limit of CPU time.
        memory_bytes: limit of address space, where the platform supports one.
        nice: increment of its niceness.
    """
    try:
        import resource
    except ImportError:  # Windows has the wall clock only
        return
    os.nice(nice)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "darwin":  # macOS refuses RLIMIT_AS
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
