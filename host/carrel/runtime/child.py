"""Child processes that do what must not happen in the process that serves, under limits."""

from __future__ import annotations

import os
import sys

_INHERITED = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: Of a child: what serves goes first.
NICE = 10


def child_command(module: str, *arguments: str) -> list[str]:
    """Runs a module of ours in an interpreter like this one."""
    return [sys.executable, "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """No more of the environment than an interpreter needs: no secrets."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return environment


def limit_child(seconds: int, memory_bytes: int, nice: int = NICE) -> None:
    """Bounds this process, and puts it behind the one that serves.

    Args:
        seconds: of processor time.
        memory_bytes: of address space, where the platform can limit it.
        nice: how far behind; 0 beside it.
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
