"""One folder of compiled components for all processes of a test run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

#: Environment variable with the folder; pytest's workers inherit it.
VARIABLE = "CARREL_TESTS_CODE"


def make_folder() -> Callable[[], None]:
    """Makes the folder, unless a parent process has; returns what removes it."""
    if VARIABLE in os.environ:
        return lambda: None
    folder = os.environ[VARIABLE] = tempfile.mkdtemp(prefix="carrel-tests-code-")

    def remove() -> None:
        del os.environ[VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)

    return remove


def share_code(cache: Path) -> None:
    """Makes Carrel's cache folder use it; elsewhere than on Linux, each has its own."""
    if sys.platform == "linux" and not (cache / "code").exists():
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "code").symlink_to(os.environ[VARIABLE], target_is_directory=True)
