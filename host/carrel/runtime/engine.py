"""wasmtime engines: how guest code is compiled.

Each worker thread has an engine of its own, which makes an epoch increment a message to one guest:
see `docs/decisions/0004-limits.md`. How its memory is kept from call to call stands in `pool`.
"""

from __future__ import annotations

import wasmtime

from carrel.errors import LoadError

#: wasmtime's options for guests.
_OPTIONS = {
    "wasm_component_model": True,
    "epoch_interruption": True,
    # Equal input gives equal output: NaN bits and relaxed SIMD are where wasm leaves room.
    "cranelift_nan_canonicalization": True,
    "wasm_relaxed_simd_deterministic": True,
    # Proposals the contract has no use for are surface without benefit.
    "wasm_threads": False,
    "wasm_memory64": False,
    "wasm_multi_memory": False,
}


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
    config.max_wasm_stack = stack_bytes
    for name, value in _OPTIONS.items():
        setattr(config, name, value)
    return config


def require_options(plugin: str) -> None:
    """Refuses a wasmtime-py without an option that guests are run with.

    Assigning an option that a class does not have makes an attribute, without an error.

    Args:
        plugin: for the message.

    Raises:
        LoadError: names what is missing.
    """
    missing = [name for name in (*_OPTIONS, "max_wasm_stack") if not hasattr(wasmtime.Config, name)]
    if missing:
        raise LoadError(
            f"{plugin}: this version of wasmtime-py has no option {', '.join(missing)}, and guests "
            f"do not run without; install the version that Carrel's constraints.txt names",
            plugin=plugin,
        )
