"""Finds the secrets that a plugin's manifest names and the operator's grant covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.credentials import find_secret
from carrel.fetch.identity import CONTACT, SOFTWARE, software

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.plugins.manifests.manifest import Manifest


def provided_secrets(config: Config, entry: PluginConfig, manifest: Manifest) -> dict[str, str]:
    """Returns the secrets that the manifest names and the grant covers; empty if one is not set."""
    granted = [name for name in manifest.secrets if entry.grants_secret(name)]
    provided = {
        name: find_secret(entry.name, name, builtin=entry.is_builtin) or "" for name in granted
    }
    if CONTACT in granted and config.fetch.contact:
        provided[CONTACT] = config.fetch.contact
    if SOFTWARE in granted:
        provided[SOFTWARE] = str(entry.settings.get(SOFTWARE) or software())
    return provided
