"""What wasmtime's library made for us, and its errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import wasmtime


def require(error: Any) -> None:
    """Raises the error that a function of wasmtime's library returned, if it returned one."""
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)  # noqa: SLF001


class Owned(ABC):
    """Something in wasmtime's memory that is ours to free."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    def ptr(self) -> Any:
        """Where it stands."""
        if self._pointer is None:
            raise ValueError("already closed")
        return self._pointer

    def close(self) -> None:
        """Frees it. Idempotent."""
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
