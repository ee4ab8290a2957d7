"""Reads secrets from the environment or a keyring when a request needs one; does not store them.

A secret belongs to a plugin. The variable `CARREL_SECRET_<PLUGIN>_<NAME>` takes precedence over the
keyring's entry of service `carrel` and user `<plugin>/<name>`, which needs the extra `keyring`.
Some secrets of built-in plugins can also be set by a shorter name, without the plugin's; each of
these names belongs to one plugin, so that no source gets the key of another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from carrel.known_secrets import remember

SERVICE = "carrel"
PREFIX = "CARREL_SECRET_"

#: Variables that other servers for these sources use, by plugin and secret.
_USUAL = {
    ("eutils", "api_key"): "NCBI_API_KEY",
    ("eutils", "contact"): "NCBI_ADMIN_EMAIL",
}

#: The secrets that `CARREL_SECRET_<NAME>` and the keyring's entry `<name>` set. The contact address
#: is the operator's, for every built-in plugin.
_SHORT = frozenset({("eutils", "api_key"), ("opencitations", "access_token")})
_CONTACT = "contact"


class Keyring(Protocol):
    """The part of the `keyring` package that is used."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """Returns the password of a user of a service; None if there is none."""
        ...


def variable(plugin: str, name: str) -> str:
    """Returns the environment variable of a plugin's secret.

    Args:
        plugin: the plugin's name in the configuration.
        name: as its manifest's `secrets` spell it.
    """
    return PREFIX + re.sub(r"[^A-Z0-9]", "_", f"{plugin}_{name}".upper())


def variables(plugin: str, name: str, *, builtin: bool) -> Sequence[str]:
    """Returns the environment variables of a plugin's secret; the first that is set is used."""
    names = [variable(plugin, name)]
    if builtin and _has_short_name(plugin, name):
        names.append(PREFIX + name.upper())
    if builtin and (plugin, name) in _USUAL:
        names.append(_USUAL[plugin, name])
    return names


def _has_short_name(plugin: str, name: str) -> bool:
    return name == _CONTACT or (plugin, name) in _SHORT


def usual_variables() -> Sequence[str]:
    """Returns the variables without Carrel's prefix that set a secret of a built-in plugin."""
    return tuple(_USUAL.values())


def find_secret(
    plugin: str,
    name: str,
    *,
    builtin: bool = False,
    env: Mapping[str, str] | None = None,
    keyring: Keyring | None = None,
) -> str | None:
    """Returns a plugin's secret, or None if it is not set.

    Args:
        plugin: the plugin's name in the configuration.
        name: as its manifest's `secrets` spell it.
        builtin: whether the plugin is built in, so that the shorter names apply too.
        env: the environment; that of the process when None.
        keyring: the installed one when None.
    """
    environment = os.environ if env is None else env
    for variable_name in variables(plugin, name, builtin=builtin):
        value = environment.get(variable_name, "").strip()
        if value:
            remember(value)
            return value
    found = find_keyring_entry(SERVICE, f"{plugin}/{name}", keyring)
    if found is None and builtin and _has_short_name(plugin, name):
        return find_keyring_entry(SERVICE, name, keyring)
    return found


def find_keyring_entry(service: str, user: str, keyring: Keyring | None = None) -> str | None:
    """Returns the keyring's entry for a user of a service; None without an entry or a keyring.

    Args:
        service: the keyring's service name.
        user: the keyring's user name.
        keyring: the installed one when None.
    """
    keyring = keyring or _installed_keyring()
    if keyring is None:
        return None
    try:
        found = keyring.get_password(service, user) or None
    except Exception:  # noqa: BLE001 - backends raise what they like when locked or absent
        return None
    remember(found)
    return found


def _installed_keyring() -> Keyring | None:
    import importlib

    try:
        module: Keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    return module
