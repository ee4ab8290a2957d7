"""wasmtime engines: how guest code is compiled.

Each worker thread has an engine of its own, which makes an epoch increment a message to one guest:
see `docs/decisions/0004-limits.md`. How its memory is kept from call to call stands in `pool`.
"""

from __future__ import annotations

import wasmtime


def new_engine(stack_bytes: int) -> wasmtime.Engine:
    """An engine with the settings that every guest runs under.

    Args:
        stack_bytes: the wasm stack of a guest.
    """
    return wasmtime.Engine(guest_config(stack_bytes))


def guest_config(stack_bytes: int) -> wasmtime.Config:
    """The settings; compiled code runs in any engine that has them.

    With any of them, `SETTINGS_REVISION` in `codecache` is changed.
    """
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
