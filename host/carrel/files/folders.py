"""Where Carrel keeps its files: the folders of one user, by the platform's custom.

The XDG rules are three lines, so they stand here; `platformdirs` knows the other platforms and is
imported only there, because importing it costs more than everything else a short command does
before it starts.
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
    """The user's folder for Carrel's `config`, `cache` or `data`. It need not exist.

    Raises:
        RuntimeError: the user has no home directory and no variable says where else.
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
    """A path somebody wrote: `~` is the home directory, a relative path starts at `base`."""
    return Path(os.path.normpath(base / Path(value).expanduser()))
