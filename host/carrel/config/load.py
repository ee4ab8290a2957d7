"""Loads the configuration: finds the file, lays the environment over it, reports every fault."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from carrel.errors import ConfigError
from carrel.files.folders import expand, user_dir

from .model import (
    DEFAULT_PLUGINS,
    Config,
    DocumentsConfig,
    FetchConfig,
    HttpConfig,
    IdentityConfig,
    LibraryConfig,
    PapersConfig,
    RuntimeConfig,
    ServerConfig,
    WebConfig,
    builtin,
)
from .plugin import PluginConfig

#: The names a configuration file has in the user's configuration directory, the first one wins.
FILE_NAMES = ("carrel.toml", "carrel.json", "carrel.yaml", "carrel.yml")

#: environment variable → the setting it sets; each wins over the file.
ENVIRONMENT: Mapping[str, str] = {
    "CARREL_CACHE_DIR": "cache_dir",
    "CARREL_DATA_DIR": "data_dir",
    "CARREL_RECORD_DIR": "record_dir",
    "CARREL_REPLAY_DIR": "replay_dir",
    "CARREL_STORE": "store",
    "CARREL_PAPERS_FOLDER": "papers.folder",
    "CARREL_LIBRARY": "library.file",
    "CARREL_CONTACT": "fetch.contact",
    "CARREL_CA_BUNDLE": "fetch.ca_bundle",
    "CARREL_LOG_LEVEL": "server.log_level",
    "CARREL_TEXT": "server.text",
    "CARREL_WEB_KEY_FILE": "web.key_file",
}

#: publisher → the variable that says that the operator has agreed to its terms for text mining.
AGREEMENTS: Mapping[str, str] = {
    name: f"CARREL_TDM_{name.upper()}_AGREED" for name in ("elsevier", "aps", "springer")
}

#: The variable that sets the parameter `tool` for NCBI: `software` in the settings of the built-in
#: eutils.
TOOL_IDENTIFIER = "NCBI_TOOL_IDENTIFIER"


@dataclass(frozen=True, slots=True)
class Examined:
    """A configuration and its faults.

    Attributes:
        config: without the values that are wrong; None if the file cannot be read at all.
        faults: one sentence each, with its place.
        path: the file; None without one.
    """

    config: Config | None
    faults: tuple[str, ...]
    path: str | None


def load_config(path: Path | None = None, env: Mapping[str, str] | None = None) -> Config:
    """Loads the configuration from `path`, from where the environment says, or the defaults.

    Args:
        path: a file that must exist; None looks at `CARREL_CONFIG`, then in the user's directory.
        env: the environment; the process's own when None. Blank variables count as unset.

    Raises:
        ConfigError: with every fault of the file and of the environment, each with its place.
    """
    examined = examine_config(path, env)
    if examined.faults or examined.config is None:
        raise ConfigError(examined.faults, path=examined.path)
    return examined.config


def examine_config(path: Path | None = None, env: Mapping[str, str] | None = None) -> Examined:
    """Returns the configuration without what is wrong in it, and every fault; see `load_config`."""
    env = os.environ if env is None else env
    faults: list[str] = []
    found = path or find_file(env)
    values: dict[str, Any] = {}
    if found is not None:
        from .file import read_file

        try:
            values = read_file(found, faults, env)
        except ConfigError as error:
            return Examined(None, error.faults, error.path)
    _lay_environment_over(values, env, faults)
    if values.get("store") is not None:
        from .store import add_password

        add_password(values, env, faults)
    named = _software(env, faults)
    for kind in ("cache", "data"):
        if f"{kind}_dir" not in values:
            try:
                values[f"{kind}_dir"] = user_dir(kind, env)
            except RuntimeError:
                faults.append(f"{kind}_dir: no home directory; set CARREL_{kind.upper()}_DIR")
    if values.get("record_dir") and values.get("replay_dir"):
        faults.append("record_dir, replay_dir: recording and replaying exclude each other")
    has_folders = {"cache_dir", "data_dir"} <= values.keys()
    config = _build(values, found, named) if has_folders else None
    return Examined(config, tuple(faults), str(found) if found else None)


def find_file(env: Mapping[str, str]) -> Path | None:
    """Finds the file that `CARREL_CONFIG` names, or the one in the user's directory.

    `CARREL_CONFIG` is returned even if it names nothing: that is a fault to report, not to pass
    over.
    """
    named = env.get("CARREL_CONFIG", "").strip()
    if named:
        return expand(named, Path.cwd())
    # os.path.lexists sees a dangling link, which is then reported instead of ignored.
    return next((path for path in possible_files(env) if os.path.lexists(path)), None)


def possible_files(env: Mapping[str, str]) -> list[Path]:
    """Lists the possible files in the user's directory; the first existing one is read."""
    try:
        folder = user_dir("config", env)
    except RuntimeError:
        return []
    return [folder / name for name in FILE_NAMES]


def _lay_environment_over(
    values: dict[str, Any], env: Mapping[str, str], faults: list[str]
) -> None:
    for variable, setting in ENVIRONMENT.items():
        text = env.get(variable, "").strip()
        if not text:
            continue
        from .rules import RULES

        section, _, key = setting.rpartition(".")
        try:
            value = RULES[section][key](text, Path.cwd())
        except ValueError as error:
            faults.append(f"{variable} (environment): {error}")
            continue
        target = values.setdefault(section, {}) if section else values
        target[key] = value
        # A folder named for this run replaces the opposite one that the file names.
        opposite = {"record_dir": "replay_dir", "replay_dir": "record_dir"}.get(key)
        if opposite and not env.get(f"CARREL_{opposite.upper()}", "").strip():
            values.pop(opposite, None)


def _software(env: Mapping[str, str], faults: list[str]) -> str:
    """Returns `NCBI_TOOL_IDENTIFIER`; empty when it is not set."""
    text = env.get(TOOL_IDENTIFIER, "").strip()
    if not (len(text) <= 100 and text.isascii() and text.isprintable() and " " not in text):
        faults.append(
            f"{TOOL_IDENTIFIER} (environment): expected a name without blanks, such as "
            "my-server/1.0: at most 100 printable characters of ASCII"
        )
    return text


def _build(values: Mapping[str, Any], source: Path | None, software: str) -> Config:
    configured: Sequence[PluginConfig] = values.get("plugins", ())
    names = {plugin.name for plugin in configured}
    defaults = tuple(builtin(name) for name in DEFAULT_PLUGINS if name not in names)
    plugins = (*defaults, *configured)
    if software:
        plugins = tuple(
            replace(plugin, settings={**plugin.settings, "software": software})
            if plugin.is_builtin and plugin.name == "eutils"
            else plugin
            for plugin in plugins
        )
    plain = ("record_dir", "replay_dir", "limits", "trust", "registries", "store", "warnings")
    rest = {key: values[key] for key in plain if key in values}
    return Config(
        cache_dir=values["cache_dir"],
        data_dir=values["data_dir"],
        plugins=plugins,
        fetch=FetchConfig(**values.get("fetch", {})),
        runtime=RuntimeConfig(**values.get("runtime", {})),
        server=ServerConfig(**values.get("server", {})),
        http=HttpConfig(**values.get("http", {})),
        identity=IdentityConfig(**values.get("identity", {})),
        documents=DocumentsConfig(**values.get("documents", {})),
        papers=PapersConfig(**values.get("papers", {})),
        library=LibraryConfig(**values.get("library", {})),
        web=WebConfig(**values.get("web", {})),
        source_path=source,
        unnamed=tuple(plugin.name for plugin in defaults),
        **rest,
    )
