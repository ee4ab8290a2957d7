"""Validates the name and the address of a plugin in a configuration file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

from .values import path_of, wrong

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_ANY_CASE = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")


def plugin_name(name: str, *, any_case: bool = False) -> str | None:
    """Returns what is wrong with `name` as the name of a plugin; None for a valid one.

    With `any_case`, capitals and a leading digit are valid, as in hyper-mcp.
    """
    if len(name) > 40:
        return f"expected at most 40 characters but found {len(name)}"
    if any_case and _ANY_CASE.fullmatch(name):
        return None
    if not _NAME.fullmatch(name):
        return (
            "expected a name of lower-case letters, digits and single underscores between them, "
            "beginning with a letter"
        )
    return None


def plugin_url(value: object, base: Path) -> str:
    """Returns the address of a component; that of a file is absolute.

    A file is named by a URL or a path. A relative one starts at `base`.
    """
    expected = "builtin:NAME, file:PATH or oci://REGISTRY/NAME:TAG"
    if not isinstance(value, str):
        raise wrong(expected, value)
    scheme, colon, rest = value.partition(":")
    scheme = scheme.lower()
    if scheme == "builtin" and _NAME.fullmatch(rest):
        return f"builtin:{rest}"
    if scheme == "file" and colon:
        return _file_url(rest, base)
    if scheme == "oci" and rest.startswith("//"):
        if "@" in rest.split("/")[2]:
            raise ValueError("a registry's user or password does not belong into the file")
        if not re.fullmatch(
            r"//[A-Za-z0-9.:_-]+(/[A-Za-z0-9._-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?", rest
        ):
            raise ValueError("expected oci://REGISTRY/NAME with :TAG or @sha256:DIGEST")
        return f"oci:{rest}"
    if scheme in {"http", "https", "s3"}:
        raise ValueError(f"components are not loaded over {scheme}; expected {expected}")
    if _looks_like_path(value):
        return path_of(value, base).as_uri()
    raise ValueError(f"expected {expected} but found {value!r}")


def relative_url(value: object) -> str | None:
    """Returns `file:PATH` for a text that `plugin_url` takes as relative; None for any other."""
    text = str(value)
    if text[:5].lower() == "file:":
        path = _url_path(text[5:])
    elif _looks_like_path(text) and not text.startswith("~"):
        path = text
    else:
        return None
    if path.startswith("/") or Path(path).is_absolute():
        return None
    return "file:" + quote(Path(os.path.normpath(path)).as_posix())


def _url_path(text: str) -> str:
    """Returns the path behind `file:`, percent-decoded."""
    return unquote(text.partition("?")[0].partition("#")[0])


def _file_url(rest: str, base: Path) -> str:
    """Returns `file:///PATH` for a path behind `file:`."""
    if rest.startswith("///") and len(rest) > 3:
        return f"file:{rest}"
    if rest.startswith("//"):
        raise ValueError(
            "two slashes name a machine; expected three and an absolute path after file:, "
            "or none and a path relative to this file's folder"
        )
    path = _url_path(rest)
    if not path or "\0" in path:
        raise ValueError("expected a path after file:")
    # In a URL, unlike in a path, ~ is a character like any other.
    return Path(os.path.normpath(base / path)).as_uri()


def _looks_like_path(value: str) -> bool:
    """Whether a file was meant, and not `registry.example.org/name` or `arxiv`."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", value):
        return False
    return Path(value).is_absolute() or value.startswith((".", "~")) or value.endswith(".wasm")


def foreign_url(value: object, base: Path) -> str:
    """A module's address in hyper-mcp, including those that Carrel does not load."""
    if isinstance(value, str):
        if value.partition(":")[0].lower() in {"http", "https", "s3"}:
            return value
        if value and not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", value):
            return path_of(value, base).as_uri()
    return plugin_url(value, base)
