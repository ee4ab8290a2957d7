"""wasmtime engines: how guest code is compiled, and the key that names the compiled result.

Each worker thread has an engine of its own, which makes an epoch increment a message to one guest:
see `docs/decisions/0004-limits.md`. How its memory is kept from call to call stands in `pool`.
"""

from __future__ import annotations

import platform
from pathlib import Path

import wasmtime

#: Part of the key of precompiled code; changed with any setting below and any rule in `imports`.
_SETTINGS_REVISION = "1"


def new_engine(stack_bytes: int) -> wasmtime.Engine:
    """An engine with the settings that every guest runs under.

    Args:
        stack_bytes: the wasm stack of a guest.
    """
    return wasmtime.Engine(guest_config(stack_bytes))


def guest_config(stack_bytes: int) -> wasmtime.Config:
    """The settings; compiled code runs in any engine that has them."""
    config = wasmtime.Config()
    config.wasm_component_model = True
    config.epoch_interruption = True
    config.max_wasm_stack = stack_bytes
    # Equal input gives equal output: NaN bits and relaxed SIMD are where wasm leaves room.
    config.cranelift_nan_canonicalization = True
    config.wasm_relaxed_simd_deterministic = True
    # Proposals the contract has no use for are surface without benefit.
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    return config


def code_key(digest: str, stack_bytes: int) -> str:
    """Names precompiled code: the component's digest and all that compilation depends on.

    The library is named by its size and time, which costs one `stat`; asking the package's metadata
    for the version costs several milliseconds of every start. wasmtime checks its version itself
    when it loads the code.
    """
    library = next(Path(wasmtime.__file__).parent.glob("*/*wasmtime.*")).stat()
    target = f"{platform.system()}-{platform.machine()}".lower()
    return (
        f"{digest}-{library.st_size:x}.{library.st_mtime_ns:x}-{target}"
        f"-{stack_bytes}-{_SETTINGS_REVISION}"
    )
