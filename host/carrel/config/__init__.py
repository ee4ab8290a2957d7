"""The configuration: one frozen dataclass per concern, with every default in this file.

`load_config` takes the first file of `--config`, `CARREL_CONFIG` and `carrel.toml` or `carrel.json`
in the user's configuration directory, lays the environment over it, and reports every fault at
once. Without a file the defaults below hold: the built-in plugins are on and may reach the hosts
that their own manifests declare.

A file's way: `document` makes plain values of its bytes, `hyper_mcp` translates one of hyper-mcp's,
`file` checks its tables by the `rules` of the settings, which are made of those of plain `values`.
None of these is imported when there is no file; `plugin`, one entry of the `plugins` table, always
is.

Secrets are not configuration: `credentials` finds them in the environment or a keyring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import ConfigError
from carrel.files.folders import expand, user_dir

from .plugin import Overrides, PaceGrant, PluginConfig

if TYPE_CHECKING:
    from carrel.exchange import Limits
    from carrel.trust.policy import TrustPolicy

__all__ = [
    "BUILTIN_PLUGINS",
    "DEFAULT_PLUGINS",
    "ENVIRONMENT",
    "FILE_NAMES",
    "TOOL_IDENTIFIER",
    "Config",
    "FetchConfig",
    "Overrides",
    "PaceGrant",
    "PluginConfig",
    "RegistryConfig",
    "RuntimeConfig",
    "ServerConfig",
    "builtin",
    "find_file",
    "load_config",
    "possible_files",
]

#: The plugins that come with Carrel; `builtin:NAME` in a plugin's `url` means one of them.
BUILTIN_PLUGINS: tuple[str, ...] = ("arxiv", "crossref", "eutils", "jats")

#: Those of them that are on without an entry in the configuration.
DEFAULT_PLUGINS: tuple[str, ...] = ("arxiv", "crossref", "eutils")

#: The names a configuration file has in the user's configuration directory, the first one wins.
FILE_NAMES = ("carrel.toml", "carrel.json", "carrel.yaml", "carrel.yml")

#: environment variable → the setting it sets; each wins over the file.
ENVIRONMENT: Mapping[str, str] = {
    "CARREL_CACHE_DIR": "cache_dir",
    "CARREL_DATA_DIR": "data_dir",
    "CARREL_RECORD_DIR": "record_dir",
    "CARREL_REPLAY_DIR": "replay_dir",
    "CARREL_CONTACT": "fetch.contact",
    "CARREL_CA_BUNDLE": "fetch.ca_bundle",
    "CARREL_LOG_LEVEL": "server.log_level",
    "CARREL_TEXT": "server.text",
}

#: The variable that sets what NCBI is told as `tool`: `software` among the settings of the built-in
#: eutils.
TOOL_IDENTIFIER = "NCBI_TOOL_IDENTIFIER"


@dataclass(frozen=True, slots=True)
class RegistryConfig:
    """How one registry is reached.

    Attributes:
        plain_http: whether it speaks HTTP without TLS, on an address of any kind.
        private: whether it may be on a private address.
        realms: further hosts that its credentials may be sent to for a token.
        ca_bundle: a PEM file of certificate authorities trusted besides the system's.
    """

    plain_http: bool = False
    private: bool = False
    realms: tuple[str, ...] = ()
    ca_bundle: Path | None = None


@dataclass(frozen=True, slots=True)
class FetchConfig:
    """How upstreams are reached.

    Attributes:
        contact: the address that upstreams may write to, sent to those who ask for one.
            Default: none. It stays out of logs, so it stays out of this object's repr.
        connect_seconds: seconds until a connection must stand, TLS included. Default: 10.
        read_seconds: seconds that an upstream may stay silent. Default: 30.
        max_redirects: redirects that one request may follow. Default: 5.
        retries: further attempts after a 429, a 5xx or a broken connection. Default: 2.
        ca_bundle: a PEM file of certificate authorities trusted besides the system's.
            Default: none.
        cache_max_bytes: bytes of answers kept on disk; 0 keeps none. Default: 512 MiB.
        store: what holds cache and pace: `sqlite`, in the cache directory. Default: `sqlite`.
    """

    contact: str | None = field(default=None, repr=False)
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    max_redirects: int = 5
    retries: int = 2
    ca_bundle: Path | None = None
    cache_max_bytes: int = 512 * 2**20
    store: str = "sqlite"


@dataclass(frozen=True, slots=True)
class RuntimeConfig:
    """How components are compiled and run.

    Attributes:
        workers: calls of one plugin that run or wait for an upstream at once; further ones wait in
            the queue. Default: 16, because most of a call's time is waiting for an upstream.
        result_bytes: bytes of each plugin's results that are kept in memory, to be given again
            while the cached answers they were made of stand; 0 keeps none. Default: 8 MiB.
        max_component_bytes: bytes of the largest component that is compiled. Default: 64 MiB.
        compile_seconds: processor seconds that compiling one component may take. Default: 120.
        compile_memory_bytes: bytes of memory that compiling one component may take.
            Default: 4 GiB.
    """

    workers: int = 16
    result_bytes: int = 8 * 2**20
    max_component_bytes: int = 64 * 2**20
    compile_seconds: float = 120.0
    compile_memory_bytes: int = 4 * 2**30


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """What the MCP server takes from a client.

    Attributes:
        max_line_bytes: bytes of the longest message. Default: 4 MiB.
        max_in_flight: requests that may be unanswered at once. Default: 1,024.
        calls_per_second: tool calls per second in the long run; quicker ones wait their turn.
            Default: 1,000.
        burst: tool calls that may come at once after a rest. Default: 5,000.
        patience_seconds: longest wait for a turn; a call that would wait longer is refused as
            `busy`. Default: 5.
        shutdown_seconds: seconds from the end of input to the end of the process. Default: 5.
        log_level: `debug`, `info`, `warning`, `error` or `critical`, on stderr.
            Default: `warning`.
        text: how results are written as text: `json`, or `compact` for clients that show the text
            to a model. Default: `json`.
    """

    max_line_bytes: int = 4 * 2**20
    max_in_flight: int = 1024
    calls_per_second: float = 1000.0
    burst: int = 5000
    patience_seconds: float = 5.0
    shutdown_seconds: float = 5.0
    log_level: str = "warning"
    text: str = "json"


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set.

    Attributes:
        plugins: the `plugins` table, built-in plugins first. A built-in plugin without an entry of
            its own is on.
        fetch: how upstreams are reached.
        runtime: how components are compiled and run.
        server: what the MCP server takes from a client.
        limits: the top-level `limits` table: overrides of `carrel.exchange.Limits` for all plugins.
        cache_dir: folder for compiled components and answers; may be deleted at any time.
        data_dir: folder for what is meant to stay.
        record_dir: folder that every exchange with an upstream is written to. Default: none.
        replay_dir: folder that answers come from instead of upstreams. Default: none.
        refresh: pass the cache by, for one run of the command line; no setting of the file.
        with_lock: hold plugins against `carrel.lock`; off for a file that a command is given, which
            has nothing to do with a configured plugin of the same name. No setting of the file.
        trust: whose signature plugins from registries have to carry; None asks for none.
        registries: `HOST[:PORT]` → how that registry is reached.
        source_path: the file this came from; None when there was none.
        warnings: what the file asks for and Carrel does not offer, for a person.
    """

    cache_dir: Path
    data_dir: Path
    plugins: tuple[PluginConfig, ...] = ()
    fetch: FetchConfig = FetchConfig()
    runtime: RuntimeConfig = RuntimeConfig()
    server: ServerConfig = ServerConfig()
    limits: Overrides = field(default_factory=dict)
    record_dir: Path | None = None
    replay_dir: Path | None = None
    refresh: bool = False
    with_lock: bool = True
    trust: TrustPolicy | None = None
    registries: Mapping[str, RegistryConfig] = field(default_factory=dict)
    source_path: Path | None = None
    warnings: tuple[str, ...] = ()

    @property
    def lock_path(self) -> Path:
        """Where what was approved is written down: beside the file, else in the data folder."""
        folder = self.source_path.absolute().parent if self.source_path else self.data_dir
        return folder / "carrel.lock"

    def trust_for(self, name: str) -> TrustPolicy | None:
        """Whose signature the plugin `name` has to carry; None asks for none."""
        plugin = self.plugin(name)
        return self.trust if plugin is None or plugin.trust is None else plugin.trust

    def plugin(self, name: str) -> PluginConfig | None:
        """The entry called `name`, enabled or not."""
        return next((plugin for plugin in self.plugins if plugin.name == name), None)

    def limits_for(self, name: str) -> Limits:
        """The limits of a call to the plugin `name`: defaults, top-level table, its own entry."""
        from carrel.exchange import Limits

        plugin = self.plugin(name)
        return Limits(**{**self.limits, **(plugin.limits if plugin else {})})  # type: ignore[arg-type]


