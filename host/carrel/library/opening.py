"""Opens the library that a configuration names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.config import Config

    from .library import Library

#: The name of the library in the data folder.
NAME: Final = "library.json"


def library_path(config: Config) -> Path:
    """Returns the path of the library file."""
    settings = getattr(config, "library", None)
    file = getattr(settings, "file", None)
    return file or config.data_dir / NAME


def open_library(config: Config) -> Library:
    """Opens the library; creates nothing.

    Raises:
        LibraryError: `READ_ERROR`: the file is not a library; `INVALID`: the template of keys.
    """
    from .library import Library

    settings = getattr(config, "library", None)
    return Library.open(
        library_path(config),
        cache_folder=config.cache_dir / "library",
        backup_folder=config.data_dir / "library-backups",
        key_template=getattr(settings, "key_template", None),
    )
