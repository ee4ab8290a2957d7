"""Finds the user's folders for Carrel's files, by the platform's conventions.

The XDG rules are implemented here; `platformdirs` is imported only on other platforms, because the
import takes longer than the rest of a short command's start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

APP = "carrel"

#: kind → (XDG variable, folder below the home directory when the variable is unset)
_XDG = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "data": ("XDG_DATA_HOME", ".local/share"),
}


def user_dir(kind: str, env: Mapping[str, str]) -> Path:
    """Returns the user's folder for Carrel's `config`, `cache` or `data`, which may not exist.

    Raises:
        RuntimeError: the user has no home directory and no variable names the folder.
    """
    if sys.platform in {"win32", "darwin"}:
        import platformdirs

        folder: Path = getattr(platformdirs, f"user_{kind}_path")(APP, appauthor=False)
        return folder
    variable, below_home = _XDG[kind]
    base = Path(env.get(variable, ""))
    # The XDG specification tells programs to ignore a relative path.
    if base.is_absolute():
        return base / APP
    home = env.get("HOME") or str(Path.home())
    return Path(home, below_home, APP)


def expand(value: str, base: Path) -> Path:
    """Returns an absolute path: expands `~`, and resolves a relative path against `base`."""
    return Path(os.path.normpath(base / Path(value).expanduser()))


def may_write(folder: Path) -> bool:
    """Returns whether files can be written to a folder, which need not exist; creates nothing."""
    for candidate in (folder, *folder.parents):
        if candidate.exists():
            return candidate.is_dir() and os.access(candidate, os.W_OK | os.X_OK)
    return False