def load_config(path: Path | None = None, env: Mapping[str, str] | None = None) -> Config:
    """The configuration from `path`, or from where the environment says, or the defaults.

    Args:
        path: a file that must exist; None looks at `CARREL_CONFIG`, then in the user's directory.
        env: the environment; the process's own when None. Blank variables count as unset.

    Raises:
        ConfigError: with every fault of the file and of the environment, each with its place.
    """
    env = os.environ if env is None else env
    faults: list[str] = []
    found = path or find_file(env)
    values: dict[str, Any] = {}
    if found is not None:
        from .file import read_file

        values = read_file(found, faults, env)
    _lay_environment_over(values, env, faults)
    named = _software(env, faults)
    for kind in ("cache", "data"):
        if f"{kind}_dir" not in values:
            try:
                values[f"{kind}_dir"] = user_dir(kind, env)
            except RuntimeError:
                faults.append(f"{kind}_dir: no home directory; set CARREL_{kind.upper()}_DIR")
    if values.get("record_dir") and values.get("replay_dir"):
        faults.append("record_dir, replay_dir: recording and replaying exclude each other")
    if faults:
        raise ConfigError(faults, path=str(found) if found else None)
    return _build(values, found, named)


def find_file(env: Mapping[str, str]) -> Path | None:
    """The configuration file that `CARREL_CONFIG` names or the user's directory holds.

    `CARREL_CONFIG` is returned even if it names nothing: that is a fault to report, not to pass
    over.
    """
    named = env.get("CARREL_CONFIG", "").strip()
    if named:
        return expand(named, Path.cwd())
    # os.path.lexists sees a dangling link, which is then reported instead of ignored.
    return next((one for one in possible_files(env) if os.path.lexists(one)), None)


