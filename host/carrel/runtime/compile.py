"""Compiles a component in a child process with its own limits.

wasmtime cannot limit compilation (1 MB of wasm can take 13 s or 1.6 GB of memory), so it never
happens in the server process: a child process compiles, and only the child fails. Run as
`python -m carrel.runtime.compile STACK_BYTES CPU_SECONDS MEMORY_BYTES NICE < wasm > code`.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO

from carrel.errors import LoadError

from .child import NICE, child_command, child_environment, limit_child

#: Seconds between checks of `unwanted`.
_LOOK = 0.05
#: Exit status of the child if the bytes are not a component; its stderr gives the reason.
_INVALID = 3


def compile_component(
    wasm: bytes,
    plugin: str,
    *,
    stack_bytes: int,
    seconds: float,
    memory_bytes: int,
    nice: int = NICE,
    unwanted: Callable[[], bool] = lambda: False,
) -> bytes | None:
    """Compiles a component and returns the code; None if `unwanted` returned true first.

    Args:
        wasm: the component; its kind is checked already.
        plugin: for error messages.
        stack_bytes: as for `new_engine`; the code depends on it.
        seconds: limit of CPU time; the limit of wall-clock time is twice that.
        memory_bytes: limit of the child's address space, where the platform supports one.
        nice: increment of the child's niceness.
        unwanted: called periodically; the child is killed when it returns true.

    Raises:
        LoadError: not a valid component, or not compiled within the limits.
    """
    command = child_command(
        "carrel.runtime.compile",
        *(str(int(value)) for value in (stack_bytes, seconds, memory_bytes, nice)),
    )
    pipe = subprocess.PIPE
    try:
        child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=child_environment()
        )
    except OSError as error:
        raise LoadError(f"{plugin}: cannot start the compiler: {error}", plugin=plugin) from error
    with child:
        try:
            ended = _communicate(child, wasm, 2 * seconds, unwanted)
        except subprocess.TimeoutExpired:
            raise LoadError(
                f"{plugin}: compiling took longer than {2 * seconds:g} s", plugin=plugin
            ) from None
        finally:
            child.kill()  # of no effect on one that has ended
    if ended is None:
        return None
    code, errors = ended
    if child.returncode == 0:
        return code
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    if child.returncode == _INVALID:
        reason = lines[0] if lines else "unknown reason"
        raise LoadError(f"{plugin}: not a valid component: {reason}", plugin=plugin)
    raise LoadError(
        f"{plugin}: compiling failed with status {child.returncode}; it may need more than "
        f"{seconds:g} s of processor time or {memory_bytes} bytes of memory",
        plugin=plugin,
    )


def compile_here(wasm: bytes, plugin: str, stack_bytes: int) -> bytes:
    """Returns code of a component after checking its imports; called in the child process.

    Raises:
        LoadError: not a valid component, or one with imports that are refused.
    """
    import wasmtime
    from wasmtime.component import Component

    from .engine import new_engine
    from .imports import check_imports
    from .traps import load_error

    engine = new_engine(stack_bytes)
    try:
        component = Component(engine, wasm)
    except wasmtime.WasmtimeError as error:
        raise load_error(error, plugin) from None
    check_imports(engine, component, plugin)
    return bytes(component.serialize())


def _communicate(
    child: subprocess.Popen[bytes], wasm: bytes, seconds: float, unwanted: Callable[[], bool]
) -> tuple[bytes, bytes] | None:
    """Returns the child's output; None if `unwanted` returned true."""
    end = time.monotonic() + seconds
    # After a timeout, `communicate` does not continue to write the input.
    stdin, child.stdin = child.stdin, None
    assert stdin is not None, "it is a pipe"
    threading.Thread(target=_feed, args=(stdin, wasm), daemon=True).start()
    while not unwanted():
        try:
            return child.communicate(timeout=_LOOK)
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end:
                raise
    return None


def _feed(stdin: IO[bytes], wasm: bytes) -> None:
    try:
        with stdin:
            stdin.write(wasm)
    except OSError:
        pass  # the child has ended, and its status says why


def _main(arguments: list[str]) -> int:
    stack_bytes, seconds, memory_bytes, nice = (int(argument) for argument in arguments)
    import wasmtime
    from wasmtime.component import Component

    from .engine import new_engine

    wasm = sys.stdin.buffer.read()
    engine = new_engine(stack_bytes)
    limit_child(seconds, memory_bytes, nice)
    try:
        code = Component(engine, wasm).serialize()
    except wasmtime.WasmtimeError as error:
        sys.stderr.write(" ".join(str(error).split())[:500])
        return _INVALID
    sys.stdout.buffer.write(code)
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
