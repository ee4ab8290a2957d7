"""Creates wasmtime engines with the settings for guests.

Each worker thread has its own engine, so that an epoch increment interrupts exactly one guest: see
`docs/decisions/0004-limits.md`. `pool` keeps an engine's memory between calls.
"""

from __future__ import annotations

import wasmtime

from carrel.errors import LoadError

#: wasmtime's options for guests.
_OPTIONS = {
    "wasm_component_model": True,
    "epoch_interruption": True,
    # Deterministic output: wasm leaves NaN bits and relaxed SIMD to the implementation.
    "cranelift_nan_canonicalization": True,
    "wasm_relaxed_simd_deterministic": True,
    # Proposals that the contract does not use would only enlarge the attack surface.
    "wasm_threads": False,
    "wasm_memory64": False,
    "wasm_multi_memory": False,
}


def new_engine(stack_bytes: int) -> wasmtime.Engine:
    """Returns an engine with the settings that every guest runs under.

    Args:
        stack_bytes: the wasm stack of a guest.
    """
    return wasmtime.Engine(guest_config(stack_bytes))


def guest_config(stack_bytes: int) -> wasmtime.Config:
    """Returns the settings; compiled code runs in any engine that has them.

    Change `SETTINGS_REVISION` in `codecache` together with any of them.
    """
    config = wasmtime.Config()
    config.max_wasm_stack = stack_bytes
    for name, value in _OPTIONS.items():
        setattr(config, name, value)
    return config


def require_options(plugin: str) -> None:
    """Refuses a wasmtime-py that lacks an option which guests need.

    Assigning an unknown option would only create an attribute, without an error.

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
