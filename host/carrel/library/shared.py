"""Holds one open library for the tools and resources of a configuration."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .opening import open_library

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

    from .library import Library

_lock = threading.Lock()
_shared: WeakKeyDictionary[PluginSet, SharedLibrary] = WeakKeyDictionary()


class SharedLibrary:
    """Opens the library of a configuration when it is first needed. Thread-safe."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._library: Library | None = None

    def __call__(self) -> Library:
        """Returns the library.

        Raises:
            LibraryError: it cannot be opened.
        """
        with self._lock:
            if self._library is None:
                self._library = open_library(self._config)
            return self._library

    def close(self) -> None:
        """Closes the library if it is open; the next use opens it again."""
        with self._lock:
            library, self._library = self._library, None
        if library is not None:
            library.close()


def shared_library(plugins: PluginSet, config: Config) -> SharedLibrary:
    """Returns the library that the tools and resources of one toolbox share."""
    with _lock:
        if plugins not in _shared:
            _shared[plugins] = SharedLibrary(config)
        return _shared[plugins]
