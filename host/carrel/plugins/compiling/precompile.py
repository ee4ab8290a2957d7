"""Compiles built-in plugins before they are needed, in a child process of low priority.

The child takes the plugins in the order of the configuration, claims each, compiles it and puts its
code into the cache; it skips a plugin that another process is compiling. The code is Carrel's own,
at the pinned digest, so the child may do all of this, and the server only starts and ends it. The
child's stdin is a pipe whose other end the server holds: when the server ends, however, the pipe
closes and the child ends too.

Run as `python -m carrel.plugins.compiling.precompile` with the arguments FOLDER STACK_BYTES
CPU_SECONDS MEMORY_BYTES NAME….
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from carrel.errors import CarrelError
from carrel.plugins.sources.source import builtin_digest, read_source
from carrel.runtime.child import child_command, child_environment, limit_child
from carrel.runtime.codecache import CodeCache, code_key

_log = logging.getLogger("carrel.plugins")

#: Seconds before it starts: the client's first requests have priority.
DELAY = 0.5
#: Niceness of the child, lower in priority than compilers that a call waits for.
NICE = 15
#: Seconds between two checks whether another process has compiled what it claimed.
_LOOK = 0.2
#: Seconds that ending the child may take.
_LAST = 2.0


class Precompiler:
    """Compiles plugins in the background.

    Args:
        names: of built-in plugins.
        folder: of the code cache.
        stack_bytes: as for `RuntimeSettings`, like the next two.
        compile_seconds: see there.
        compile_memory_bytes: see there.
    """

    def __init__(
        self,
        names: Sequence[str],
        folder: Path,
        *,
        stack_bytes: int,
        compile_seconds: float,
        compile_memory_bytes: int,
    ) -> None:
        self._names = names
        self._folder = folder
        self._stack_bytes = stack_bytes
        self._limits = max(1, int(compile_seconds)), compile_memory_bytes
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="carrel-precompile", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the child now; the remaining plugins are compiled when they are needed."""
        self._stopped.set()
        with self._lock:
            if self._child is not None:
                self._child.kill()
        self._thread.join(_LAST)

    def _run(self) -> None:
        if self._stopped.wait(DELAY):
            return
        try:
            missing = missing_code(self._names, CodeCache(self._folder), self._stack_bytes)
            if missing:
                self._compile(missing)
        except Exception:  # noqa: BLE001 - the server works without it
            _log.exception("plugins are not compiled in advance")

    def _compile(self, names: Sequence[str]) -> None:
        _log.info("compiling %s in the background (once)", ", ".join(names))
        seconds, memory_bytes = self._limits
        numbers = (self._stack_bytes, seconds * len(names), memory_bytes)
        command = child_command(__name__, str(self._folder), *map(str, numbers), *names)
        lowered = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
        with self._lock:
            if self._stopped.is_set():
                return
            child = self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=child_environment(),
                creationflags=lowered,  # Windows has no nice
            )
        with child:
            assert child.stderr is not None, "it is a pipe"
            errors = child.stderr.read()
            child.wait()  # not `communicate`, which would close its stdin first
        if child.returncode and not self._stopped.is_set():
            lines = errors.decode("utf-8", "replace").strip().splitlines()
            _log.warning(
                "plugins are not compiled in advance; status %d: %s",
                child.returncode,
                lines[-1] if lines else "no reason",
            )


def missing_code(names: Sequence[str], cache: CodeCache, stack_bytes: int) -> list[str]:
    """Returns the built-in plugins without code in the cache."""
    return [name for name in names if not cache.holds(code_key(builtin_digest(name), stack_bytes))]


def _main(arguments: Sequence[str]) -> int:
    folder, stack, seconds, memory, *names = arguments
    limit_child(int(seconds), int(memory), NICE)
    cache, stack_bytes = CodeCache(Path(folder)), int(stack)
    pause = threading.Event()
    while left := missing_code(names, cache, stack_bytes):
        compiled = [_compile_one(name, cache, stack_bytes) for name in left]
        if not any(compiled):
            pause.wait(_LOOK)  # another process has claimed all of them
    return 0


def _compile_one(name: str, cache: CodeCache, stack_bytes: int) -> bool:
    """Puts a plugin's code into the cache; False when another process is compiling it.

    Raises:
        LoadError: it cannot be compiled.
        OSError: the cache cannot be written.
    """
    from carrel.runtime.compile import compile_here
    from carrel.runtime.loader import component_to_compile

    key = code_key(builtin_digest(name), stack_bytes)
    claim = cache.claim(key)
    if claim is None:
        return False
    try:
        if not cache.holds(key):
            wasm = component_to_compile(read_source(name, f"builtin:{name}").wasm, name)
            code = compile_here(wasm, name, stack_bytes)
            if cache.store(key, code) is None:
                raise OSError("the cache folder cannot be written")
    finally:
        claim.release()
    return True


def _end_with_server() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(0)


def _run_child() -> int:
    # At a terminal an interrupt is for the server, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_server, daemon=True).start()
    try:
        return _main(sys.argv[1:])
    except (CarrelError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(_run_child())
