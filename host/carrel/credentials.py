"""Secrets: found in the environment or a keyring when a request needs one, kept nowhere.

`CARREL_SECRET_<NAME>` wins; otherwise the keyring's entry of the service `carrel` and the user
name `<name>`, when the extra `keyring` is installed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

SERVICE = "carrel"
PREFIX = "CARREL_SECRET_"


class Keyring(Protocol):
    """What is asked of the `keyring` package."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """The password kept for a user of a service; None when there is none."""
        ...


def variable(name: str) -> str:
    """The environment variable of the secret that manifests call `name`."""
    return PREFIX + name.upper()


def find_secret(
    name: str, env: Mapping[str, str] | None = None, keyring: Keyring | None = None
) -> str | None:
    """The secret called `name`, or None when nobody set it.

    Args:
        name: as a manifest's `secrets` spell it.
        env: the environment; the process's own when None.
        keyring: the installed one when None.
    """
    value = (os.environ if env is None else env).get(variable(name), "").strip()
    if value:
        return value
    return find_keyring_entry(SERVICE, name, keyring)


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
