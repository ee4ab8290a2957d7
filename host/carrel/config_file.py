"""Reading a configuration file: TOML or JSON into checked values, every fault with its place.

The shape is that of hyper-mcp's `plugins` table with tables of Carrel's own beside it, so that an
entry written for one loads in the other. What hyper-mcp has and Carrel does not offer is refused
with the reason, never passed over: a setting that is read and ignored is a trap.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import config_rules as rules
from .config import BUILTIN_PLUGINS, PluginConfig
from .config_rules import LIMIT_RULES, RULES, MisfitError, Rule, kind_of
from .errors import ConfigError

#: Bytes of the largest file that is read.
MAX_FILE_BYTES = 2**20

_SECTIONS = ("fetch", "runtime", "server")
_TOP_KEYS = ("plugins", "limits", *_SECTIONS, *RULES[""])

_ENTRY_RULES: Mapping[str, Rule] = {
    "url": rules.plugin_url,
    "path": rules.plugin_url,
    "description": rules.text,
    "enabled": rules.flag,
}
_ENTRY_KEYS = (*_ENTRY_RULES, "runtime_config", "limits", "settings")
_RUNTIME_CONFIG_RULES: Mapping[str, Rule] = {
    "allowed_hosts": rules.hosts,
    "skip_tools": rules.patterns,
}

#: Keys that hyper-mcp knows → why there is nothing behind them here.
_NOT_OFFERED: Mapping[str, str] = {
    "allowed_paths": "a plugin sees no files",
    "allowed_secrets": "a plugin's manifest declares its secrets, and the host attaches them from "
    "CARREL_SECRET_<NAME> or a keyring",
    "env_vars": "a plugin sees no environment; its settings go into the entry's `settings` table",
    "memory_limit": "the entry's `limits.memory_bytes` says it, in bytes",
    "skip_prompts": "plugins offer no prompts",
    "skip_resources": "put 'resource' into skip_tools, which switches a plugin's resources off",
    "skip_resource_templates": "plugins offer no resource templates",
    "auths": "registries' credentials do not belong into the file",
    "dynamic_loading": "clients cannot load plugins",
    "oci": "plugins from registries are not offered in this version",
}

_SECRET_WORDS = frozenset(
    {"secret", "secrets", "password", "passwd", "passphrase", "token", "apikey", "bearer"}
    | {"credential", "credentials"}
)
_SECRET_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("auth", "key")})


def read_file(path: Path, faults: list[str]) -> dict[str, Any]:
    """The checked values of the file at `path`; what is wrong is appended to `faults`.

    Raises:
        ConfigError: the file cannot be read, or is not TOML or JSON, so that nothing in it can be
            checked.
    """
    return _Reader(path.absolute().parent, faults).file(_decode(path))


class _Table(dict[str, Any]):
    """A JSON object that remembers which of its keys came twice."""

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        pairs = list(pairs)
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.twice = sorted({key for key in keys if keys.count(key) > 1}) if pairs else []


class _Reader:
    def __init__(self, base: Path, faults: list[str]) -> None:
        self._base = base
        self._faults = faults

    def file(self, document: object) -> dict[str, Any]:
        if not isinstance(document, dict):
            self._fault("", f"expected a table of settings but found {kind_of(document)}")
            return {}
        self._report_keys_given_twice("", document)
        values = self._table("", document, RULES[""], known=_TOP_KEYS)
        for section in _SECTIONS:
            values[section] = self._table(
                section, self._subtable("", document, section), RULES[section]
            )
        values["limits"] = self._table(
            "limits", self._subtable("", document, "limits"), LIMIT_RULES
        )
        plugins = self._subtable("", document, "plugins")
        values["plugins"] = tuple(
            plugin
            for name, entry in plugins.items()
            if (plugin := self._plugin(name, entry)) is not None
        )
        return values

    def _plugin(self, name: str, entry: object) -> PluginConfig | None:
        place = _join("plugins", name)
        wrong = rules.plugin_name(name)
        if wrong:
            self._fault(place, wrong)
        if not isinstance(entry, dict):
            self._fault(place, f"expected a table but found {kind_of(entry)}")
            return None
        found = self._table(place, entry, _ENTRY_RULES, known=_ENTRY_KEYS)
        granted = self._table(
            f"{place}.runtime_config",
            self._subtable(place, entry, "runtime_config"),
            _RUNTIME_CONFIG_RULES,
        )
        own = self._table(f"{place}.limits", self._subtable(place, entry, "limits"), LIMIT_RULES)
        if "stack_bytes" in own:
            self._fault(
                f"{place}.limits.stack_bytes",
                "the stack is one size for the whole process; set it in the top-level `limits`",
            )
            del own["stack_bytes"]
        settings = self._subtable(place, entry, "settings")
        self._check_settings(f"{place}.settings", settings)

        if "url" in entry and "path" in entry:
            self._fault(place, "`url` and `path` mean the same; give one of them")
        url = found.get("url") or found.get("path")
        if url is None:
            if "url" in entry or "path" in entry:
                return None  # its fault is reported already
            if name not in BUILTIN_PLUGINS:
                self._fault(
                    place,
                    "expected a `url`: only the built-in plugins "
                    f"({', '.join(BUILTIN_PLUGINS)}) have one without",
                )
                return None
            url = f"builtin:{name}"
        if url.startswith("builtin:") and url.removeprefix("builtin:") not in BUILTIN_PLUGINS:
            hint = _hint(url.removeprefix("builtin:"), BUILTIN_PLUGINS)
            self._fault(f"{place}.url", f"no built-in plugin is called that{hint}")
        return PluginConfig(
            name=name,
            url=url,
            description=found.get("description", ""),
            enabled=found.get("enabled", True),
            allowed_hosts=granted.get("allowed_hosts", None if url.startswith("builtin:") else ()),
            limits=own,
            settings=settings,
            skip_tools=granted.get("skip_tools", ()),
        )

    def _table(
        self,
        place: str,
        table: Mapping[str, Any],
        rules_: Mapping[str, Rule],
        *,
        known: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """The values of `table` that satisfy `rules_`; `known` are the keys others look at."""
        known = tuple(rules_ if known is None else known)
        values: dict[str, Any] = {}
        for key, value in table.items():
            where = _join(place, key)
            if key in rules_:
                try:
                    values[key] = rules_[key](value, self._base)
                except MisfitError as error:
                    self._fault(where + error.at, str(error))
                except ValueError as error:
                    self._fault(where, str(error))
            elif key in _NOT_OFFERED:
                self._fault(where, f"not offered: {_NOT_OFFERED[key]}")
            elif _looks_like_a_secret(key):
                self._fault_secret(where)
            elif key not in known:
                self._fault(where, f"unknown key{_hint(key, known)}")
        return values

    def _subtable(self, place: str, table: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = table.get(key, {})
        if isinstance(value, dict):
            return value
        self._fault(_join(place, key), f"expected a table but found {kind_of(value)}")
        return {}

    def _check_settings(self, place: str, value: object) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                if _looks_like_a_secret(key):
                    self._fault_secret(_join(place, key))
                else:
                    self._check_settings(_join(place, key), item)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._check_settings(f"{place}[{index}]", item)
        elif isinstance(value, float) and not math.isfinite(value):
            self._fault(place, f"expected a JSON value but found {value}")
        elif value is not None and not isinstance(value, str | int | float):
            self._fault(place, f"expected a JSON value but found {kind_of(value)}")

    def _report_keys_given_twice(self, place: str, value: object) -> None:
        if isinstance(value, _Table):
            for key in value.twice:
                self._fault(_join(place, key), "the key is given twice")
        if isinstance(value, dict):
            for key, item in value.items():
                self._report_keys_given_twice(_join(place, key), item)

    def _fault_secret(self, place: str) -> None:
        self._fault(
            place,
            "looks like a secret: secrets come from CARREL_SECRET_<NAME> in the environment or "
            "from a keyring, never from the file",
        )

    def _fault(self, place: str, text: str) -> None:
        self._faults.append(f"{place}: {text}" if place else text)


def _join(place: str, key: str) -> str:
    shown = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else repr(key)
    return f"{place}.{shown}" if place else shown


#: Every key with its full name, for a hint when it stands in the wrong table.
_ELSEWHERE: Mapping[str, str] = {
    **{key: key for key in _TOP_KEYS},
    **{key: f"{section}.{key}" for section in _SECTIONS for key in RULES[section]},
    **{key: f"limits.{key}" for key in LIMIT_RULES},
    **{key: f"plugins.<name>.{key}" for key in _ENTRY_KEYS if key != "limits"},
    **{key: f"plugins.<name>.runtime_config.{key}" for key in _RUNTIME_CONFIG_RULES},
}


def _hint(key: str, known: Iterable[str]) -> str:
    import difflib

    known = tuple(known)
    near = difflib.get_close_matches(key.lower(), known, n=1, cutoff=0.7)
    if near:
        return f"; did you mean {near[0]!r}?"
    if key in _ELSEWHERE:
        return f"; it belongs to {_ELSEWHERE[key]}"
    far = difflib.get_close_matches(key.lower(), tuple(_ELSEWHERE), n=1, cutoff=0.7)
    if far:
        return f"; did you mean {_ELSEWHERE[far[0]]!r}?"
    return f"; the nearest is {_nearest(key, known)!r} of {', '.join(sorted(known))}"


def _nearest(key: str, known: tuple[str, ...]) -> str:
    import difflib

    return max(known, key=lambda name: difflib.SequenceMatcher(None, key.lower(), name).ratio())


def _looks_like_a_secret(key: str) -> bool:
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower())
    pairs = itertools.pairwise(words)
    return not _SECRET_WORDS.isdisjoint(words) or not _SECRET_PAIRS.isdisjoint(pairs)


def _decode(path: Path) -> object:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise ConfigError([f"cannot be read: {reason}"], path=str(path)) from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError([f"is larger than {MAX_FILE_BYTES:,} bytes"], path=str(path))
    try:
        document = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise ConfigError([f"line {line}, column {column}: not UTF-8"], path=str(path)) from error
    try:
        return _parse(path, document)
    except _SyntaxFaultError as error:
        raise ConfigError([str(error)], path=str(path)) from error
    except RecursionError as error:
        raise ConfigError(["is nested too deep"], path=str(path)) from error


class _SyntaxFaultError(Exception):
    """The file is not TOML or JSON; the message has line and column."""


def _parse(path: Path, document: str) -> object:
    suffix = path.suffix.lower()
    if suffix in {".yaml", ".yml"}:
        raise _SyntaxFaultError("YAML is not read; write the same keys as TOML or JSON")
    # A TOML document cannot begin with a brace, a JSON object must.
    if suffix == ".json" or (suffix != ".toml" and document.lstrip().startswith(("{", "["))):
        return _parse_json(document)
    return _parse_toml(document)


def _parse_json(document: str) -> object:
    import json

    def refuse(constant: str) -> object:
        raise _SyntaxFaultError(f"{constant} is not JSON")

    try:
        return json.loads(document, object_pairs_hook=_Table, parse_constant=refuse)
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


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
