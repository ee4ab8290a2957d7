"""The pooling allocator, which wasmtime-py does not wrap."""

from __future__ import annotations

from collections.abc import Mapping

import wasmtime
from wasmtime import _bindings as c


def set_pool(config: wasmtime.Config, sizes: Mapping[str, int]) -> bool:
    """Makes engines of a configuration pool the memory of their guests.

    wasmtime ends the process if an engine cannot reserve its pool.

    Args:
        config: of one engine.
        sizes: wasmtime's options of the pool, by their names in C.

    Returns:
        True: this path has pools.
    """
    options = c.wasmtime_pooling_allocation_config_new()
    for name, value in sizes.items():
        getattr(c, f"wasmtime_pooling_allocation_config_{name}_set")(options, value)
    c.wasmtime_pooling_allocation_strategy_set(config.ptr(), options)
    c.wasmtime_pooling_allocation_config_delete(options)
    return True
