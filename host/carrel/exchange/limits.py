"""The limits of one call."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of one call, settable per plugin. Every one has a default and a maximum.

    Attributes:
        cpu_seconds: time in the guest; waiting in fetch does not count.
        wall_seconds: from the call's start to its end, including queueing and fetches.
        memory_bytes: linear memory of the instance.
        stack_bytes: wasm stack; one value per process, it belongs to the engine.
        output_bytes: the result's JSON text.
        fetches: requests in the call, redirects not counted.
        response_bytes: one response after decompression.
        fetched_bytes: all responses of the call after decompression.
        log_bytes: stdout, stderr and log lines of the guest that are kept.
    """

    cpu_seconds: float = 10.0
    wall_seconds: float = 60.0
    memory_bytes: int = 256 * 2**20
    stack_bytes: int = 2**20
    output_bytes: int = 64 * 2**20
    fetches: int = 64
    response_bytes: int = 64 * 2**20
    fetched_bytes: int = 256 * 2**20
    log_bytes: int = 64 * 2**10
