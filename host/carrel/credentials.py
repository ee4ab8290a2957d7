"""Secrets: found in the environment or a keyring when a request needs one, kept nowhere.

A secret belongs to a plugin: `CARREL_SECRET_<PLUGIN>_<NAME>` wins; otherwise it is the keyring's
entry of the service `carrel` and the user `<plugin>/<name>`, when the extra `keyring` is installed.
The built-in plugins' may also be set by shorter names, which no other plugin is given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

SERVICE = "carrel"
PREFIX = "CARREL_SECRET_"

#: Variables that those who ran a source's own server have set already, by plugin and secret.
_USUAL = {
    ("eutils", "api_key"): "NCBI_API_KEY",
    ("eutils", "contact"): "NCBI_ADMIN_EMAIL",
}


class Keyring(Protocol):
    """What is asked of the `keyring` package."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """The password kept for a user of a service; None when there is none."""
        ...


def variable(plugin: str, name: str) -> str:
    """The environment variable of a plugin's secret.

    Args:
        plugin: the plugin's name in the configuration.
        name: as its manifest's `secrets` spell it.
    """
    return PREFIX + re.sub(r"[^A-Z0-9]", "_", f"{plugin}_{name}".upper())


def variables(plugin: str, name: str, *, builtin: bool) -> Sequence[str]:
    """Every environment variable that sets a plugin's secret; the first that is set wins."""
    names = [variable(plugin, name)]
    if builtin:
        names.append(PREFIX + name.upper())
        if (plugin, name) in _USUAL:
            names.append(_USUAL[plugin, name])
    return names


def usual_variables() -> Sequence[str]:
    """The variables without a prefix of Carrel's that set a secret of a built-in plugin."""
    return tuple(_USUAL.values())


def find_secret(
    plugin: str,
    name: str,
    *,
    builtin: bool = False,
    env: Mapping[str, str] | None = None,
    keyring: Keyring | None = None,
) -> str | None:
    """A plugin's secret, or None when nobody set it.

    Args:
        plugin: the plugin's name in the configuration.
        name: as its manifest's `secrets` spell it.
        builtin: whether the plugin is built in, and goes by the shorter names too.
        env: the environment; the process's own when None.
        keyring: the installed one when None.
    """
    environment = os.environ if env is None else env
    for one in variables(plugin, name, builtin=builtin):
        value = environment.get(one, "").strip()
        if value:
            return value
    found = find_keyring_entry(SERVICE, f"{plugin}/{name}", keyring)
    return find_keyring_entry(SERVICE, name, keyring) if found is None and builtin else found


def find_keyring_entry(service: str, user: str, keyring: Keyring | None = None) -> str | None:
    """The keyring's entry for a user of a service; None when there is none, or no keyring.

    Args:
        service: as the keyring calls it.
        user: likewise.
        keyring: the installed one when None.
    """
    keyring = keyring or _installed_keyring()
    if keyring is None:
        return None
    try:
        return keyring.get_password(service, user) or None
    except Exception:  # noqa: BLE001 - backends raise what they like when locked or absent
        return None


def _installed_keyring() -> Keyring | None:
    import importlib

    try:
        module: Keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    return module
