"""Notifies calls that wait for a plugin that it is being compiled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

#: The progress message of a call that waits for it.
COMPILING = "compiling the plugin, once"


class CompileNews:
    """The listeners for each plugin, and which plugins are being compiled. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._compiling: set[str] = set()

    @contextmanager
    def listening(self, name: str, listener: Callable[[], None] | None) -> Iterator[None]:
        """Calls `listener` once if the plugin is being compiled while the context is open."""
        if listener is None:
            yield
            return
        with self._lock:
            self._waiting.setdefault(name, []).append(listener)
            compiling = name in self._compiling
        try:
            if compiling:
                listener()
            yield
        finally:
            with self._lock:
                self._waiting[name].remove(listener)

    @contextmanager
    def loading(self, name: str) -> Iterator[Callable[[], None]]:
        """Yields a function to call when loading the plugin needs compiling."""
        try:
            yield partial(self._begin, name)
        finally:
            with self._lock:
                self._compiling.discard(name)

    def _begin(self, name: str) -> None:
        with self._lock:
            self._compiling.add(name)
            waiting = list(self._waiting.get(name, ()))
        for listener in waiting:
            listener()
