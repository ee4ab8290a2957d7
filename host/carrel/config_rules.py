"""What each key of a configuration may hold.

A rule takes a value as the file gave it and the folder that relative paths start at, and returns
the value to keep. It raises ValueError with "expected … but found …" otherwise, never with the
text itself where that could be a secret or an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .paths import expand

Rule = Callable[[object, Path], Any]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_CONTACT = re.compile(r"[!-?A-~]+@[!-?A-~]+\.[!-?A-~]+")


class MisfitError(ValueError):
    """A value that breaks its rule in one of its items; `at` is the item's place in the value."""

    def __init__(self, message: str, at: str) -> None:
        super().__init__(message)
        self.at = at


def kind_of(value: object) -> str:
    """What a person calls the type of a value of JSON or TOML."""
    names = {bool: "a boolean", int: "a whole number", float: "a number", str: "text",
             list: "a list", dict: "a table", type(None): "null"}  # fmt: skip
    for kind, name in names.items():
        if isinstance(value, kind):
            return name
    return "a date or time"


def _wrong(expected: str, value: object) -> ValueError:
    shown = f"{value!r}" if isinstance(value, int | float) else kind_of(value)
    return ValueError(f"expected {expected} but found {shown}")


def number(minimum: float, maximum: float, unit: str = "", *, above: bool = False) -> Rule:
    """A number of `unit` from `minimum` (or `above` it) to `maximum`."""
    low = f"above {minimum:g}" if above else f"from {minimum:g}"
    expected = f"a number{' of ' + unit if unit else ''} {low} to {maximum:g}"

    def rule(value: object, _base: Path) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _wrong(expected, value)
        # Written so that NaN, which compares false with everything, is refused.
        if not (minimum < value <= maximum if above else minimum <= value <= maximum):
            raise _wrong(expected, value)
        return float(value)

    return rule


