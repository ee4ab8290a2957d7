"""Opens the library that a configuration names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.config import Config

    from .file.library_file import LibraryFile
    from .library import Library

#: The name of the library in the data folder.
NAME: Final = "library.json"
#: The folder of backups in the data folder.
BACKUPS: Final = "library-backups"


def library_path(config: Config) -> Path:
    """Returns the path of the library file."""
    return config.library.file or config.data_dir / NAME


def library_file(config: Config) -> LibraryFile:
    """Returns the library file with its backups; opens nothing."""
    from .file.library_file import LibraryFile

    most = config.library.backups
    return LibraryFile(library_path(config), config.data_dir / BACKUPS, most_backups=most)


def open_library(config: Config) -> Library:
    """Opens the library; creates nothing.

    Raises:
        LibraryError: `READ_ERROR`: the file is not a library; `INVALID`: the template of keys.
    """
    from .library import Library

    return Library.open(
        library_path(config),
        cache_folder=config.cache_dir / "library",
        backup_folder=config.data_dir / BACKUPS,
        most_backups=config.library.backups,
        key_template=config.library.key_template,
    )
