"""Rules for plain values in a configuration: numbers, texts, paths, small tables.

A rule takes a value of the file and the folder that relative paths start at, and returns the value
to use. Otherwise it raises ValueError with "expected … but found …", without the text itself where
that could be a secret or an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from carrel.files.folders import expand

Rule = Callable[[object, Path], Any]

_COLLECTOR = re.compile(
    r"https?://(?:[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?(?:/[!-~]*)?"
)
_ADDRESS = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):[0-9]{1,5}")
_HOST_HEADER = re.compile(r"(?:[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


class MisfitError(ValueError):
    """Items of a value break their rules.

    Attributes:
        faults: each with its place in the value: place and message.
    """

    def __init__(self, message: str, at: str, *others: tuple[str, str]) -> None:
        super().__init__(message)
        self.faults = ((at, message), *others)


class Misfits:
    """Collects the faults of a value's items, so that they are reported at once."""

    def __init__(self) -> None:
        self._faults: list[tuple[str, str]] = []

    @contextmanager
    def at(self, location: str) -> Iterator[None]:
        """Notes the error of the item at `location`, which the block reads."""
        try:
            yield
        except MisfitError as error:
            self._faults += [(location + at, message) for at, message in error.faults]
        except ValueError as error:
            self._faults.append((location, str(error)))

    def raise_found(self) -> None:
        """Raises what was found, if anything was.

        Raises:
            MisfitError: with every fault.
        """
        if self._faults:
            (at, message), *others = self._faults
            raise MisfitError(message, at, *others)


def kind_of(value: object) -> str:
    """Returns the name of a JSON or TOML value's type for a person."""
    names = {bool: "a boolean", int: "a whole number", float: "a number", str: "text",
             list: "a list", dict: "a table", type(None): "null"}  # fmt: skip
    for kind, name in names.items():
        if isinstance(value, kind):
            return name
    return "a date or time"


def wrong(expected: str, value: object) -> ValueError:
    """Returns the error for a value of another type; a text is not shown."""
    shown = f"{value!r}" if isinstance(value, int | float) else kind_of(value)
    return ValueError(f"expected {expected} but found {shown}")


def mistyped(expected: str, value: object) -> ValueError:
    """Returns the error for an item of another type; the value is not shown."""
    return ValueError(f"expected {expected} but found {kind_of(value)}")


def number(minimum: float, maximum: float, unit: str = "", *, above: bool = False) -> Rule:
    """Returns a rule for a number of `unit` from `minimum` (or `above` it) to `maximum`."""
    low = f"above {minimum:g}" if above else f"from {minimum:g}"
    expected = f"a number{' of ' + unit if unit else ''} {low} to {maximum:g}"

    def rule(value: object, _base: Path) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong(expected, value)
        # Written so that it refuses NaN, which compares false with everything.
        if not (minimum < value <= maximum if above else minimum <= value <= maximum):
            raise wrong(expected, value)
        return float(value)

    return rule


def whole(minimum: int, maximum: int, unit: str = "") -> Rule:
    """Returns a rule for a whole number of `unit` from `minimum` to `maximum`."""
    expected = f"a whole number{' of ' + unit if unit else ''} from {minimum:,} to {maximum:,}"

    def rule(value: object, _base: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong(expected, value)
        if not minimum <= value <= maximum:
            raise wrong(expected, value)
        return value

    return rule


def flag(value: object, _base: Path) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        raise wrong("true or false", value)
    return value


def text(value: object, _base: Path) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise wrong("text", value)
    return value


def one_of(*choices: str) -> Rule:
    """One of a closed list of words, in any case."""
    expected = f"one of {', '.join(choices)}"

    def rule(value: object, _base: Path) -> str:
        if not isinstance(value, str):
            raise wrong(expected, value)
        if value.lower() not in choices:
            raise ValueError(f"expected {expected} but found {value!r}")
        return value.lower()

    return rule


def folder(value: object, base: Path) -> Path:
    """The path of a folder; it need not exist yet."""
    path = path_of(value, base)
    if path.exists() and not path.is_dir():
        raise ValueError(f"expected a folder but {path} is a file")
    return path


def readable_file(value: object, base: Path) -> Path:
    """The path of a file that exists."""
    path = path_of(value, base)
    if not path.is_file():
        raise ValueError(f"expected a file but there is none at {path}")
    return path


def path_of(value: object, base: Path) -> Path:
    """A path; nothing need exist there."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise wrong("a path", value)
    try:
        return expand(value, base)
    except RuntimeError as error:
        raise ValueError("expected a path but its ~ names no home directory") from error


def items(value: object, expected: str) -> list[tuple[str, str]]:
    """The texts of a list, each with its place in it."""
    if not isinstance(value, list):
        raise wrong(expected, value)
    misfits = Misfits()
    for index, item in enumerate(value):
        with misfits.at(f"[{index}]"):
            if not isinstance(item, str):
                raise mistyped("text", item)
    misfits.raise_found()
    return [(f"[{index}]", item) for index, item in enumerate(value)]


def each(value: object, expected: str, read: Callable[[str], str]) -> tuple[str, ...]:
    """The texts of a list, each as `read` returns it, without duplicates.

    Raises:
        MisfitError: with the fault of every item.
    """
    found, misfits = [], Misfits()
    for at, item in items(value, expected):
        with misfits.at(at):
            found.append(read(item))
    misfits.raise_found()
    return tuple(dict.fromkeys(found))


def host_headers(value: object, _base: Path) -> tuple[str, ...]:
    """Values of the `Host` header: a name or address, with or without a port."""

    def read(item: str) -> str:
        if not _HOST_HEADER.fullmatch(item):
            raise ValueError(f"expected NAME or NAME:PORT but found {item!r}")
        return item.lower()

    return each(value, "a list of host names", read)


def origins(value: object, _base: Path) -> tuple[str, ...]:
    """Values of the `Origin` header."""

    def read(item: str) -> str:
        scheme, _, host = item.partition("://")
        if scheme.lower() not in {"http", "https"} or not _HOST_HEADER.fullmatch(host):
            raise ValueError(f"expected https://NAME or https://NAME:PORT but found {item!r}")
        return item.lower()

    return each(value, "a list of origins", read)


def collector_url(value: object, _base: Path) -> str:
    """The base URL of an OpenTelemetry collector; credentials come from the environment."""
    expected = "the URL of a collector, such as http://127.0.0.1:4318"
    if not isinstance(value, str):
        raise wrong(expected, value)
    if not _COLLECTOR.fullmatch(value) or "@" in value:
        raise ValueError(f"expected {expected}, without a user or password")
    return value.rstrip("/")


def metrics_place(value: object, _base: Path) -> str:
    """Reads where metrics are served: `off`, `same`, or an address."""
    expected = "off, same, or HOST:PORT such as 127.0.0.1:9464"
    if not isinstance(value, str):
        raise wrong(expected, value)
    text = value.strip().lower()
    if text not in {"off", "same"} and not _ADDRESS.fullmatch(text):
        raise ValueError(f"expected {expected} but found {value!r}")
    return text


def members(
    table: Mapping[str, Any], at: str, rules: Mapping[str, Rule], base: Path
) -> dict[str, Any]:
    """The members of a small table, each by its rule.

    Raises:
        MisfitError: a member is unknown or breaks its rule; the place leads to it.
    """
    found, misfits = {}, Misfits()
    for key, value in table.items():
        with misfits.at(f"{at}.{key}"):
            if key not in rules:
                raise ValueError(f"unknown key; expected one of {', '.join(rules)}")
            found[key] = rules[key](value, base)
    misfits.raise_found()
    return found
