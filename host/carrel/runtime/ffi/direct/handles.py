"""Handles: objects that own memory of wasmtime's library, and its errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import wasmtime


def require(error: Any) -> None:
    """Raises the `WasmtimeError` that a C function returned, if it returned one."""
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)  # noqa: SLF001


class Handle(ABC):
    """Owns a C pointer and frees it when closed or collected."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    def ptr(self) -> Any:
        """Returns the pointer; raises `ValueError` after `close`."""
        if self._pointer is None:
            raise ValueError("already closed")
        return self._pointer

    def close(self) -> None:
        """Frees the pointer. Idempotent."""
        pointer, self._pointer = self._pointer, None
        if pointer is not None:
            self._free(pointer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    @abstractmethod
    def _free(self, pointer: Any) -> None: ...