def whole(minimum: int, maximum: int, unit: str = "") -> Rule:
    """A whole number of `unit` from `minimum` to `maximum`."""
    expected = f"a whole number{' of ' + unit if unit else ''} from {minimum:,} to {maximum:,}"

    def rule(value: object, _base: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong(expected, value)
        if not minimum <= value <= maximum:
            raise _wrong(expected, value)
        return value

    return rule


def flag(value: object, _base: Path) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        raise _wrong("true or false", value)
    return value


def text(value: object, _base: Path) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise _wrong("text", value)
    return value


def one_of(*choices: str) -> Rule:
    """One of a closed list of words, in any case."""
    expected = f"one of {', '.join(choices)}"

    def rule(value: object, _base: Path) -> str:
        if not isinstance(value, str):
            raise _wrong(expected, value)
        if value.lower() not in choices:
            raise ValueError(f"expected {expected} but found {value!r}")
        return value.lower()

    return rule


def folder(value: object, base: Path) -> Path:
    """The path of a folder; it need not exist yet."""
    path = _path(value, base)
    if path.exists() and not path.is_dir():
        raise ValueError(f"expected a folder but {path} is a file")
    return path


def readable_file(value: object, base: Path) -> Path:
    """The path of a file that exists."""
    path = _path(value, base)
    if not path.is_file():
        raise ValueError(f"expected a file but there is none at {path}")
    return path


def _path(value: object, base: Path) -> Path:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise _wrong("a path", value)
    try:
        return expand(value, base)
    except RuntimeError as error:
        raise ValueError("expected a path but its ~ names no home directory") from error


def contact(value: object, _base: Path) -> str | None:
    """An e-mail address. The message never shows what was found."""
    if not isinstance(value, str):
        raise _wrong("an e-mail address", value)
    value = value.strip()
    if value and (len(value) > 254 or not _CONTACT.fullmatch(value)):
        raise ValueError("expected an e-mail address (the value is not shown)")
    return value or None


def store(value: object, _base: Path) -> str:
    """What holds cache and pace."""
    if isinstance(value, str) and value.startswith(("redis:", "rediss:")):
        raise ValueError("this version keeps cache and pace in sqlite only")
    return str(one_of("sqlite")(value, _base))


def plugin_name(name: str) -> str | None:
    """What is wrong with `name` as the name of a plugin; None when nothing is."""
    if len(name) > 40:
        return f"expected at most 40 characters but found {len(name)}"
    if not _NAME.fullmatch(name):
        return (
            "expected a name of lower-case letters, digits and single underscores between them, "
            "beginning with a letter"
        )
    return None


def plugin_url(value: object, _base: Path) -> str:
    """Where a component is."""
    expected = "builtin:NAME, file:///PATH or oci://REGISTRY/NAME:TAG"
    if not isinstance(value, str):
        raise _wrong(expected, value)
    scheme, colon, rest = value.partition(":")
    scheme = scheme.lower()
    if scheme == "builtin" and _NAME.fullmatch(rest):
        return f"builtin:{rest}"
    if scheme == "file" and colon:
        if not rest.startswith("///") or len(rest) < 4:
            raise ValueError("expected three slashes and an absolute path after file:")
        return f"file:{rest}"
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
    raise ValueError(f"expected {expected} but found {value!r}")


def hosts(value: object, _base: Path) -> tuple[str, ...]:
    """Host names for an operator's grant."""
    from .fetch.hosts import parse_host_entry

    names = []
    for at, item in _items(value, "a list of host names"):
        if item.strip() == "*":
            raise MisfitError("'*' would grant every host; name the hosts", at)
        try:
            names.append(parse_host_entry(item))
        except ValueError as error:
            raise MisfitError(f"{item!r}: {error}", at) from None
    return tuple(dict.fromkeys(names))


def patterns(value: object, _base: Path) -> tuple[str, ...]:
    """Regular expressions for tool names."""
    found = []
    for at, item in _items(value, "a list of regular expressions"):
        try:
            re.compile(item)
        except re.error as error:
            raise MisfitError(f"{item!r} is not a regular expression: {error}", at) from error
        found.append(item)
    return tuple(found)


def _items(value: object, expected: str) -> list[tuple[str, str]]:
    if not isinstance(value, list):
        raise _wrong(expected, value)
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise MisfitError(f"expected text but found {kind_of(item)}", f"[{index}]")
    return [(f"[{index}]", item) for index, item in enumerate(value)]


_GIB = 2**30
_SECONDS = number(0, 3600, "seconds", above=True)

#: Field of `carrel.exchange.Limits` → its rule; the ends are those of the manifest's schema.
LIMIT_RULES: Mapping[str, Rule] = {
    "cpu_seconds": number(0, 600, "seconds", above=True),
    "wall_seconds": _SECONDS,
    "memory_bytes": whole(2**20, 4 * _GIB, "bytes"),
    "stack_bytes": whole(64 * 2**10, 64 * 2**20, "bytes"),
    "output_bytes": whole(1024, _GIB, "bytes"),
    "fetches": whole(0, 100_000),
    "response_bytes": whole(1024, _GIB, "bytes"),
    "fetched_bytes": whole(1024, 4 * _GIB, "bytes"),
    "log_bytes": whole(0, 64 * 2**20, "bytes"),
}

#: Section → key → rule; the empty section is the file's top level. A test compares the sections
#: with the dataclasses of `config`.
RULES: Mapping[str, Mapping[str, Rule]] = {
    "": {
        "cache_dir": folder,
        "data_dir": folder,
        "record_dir": folder,
        "replay_dir": folder,
    },
    "fetch": {
        "contact": contact,
        "connect_seconds": _SECONDS,
        "read_seconds": _SECONDS,
        "max_redirects": whole(0, 20),
        "retries": whole(0, 20),
        "ca_bundle": readable_file,
        "cache_max_bytes": whole(0, 2**50, "bytes"),
        "store": store,
    },
    "runtime": {
        "workers": whole(1, 1024),
        "result_bytes": whole(0, 2**40, "bytes"),
        "max_component_bytes": whole(1024, _GIB, "bytes"),
        "compile_seconds": _SECONDS,
        "compile_memory_bytes": whole(64 * 2**20, 2**40, "bytes"),
    },
    "server": {
        "max_line_bytes": whole(1024, _GIB, "bytes"),
        "max_in_flight": whole(1, 1_000_000),
        "calls_per_second": number(0, 1_000_000, above=True),
        "burst": whole(1, 1_000_000),
        "patience_seconds": number(0, 3600, "seconds"),
        "shutdown_seconds": number(0, 3600, "seconds"),
        "log_level": one_of("debug", "info", "warning", "error", "critical"),
    },
}
