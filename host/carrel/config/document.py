"""Parses a configuration file, TOML, JSON or YAML, into plain values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import ConfigError

if TYPE_CHECKING:
    import yaml

#: Bytes of the largest file that is read.
MAX_FILE_BYTES = 2**20

#: The most values in a file; each use of a YAML alias counts, which bounds its expansion.
MAX_VALUES = 50_000

_VARIABLE = re.compile(r"\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Table(dict[Any, Any]):
    """A table that records duplicate keys."""

    def __init__(
        self, pairs: Iterable[tuple[Any, Any]], keys: Sequence[object] | None = None
    ) -> None:
        pairs = list(pairs)
        super().__init__(pairs)
        keys = [key for key, _ in pairs] if keys is None else keys
        self.twice = sorted({str(key) for key in keys if keys.count(key) > 1})


class _SyntaxFaultError(Exception):
    """The file cannot be parsed; the message has line and column if they are known."""


def read_document(path: Path, env: Mapping[str, str]) -> object:
    """Reads the file at `path`, with `${VAR}` and `${VAR:-default}` replaced from `env`.

    Raises:
        ConfigError: it cannot be read, a variable is not set, or it is not in its format.
    """
    text = _read(path)
    try:
        document = _parse(path, expand_variables(text, env))
        _require_small(document)
    except _SyntaxFaultError as error:
        raise ConfigError(str(error).split("\n"), path=str(path)) from error
    except RecursionError as error:
        raise ConfigError(["is nested too deep"], path=str(path)) from error
    return document


def expand_variables(text: str, env: Mapping[str, str]) -> str:
    """Replaces `${VAR}` and `${VAR:-default}`; `$${VAR}` is a literal `${VAR}`.

    An empty variable counts as unset. `$VAR` is not replaced, because patterns use it.
    """
    missing: dict[str, int] = {}

    def fill(found: re.Match[str]) -> str:
        if found[0].startswith("$$"):
            return found[0][1:]
        value = env.get(found[1]) or found[2]
        if value is None:
            missing.setdefault(found[1], text.count("\n", 0, found.start()) + 1)
            return ""
        return value

    filled = _VARIABLE.sub(fill, text)
    if missing:
        raise _SyntaxFaultError(
            "\n".join(
                f"line {line}: the environment variable {name} is not set; "
                f"${{{name}:-default}} gives a default, $${{{name}}} means the text itself"
                for name, line in missing.items()
            )
        )
    return filled


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise ConfigError([f"cannot be read: {reason}"], path=str(path)) from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError([f"is larger than {MAX_FILE_BYTES:,} bytes"], path=str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise ConfigError([f"line {line}, column {column}: not UTF-8"], path=str(path)) from error


def _parse(path: Path, document: str) -> object:
    suffix = path.suffix.lower()
    if suffix in {".yaml", ".yml"}:
        return _parse_yaml(document)
    # A TOML document cannot begin with a brace, a JSON object must.
    if suffix == ".json" or (suffix != ".toml" and document.lstrip().startswith(("{", "["))):
        return _parse_json(document)
    return _parse_toml(document)


def _parse_json(document: str) -> object:
    import json

    def refuse(constant: str) -> object:
        raise _SyntaxFaultError(f"{constant} is not JSON")

    try:
        return json.loads(document, object_pairs_hook=Table, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise _SyntaxFaultError(
            f"line {error.lineno}, column {error.colno}: {_lower_first(error.msg)}"
        ) from error
    except ValueError as error:  # a number with thousands of digits
        raise _SyntaxFaultError(_lower_first(str(error))) from error


def _parse_toml(document: str) -> object:
    import tomllib

    try:
        return tomllib.loads(document)
    except tomllib.TOMLDecodeError as error:
        # Before Python 3.14 the place is nowhere but in the message.
        message = str(error)
        found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
        if found:
            what, line, column = found.groups()
        else:
            what = message.removesuffix(" (at end of document)")
            line = str(document.count("\n") + 1)
            column = str(len(document) - document.rfind("\n"))
        raise _SyntaxFaultError(f"line {line}, column {column}: {_lower_first(what)}") from error
    except ValueError as error:
        raise _SyntaxFaultError(_lower_first(str(error))) from error


def _parse_yaml(document: str) -> object:
    import yaml

    class Loader(yaml.SafeLoader):
        """The safe loader, but a mapping remembers which of its keys came twice."""

    def construct_table(loader: yaml.SafeLoader, node: yaml.MappingNode) -> Table:
        own = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        loader.flatten_mapping(node)  # what is merged in comes first, and may be overridden
        return Table(loader.construct_pairs(node, deep=True), own)

    Loader.add_constructor("tag:yaml.org,2002:map", construct_table)
    try:
        return yaml.load(document, Loader)  # noqa: S506 -- it is derived from the safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise _SyntaxFaultError(where + _lower_first(error.problem or "not YAML")) from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise _SyntaxFaultError(f"not YAML: {_lower_first(str(error).splitlines()[0])}") from error


def _require_small(document: object) -> None:
    """Counts values one by one, each alias anew, and stops as soon as they are too many."""
    count = 0
    waiting = [document]
    while waiting:
        value = waiting.pop()
        count += 1
        if count > MAX_VALUES:
            raise _SyntaxFaultError(f"holds more than {MAX_VALUES:,} values")
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
