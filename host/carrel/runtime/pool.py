"""Memory that a worker's engine keeps from one call to the next, emptied in between.

A guest's memory is 4 GiB of addresses, of which it touches a few pages. Reserving and releasing
them for every call, and having the kernel hand out and take back each page, is half of what a small
call costs and a sixth of parsing 1 MB; in several threads at once they also wait for each other's
changes to the address space. wasmtime's pool keeps one place and sets it to zero after each call.
"""

from __future__ import annotations

import sys

import wasmtime

from .engine import guest_config
from .ffi import set_pool

#: Bytes of a guest's memory that stay with the process: documents of 2 MB, their results and what
#: stands between. What a guest touched beyond goes back to the system.
KEPT = 8 * 2**20
#: Addresses of a pool: two memories with their guard pages, and as much for the collector's heap.
_ADDRESSES = 14 * 2**30

#: One component at a time, of any make: these are counts and bounds, and cost addresses at most.
_ROOM = {
    "total_component_instances": 1,
    "max_component_instance_size": 16 * 2**20,
    "total_core_instances": 1000,
    "max_core_instances_per_component": 1000,
    "max_core_instance_size": 16 * 2**20,
    "total_memories": 2,
    "max_memories_per_component": 2,
    "total_tables": 32,
    "max_tables_per_component": 32,
    "max_tables_per_module": 32,
    "table_elements": 1_000_000,
    "total_gc_heaps": 1,
    "total_stacks": 1,
    "table_keep_resident": 2**16,
}


def pooled_engine(stack_bytes: int, kept: int = KEPT) -> wasmtime.Engine | None:
    """Returns an engine with a pool for one instance, or None.

    None if the pool's addresses cannot be reserved, or the public interface is in use (`ffi`).

    Args:
        stack_bytes: wasm stack of a guest.
        kept: bytes of a guest's memory that stay with the process.
    """
    if not _addresses_are_free():
        return None
    config = guest_config(stack_bytes)
    if not set_pool(config, {**_ROOM, "linear_memory_keep_resident": kept}):
        return None
    return wasmtime.Engine(config)


def _addresses_are_free() -> bool:
    """Whether the pool can be reserved; wasmtime's library ends the process when it cannot."""
    if sys.maxsize < 2**32:
        return False
    try:
        import mmap
        import resource

        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            return False
        mmap.mmap(-1, _ADDRESSES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except (ImportError, AttributeError, OSError, ValueError):
        return False
    return True
