"""Decides where the files of a principal are, and what its configuration is."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from carrel.config import READING_PLUGINS
from carrel.errors import StorageError

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.principal import Principal
    from carrel.tools import Toolbox

_SHOWN: Final = 32
_DIGITS: Final = 32


def folder_name(name: str) -> str:
    """Returns the folder name of a principal: readable, and different for different names.

    The readable part has lower-case letters, digits and hyphens, so that no name leads out of the
    folder, is reserved by a file system, or differs from another in case or form only; 128 bits of
    SHA-256 make it unique.
    """
    shown = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_SHOWN].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{shown or 'principal'}-{digest}"


def principals_folder(config: Config) -> Path:
    """Returns the folder with a folder for each principal."""
    return config.identity.folder or config.data_dir / "principals"


def toolbox_of(server: Toolbox, principal: Principal) -> Toolbox:
    """Returns the toolbox of a principal, derived from that of the server.

    Raises:
        StorageError: its folder cannot be created.
    """
    return server.restricted(config_of(server.config, principal), principal.toolsets)


def config_of(config: Config, principal: Principal) -> Config:
    """Returns the configuration of a principal: its own folders, and the plugins that it may use.

    It creates the principal's folder. The response cache is shared, because it has public documents
    only: it belongs to the plugins. What features keep in `cache_dir`, such as indexes of a library
    and of papers, is the principal's.

    Raises:
        StorageError: the folder cannot be created.
    """
    folder = principals_folder(config) / folder_name(principal.name)
    try:
        # The names of the folders are those of people, so nobody else may list them.
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StorageError(str(folder), str(error.strerror or error)) from error
    library, papers, web = config.library, config.papers, config.web
    if library.file is not None:
        file = folder / f"library{library.file.suffix.lower() or '.json'}"
        library = library._replace(file=file, attachments=folder / "attachments")
    papers = papers._replace(
        folder=None if papers.folder is None else folder / "papers",
        log_folder=folder / "provenance",
    )
    if principal.plugins is not None:
        # Without its entry, a built-in provider would be one that needs none.
        web = web._replace(
            search=tuple(provider for provider in web.search if provider in principal.plugins)
        )
    return replace(
        config,
        cache_dir=folder / "cache",
        data_dir=folder,
        plugins=tuple(plugin for plugin in config.plugins if _is_kept(plugin, principal)),
        library=library,
        papers=papers,
        web=web,
        warnings=(),
    )


def _is_kept(plugin: PluginConfig, principal: Principal) -> bool:
    """Returns whether an entry stays.

    A reader without an entry is one that tools of the host use and clients do not see. So the entry
    of a reader stays only if it is off, or its tools may be used.
    """
    if principal.plugins is None or plugin.name in principal.plugins:
        return True
    return plugin.name in READING_PLUGINS and not plugin.enabled
