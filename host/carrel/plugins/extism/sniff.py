"""Guesses whether a plugin is a module, without loading anything."""

from __future__ import annotations

from pathlib import Path

_CORE_MODULE = b"\0asm\x01\0\0\0"


def may_be_module(url: str) -> bool:
    """Whether a plugin's `url` names a core module, or bytes that are not on this machine yet."""
    scheme = url.partition(":")[0]
    if scheme == "builtin":
        return False
    if scheme != "file":
        return True
    from urllib.parse import unquote, urlsplit
    from urllib.request import url2pathname

    try:
        with Path(url2pathname(unquote(urlsplit(url).path))).open("rb") as file:
            return file.read(8) == _CORE_MODULE
    except OSError:
        return False
