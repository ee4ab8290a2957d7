"""Reads a configuration file: checks its values, and reports every fault with its place.

The format is hyper-mcp's `plugins` table with tables of Carrel's own beside it. A file with
hyper-mcp's keys only is translated (`hyper_mcp`). In any other file, keys of hyper-mcp that Carrel
does not support are refused with the reason: a setting that is read and ignored is a trap.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import rules
from .document import Table, read_document
from .hyper_mcp import Translation, translate
from .model import BUILTIN_PLUGINS
from .plugin import PluginConfig
from .plugin_address import foreign_url, plugin_name, plugin_url, relative_url
from .rules import LIMIT_RULES, RULES
from .values import MisfitError, Rule, flag, kind_of, text

_SECTIONS = (
    *("fetch", "runtime", "server", "http", "identity", "documents", "papers", "library", "web"),
)
_TOP_KEYS = ("plugins", "limits", *_SECTIONS, *RULES[""])

_ENTRY_RULES: Mapping[str, Rule] = {
    "url": plugin_url,
    "path": plugin_url,
    "description": text,
    "enabled": flag,
    "trust": rules.trust,
}
_ENTRY_KEYS = (*_ENTRY_RULES, "runtime_config", "limits", "settings")
_RUNTIME_CONFIG_RULES: Mapping[str, Rule] = {
    "allowed_hosts": rules.hosts,
    "endpoint": rules.endpoint,
    "tools": rules.patterns,
    "skip_tools": rules.patterns,
    "skip_prompts": rules.patterns,
    "skip_resources": rules.patterns,
    "skip_resource_templates": rules.patterns,
    "secrets": rules.names,
    "pace": rules.pace,
    "trace_hosts": rules.host_entries,
    "env_vars": rules.texts,
    "allowed_secrets": rules.keyring_entries,
}
_RUNTIME_CONFIG_KEYS = (*_RUNTIME_CONFIG_RULES, "limits")

_HYPER_ENTRY_RULES: Mapping[str, Rule] = {
    **_ENTRY_RULES,
    "url": foreign_url,
    "path": foreign_url,
}

#: Keys of hyper-mcp → why Carrel does not support them.
_NOT_OFFERED: Mapping[str, str] = {
    "allowed_paths": "a plugin sees no files",
    "memory_limit": "`limits.memory_bytes` says it, in bytes",
    "auths": "registries' credentials do not belong into the file",
    "dynamic_loading": "clients cannot load plugins",
    "oci": "`trust` says whose signatures count",
}

_SECRET_WORDS = frozenset(
    {"secret", "secrets", "password", "passwd", "passphrase", "token", "apikey", "bearer"}
    | {"credential", "credentials"}
)
_SECRET_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("auth", "key")})


def read_file(path: Path, faults: list[str], env: Mapping[str, str]) -> dict[str, Any]:
    """Reads and checks the file at `path`; appends what is wrong to `faults`.

    Raises:
        ConfigError: the file cannot be read or parsed.
    """
    document = read_document(path, env)
    base = path.absolute().parent
    # TOML refuses a key that comes twice by itself, and its tables are plain ones.
    translation = translate(document, is_toml=not isinstance(document, Table))
    if translation is None:
        return _Reader(base, faults).file(document)
    _Reader(base, faults).report_keys_given_twice("", document)
    values = _Reader(base, faults, translation).file(translation.document)
    values["warnings"] = translation.warnings
    return values


class _Reader:
    def __init__(
        self, base: Path, faults: list[str], translation: Translation | None = None
    ) -> None:
        self._base = base
        self._faults = faults
        self._hyper = translation

    def file(self, document: object) -> dict[str, Any]:
        """Checks the values of a whole document."""
        if not isinstance(document, dict):
            self._fault("", f"expected a table of settings but found {kind_of(document)}")
            return {}
        self.report_keys_given_twice("", document)
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
        location = _join("plugins", name)
        wrong = plugin_name(name, any_case=self._hyper is not None)
        if wrong:
            self._fault(location, wrong)
        if not isinstance(entry, dict):
            self._fault(location, f"expected a table but found {kind_of(entry)}")
            return None
        entry_rules = _HYPER_ENTRY_RULES if self._hyper else _ENTRY_RULES
        found = self._table(location, entry, entry_rules, known=_ENTRY_KEYS)
        runtime_config = self._subtable(location, entry, "runtime_config")
        granted = self._table(
            f"{location}.runtime_config",
            runtime_config,
            _RUNTIME_CONFIG_RULES,
            known=_RUNTIME_CONFIG_KEYS,
        )
        own = self._own_limits(location, entry, runtime_config)
        settings = self._subtable(location, entry, "settings")
        self._check_settings(f"{location}.settings", settings)

        if "url" in entry and "path" in entry:
            self._fault(location, "`url` and `path` mean the same; give one of them")
        url = found.get("url") or found.get("path")
        if url is None:
            if "url" in entry or "path" in entry:
                return None  # its fault is reported already
            if name not in BUILTIN_PLUGINS:
                self._fault(
                    location,
                    "expected a `url`: only the built-in plugins "
                    f"({', '.join(BUILTIN_PLUGINS)}) have one without",
                )
                return None
            url = f"builtin:{name}"
        if url.startswith("builtin:") and url.removeprefix("builtin:") not in BUILTIN_PLUGINS:
            hint = _hint(url.removeprefix("builtin:"), BUILTIN_PLUGINS)
            self._fault(f"{location}.url", f"no built-in plugin is called that{hint}")
        return PluginConfig(
            name=name,
            url=url,
            description=found.get("description", ""),
            enabled=found.get("enabled", True),
            limits=own,
            settings=settings,
            trust=found.get("trust"),
            notes=self._hyper.notes.get(name, ()) if self._hyper else (),
            relative_url=relative_url(entry.get("url", entry.get("path"))),
            **{
                "allowed_hosts": None if self._as_declared(name, url) else (),
                **granted,
            },
        )

    def _as_declared(self, name: str, url: str) -> bool:
        """Whether an entry without hosts is granted what its plugin declares."""
        every_host = self._hyper is not None and name in self._hyper.as_declared
        return every_host or url.startswith("builtin:")

    def _own_limits(
        self, location: str, entry: Mapping[str, Any], runtime_config: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Returns the limits of one plugin, from the grant or, for short, from the entry."""
        if "limits" in entry and "limits" in runtime_config:
            self._fault(location, "`limits` and `runtime_config.limits` mean the same; give one")
        own: dict[str, Any] = {}
        for above, table in ((location, entry), (f"{location}.runtime_config", runtime_config)):
            found = self._table(
                f"{above}.limits", self._subtable(above, table, "limits"), LIMIT_RULES
            )
            if "stack_bytes" in found:
                self._fault(
                    f"{above}.limits.stack_bytes",
                    "the stack is one size for the whole process; set it in the top-level `limits`",
                )
                del found["stack_bytes"]
            own |= found
        return own

    def _table(
        self,
        location: str,
        table: Mapping[str, Any],
        rules_: Mapping[str, Rule],
        *,
        known: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """Returns the values of `table` that satisfy `rules_`; `known` keys are not checked."""
        known = tuple(rules_ if known is None else known)
        values: dict[str, Any] = {}
        for key, value in table.items():
            where = _join(location, key)
            if key in rules_:
                try:
                    values[key] = rules_[key](value, self._base)
                except MisfitError as error:
                    for at, message in error.faults:
                        self._fault(where + at, message)
                except ValueError as error:
                    self._fault(where, str(error))
            elif key in _NOT_OFFERED:
                self._fault(where, f"not offered: {_NOT_OFFERED[key]}")
            elif _looks_like_a_secret(key):
                self._fault_secret(where)
            elif key not in known:
                self._fault(where, f"unknown key{_hint(key, known)}")
        return values

    def _subtable(self, location: str, table: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = table.get(key, {})
        if isinstance(value, dict):
            return value
        self._fault(_join(location, key), f"expected a table but found {kind_of(value)}")
        return {}

    def _check_settings(self, location: str, value: object) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                if _looks_like_a_secret(key):
                    self._fault_secret(_join(location, key))
                else:
                    self._check_settings(_join(location, key), item)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._check_settings(f"{location}[{index}]", item)
        elif isinstance(value, float) and not math.isfinite(value):
            self._fault(location, f"expected a JSON value but found {value}")
        elif value is not None and not isinstance(value, str | int | float):
            self._fault(location, f"expected a JSON value but found {kind_of(value)}")

    def report_keys_given_twice(self, location: str, value: object) -> None:
        """Reports one fault for every duplicate key."""
        if isinstance(value, Table):
            for key in value.twice:
                self._fault(_join(location, key), "the key is given twice")
        if isinstance(value, dict):
            for key, item in value.items():
                self.report_keys_given_twice(_join(location, key), item)

    def _fault_secret(self, location: str) -> None:
        self._fault(
            location,
            "looks like a secret: secrets come from CARREL_SECRET_<PLUGIN>_<NAME> in the "
            "environment or from a keyring, never from the file",
        )

    def _fault(self, location: str, text: str) -> None:
        self._faults.append(f"{location}: {text}" if location else text)


def _join(location: str, key: str) -> str:
    shown = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else repr(key)
    return f"{location}.{shown}" if location else shown


#: Every key with its full name, for a hint when it is in the wrong table.
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
    if key in _ELSEWHERE:
        return f"; it belongs to {_ELSEWHERE[key]}"
    near = difflib.get_close_matches(key.lower(), known, n=1, cutoff=0.7)
    if near:
        return f"; did you mean {near[0]!r}?"
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
