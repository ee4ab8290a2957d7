"""The configuration of Carrel: `Config`, and `load_config`, which reads it.

`load_config` takes the first file of `--config`, `CARREL_CONFIG` and `carrel.toml` or `carrel.json`
in the user's configuration directory, lays the environment over it, and reports every fault at
once. Without a file the defaults of `model` hold: the built-in plugins are on and may reach the
hosts that their own manifests declare.

`document` decodes a file into plain values, `hyper_mcp` translates one of hyper-mcp's, and `file`
checks its tables by the `rules` of the settings, which are built from those of plain `values`. None
of these is imported when there is no file.

Secrets are not configuration: `credentials` finds them in the environment or a keyring.
"""

from __future__ import annotations

from .load import (
    AGREEMENTS,
    ENVIRONMENT,
    FILE_NAMES,
    TOOL_IDENTIFIER,
    Examined,
    examine_config,
    find_file,
    load_config,
    possible_files,
)
from .model import (
    BUILTIN_PLUGINS,
    DEFAULT_PLUGINS,
    READING_PLUGINS,
    SEARCH_PLUGINS,
    Config,
    DocumentsConfig,
    FetchConfig,
    HttpConfig,
    IdentityConfig,
    LibraryConfig,
    PapersConfig,
    RegistryConfig,
    RuntimeConfig,
    ScopeGrant,
    ServerConfig,
    WebConfig,
    builtin,
)
from .plugin import Overrides, PaceGrant, PluginConfig

__all__ = [
    "AGREEMENTS",
    "BUILTIN_PLUGINS",
    "DEFAULT_PLUGINS",
    "ENVIRONMENT",
    "FILE_NAMES",
    "READING_PLUGINS",
    "SEARCH_PLUGINS",
    "TOOL_IDENTIFIER",
    "Config",
    "DocumentsConfig",
    "Examined",
    "FetchConfig",
    "HttpConfig",
    "IdentityConfig",
    "LibraryConfig",
    "Overrides",
    "PaceGrant",
    "PapersConfig",
    "PluginConfig",
    "RegistryConfig",
    "RuntimeConfig",
    "ScopeGrant",
    "ServerConfig",
    "WebConfig",
    "builtin",
    "examine_config",
    "find_file",
    "load_config",
    "possible_files",
]