def possible_files(env: Mapping[str, str]) -> list[Path]:
    """The files of the user's directory that are read if they are there, the first one wins."""
    try:
        folder = user_dir("config", env)
    except RuntimeError:
        return []
    return [folder / name for name in FILE_NAMES]


def builtin(name: str, **changes: Any) -> PluginConfig:
    """The entry of a built-in plugin: on, with the hosts of its own manifest."""
    return PluginConfig(
        **{"name": name, "url": f"builtin:{name}", "allowed_hosts": None, **changes}
    )


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
    """What `NCBI_TOOL_IDENTIFIER` says; empty when it is not set."""
    text = env.get(TOOL_IDENTIFIER, "").strip()
    if not (len(text) <= 100 and text.isascii() and text.isprintable() and " " not in text):
        faults.append(
            f"{TOOL_IDENTIFIER} (environment): expected a name without blanks, such as "
            "my-server/1.0: at most 100 printable characters of ASCII"
        )
    return text


def _build(values: Mapping[str, Any], source: Path | None, software: str) -> Config:
    given: Sequence[PluginConfig] = values.get("plugins", ())
    names = {plugin.name for plugin in given}
    defaults = tuple(builtin(name) for name in DEFAULT_PLUGINS if name not in names)
    plugins = (*defaults, *given)
    if software:
        plugins = tuple(
            replace(one, settings={**one.settings, "software": software})
            if one.is_builtin and one.name == "eutils"
            else one
            for one in plugins
        )
    plain = ("record_dir", "replay_dir", "limits", "trust", "registries", "warnings")
    rest = {key: values[key] for key in plain if key in values}
    return Config(
        cache_dir=values["cache_dir"],
        data_dir=values["data_dir"],
        plugins=plugins,
        fetch=FetchConfig(**values.get("fetch", {})),
        runtime=RuntimeConfig(**values.get("runtime", {})),
        server=ServerConfig(**values.get("server", {})),
        source_path=source,
        **rest,
    )
