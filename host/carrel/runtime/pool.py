"""Pools the memory of a worker's engine between calls, with wasmtime's pooling allocator.

A guest's memory is 4 GiB of address space, of which few pages are used. Mapping and unmapping it
and faulting its pages for every call takes half of a small call's time and a sixth of parsing 1 MB,
and threads contend for the lock of the address space. wasmtime's pool keeps one slot and zeroes it
after each call.
"""

from __future__ import annotations

import sys

import wasmtime

from .engine import guest_config
from .ffi import set_pool

#: Bytes of guest memory that stay resident: enough for documents of 2 MB, their results and
#: intermediate data. Pages beyond are returned to the system.
RESIDENT_BYTES = 8 * 2**20
#: Address space of a pool: two memories with guard pages, and as much for the GC heap.
_ADDRESSES = 14 * 2**30

#: Counts and bounds for one component of any kind; they cost only address space.
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


def pooled_engine(stack_bytes: int, resident_bytes: int = RESIDENT_BYTES) -> wasmtime.Engine | None:
    """Returns an engine with a pool for one instance, or None.

    None if the pool's addresses cannot be reserved, or the public interface is in use (`ffi`).

    Args:
        stack_bytes: wasm stack of a guest.
        resident_bytes: bytes of guest memory that are not returned to the system.
    """
    if not _addresses_are_free():
        return None
    config = guest_config(stack_bytes)
    if not set_pool(config, {**_ROOM, "linear_memory_keep_resident": resident_bytes}):
        return None
    return wasmtime.Engine(config)


def _addresses_are_free() -> bool:
    """Returns whether the pool's addresses can be reserved; wasmtime aborts the process if not."""
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
