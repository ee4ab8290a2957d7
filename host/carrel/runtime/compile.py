"""Compiles a component in a child process with limits of its own.

Compilation lies outside every limit of the runtime (a megabyte of wasm can take 13 s, another
1.6 GB of memory), so it never happens in the process that serves: a child does it, and dies alone.

Run as `python -m carrel.runtime.compile STACK_BYTES CPU_SECONDS MEMORY_BYTES < wasm > code`.
"""

from __future__ import annotations

import subprocess
import sys

from carrel.errors import LoadError

from .child import child_command, child_environment, limit_child

#: Exit status of the child for bytes that are no component; its stderr says why.
_INVALID = 3


def compile_component(
    wasm: bytes, plugin: str, *, stack_bytes: int, seconds: float, memory_bytes: int
) -> bytes:
    """Precompiled code for the component.

    Args:
        wasm: the component; its kind is checked already.
        plugin: for error messages.
        stack_bytes: as for `new_engine`; the code depends on it.
        seconds: processor time, and twice that on the wall clock, that compiling may take.
        memory_bytes: address space of the child, where the platform can limit it.

    Raises:
        LoadError: not a valid component, or not compiled within the limits.
    """
    command = child_command(
        "carrel.runtime.compile", str(stack_bytes), str(int(seconds)), str(memory_bytes)
    )
    try:
        child = subprocess.run(  # noqa: S603 - our own interpreter and module
            command,
            input=wasm,
            capture_output=True,
            timeout=2 * seconds,
            env=child_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LoadError(
            f"{plugin}: compiling took longer than {2 * seconds:g} s", plugin=plugin
        ) from None
    except OSError as error:
        raise LoadError(f"{plugin}: cannot start the compiler: {error}", plugin=plugin) from error
    if child.returncode == 0:
        return child.stdout
    said = child.stderr.decode("utf-8", "replace").strip().splitlines()
    if child.returncode == _INVALID:
        reason = said[0] if said else "unknown reason"
        raise LoadError(f"{plugin}: not a valid component: {reason}", plugin=plugin)
    raise LoadError(
        f"{plugin}: compiling ended with status {child.returncode}; it may take more than "
        f"{seconds:g} s of processor time or {memory_bytes} bytes of memory",
        plugin=plugin,
    )


def _main(arguments: list[str]) -> int:
    stack_bytes, seconds, memory_bytes = (int(argument) for argument in arguments)
    import wasmtime
    from wasmtime.component import Component

    from .engine import new_engine

    wasm = sys.stdin.buffer.read()
    engine = new_engine(stack_bytes)
    limit_child(seconds, memory_bytes)
    try:
        code = Component(engine, wasm).serialize()
    except wasmtime.WasmtimeError as error:
        sys.stderr.write(" ".join(str(error).split())[:500])
        return _INVALID
    sys.stdout.buffer.write(code)
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
