"""Tool names that every client accepts: letters, digits, `_` and `-`, at most 64 characters."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache

MAX_NAME = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
#: Characters of the digest at the end of shortened names.
_DIGEST = 8


@lru_cache(maxsize=256)
def client_names(namespace: str, tools: tuple[str, ...]) -> Mapping[str, str]:
    """Returns the names for clients, by the names in the manifest.

    A name is `<namespace>_<tool>`. A dot becomes `_`; a name that is too long, or that another tool
    of the plugin has, ends in a part of its digest.

    Args:
        namespace: of the plugin.
        tools: all its tools, as the manifest names them.
    """
    plain = {tool: f"{namespace}_{tool}" for tool in tools}
    taken = {name for name in plain.values() if _is_fit(name)}
    names: dict[str, str] = {}
    for tool, full in plain.items():
        name = full
        if not _is_fit(full):
            name = _OTHER.sub("_", full)
            if len(name) > MAX_NAME or name in taken:
                digest = hashlib.sha256(full.encode()).hexdigest()[:_DIGEST]
                name = f"{name[: MAX_NAME - _DIGEST - 1]}_{digest}"
            taken.add(name)
        names[tool] = name
    return names


def _is_fit(name: str) -> bool:
    return len(name) <= MAX_NAME and _OTHER.search(name) is None
