"""The pooling allocator, which wasmtime-py's public API does not offer."""

from __future__ import annotations

from collections.abc import Mapping

import wasmtime


def set_pool(config: wasmtime.Config, sizes: Mapping[str, int]) -> bool:
    """Returns False: engines have no pool."""
    del config, sizes
    return False
