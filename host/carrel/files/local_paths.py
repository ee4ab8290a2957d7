"""Removes local paths from texts for clients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

#: An absolute path that is not part of a URL: no character of a URL or word precedes it.
_POSIX = re.compile(r"(?<![\w.:/%?=&#-])/([^\s/'\",;:()\[\]<>|]+)(?:/[^\s/'\",;:()\[\]<>|]+)*/?")
_WINDOWS = re.compile(r"(?<![\w/])[A-Za-z]:\\[^\s'\",;()<>|]+")
_FILE_URL = re.compile(r"file:/+[^\s'\",;()<>|]+")


def without_paths(text: str, paths: Sequence[str] = ()) -> str:
    """Returns the text with `…/name` in place of each path and `file:` URL of this machine.

    Args:
        text: a message for people.
        paths: to remove even if they contain spaces.
    """
    for path in sorted(paths, key=len, reverse=True):
        if Path(path).is_absolute() and Path(path).name:
            text = text.replace(path, f"…/{Path(path).name}")
    text = _FILE_URL.sub(lambda found: f"file:///…/{_last(found[0])}", text)
    text = _WINDOWS.sub(lambda found: f"…/{_last(found[0])}", text)
    return _POSIX.sub(_shortened, text)


def without_paths_inside(value: Any) -> Any:
    """Returns a JSON value with `without_paths` applied to every text in it."""
    if isinstance(value, str):
        return without_paths(value)
    if isinstance(value, dict):
        return {key: without_paths_inside(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths_inside(item) for item in value]
    return value


def _shortened(found: re.Match[str]) -> str:
    return f"…/{_last(found[0])}" if _is_here(found[1]) else found[0]


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


@lru_cache(maxsize=64)
def _is_here(first: str) -> bool:
    """Returns whether a path's first part is a local folder, because texts also quote paths of
    URLs.
    """
    return (Path("/") / first).is_dir()
