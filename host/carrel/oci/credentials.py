"""Reads credentials for a registry, from `docker login` and its helpers.

Reads `config.json` in Docker's folder: `credHelpers` for this registry, else `credsStore`; without
a helper, or when it has nothing, `auths`. A helper is the program `docker-credential-NAME`; it is
run for this registry only.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from carrel.errors import RegistryError

#: Docker Hub's credentials are under the address of its first version.
_DOCKER_HUB = "https://index.docker.io/v1/"
_DOCKER_HUB_HOSTS = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})

_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: A helper's output when it has nothing, in Docker's wording.
_NOTHING = "credentials not found"
_IDENTITY = "<token>"
_MAX_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential for one registry.

    Attributes:
        identity_token: a refresh token to be exchanged at the realm; empty for user and password.
        registry_token: a bearer token to be sent as it is.
    """

    user: str = ""
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)
    registry_token: str = field(default="", repr=False)

    @property
    def basic(self) -> str:
        """The value of a Basic Authorization header."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


def find_credential(host: str, folder: Path, *, helper_seconds: float) -> Credential | None:
    """Returns the credential that Docker's configuration has for a registry, or None.

    Args:
        host: the registry as references name it.
        folder: Docker's configuration folder.
        helper_seconds: how long a helper may take.

    Raises:
        RegistryError: the configuration cannot be read, or a helper failed.
    """
    path = folder / "config.json"
    config = _read_config(path)
    keys = _keys(host)
    helpers = config.get("credHelpers")
    helper = config.get("credsStore")
    if isinstance(helpers, dict):
        helper = next((helpers[key] for key in keys if helpers.get(key)), helper)
    if isinstance(helper, str) and helper:
        found = _ask_helper(helper, keys[0], path, helper_seconds)
        if found is not None:
            return found
    auths = config.get("auths")
    return _from_auths(auths if isinstance(auths, dict) else {}, keys, path)


def _keys(host: str) -> tuple[str, ...]:
    """Returns the names that a registry may have in the configuration, the usual one first."""
    if host in _DOCKER_HUB_HOSTS:
        return (_DOCKER_HUB, "docker.io", "index.docker.io", "registry-1.docker.io")
    return (
        host,
        f"https://{host}",
        f"https://{host}/",
        f"https://{host}/v1/",
        f"https://{host}/v2/",
        f"http://{host}",
    )


def _read_config(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            config = json.loads(file.read(_MAX_BYTES).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as fault:
        reason = fault.strerror
        raise RegistryError(f"Docker's configuration {path} cannot be read: {reason}") from fault
    except (ValueError, RecursionError) as fault:
        raise RegistryError(f"Docker's configuration {path} is not JSON; correct it") from fault
    return config if isinstance(config, dict) else {}


def _from_auths(auths: Mapping[str, Any], keys: tuple[str, ...], path: Path) -> Credential | None:
    for key in keys:
        entry = auths.get(key)
        if not isinstance(entry, dict):
            continue
        user, password = _text(entry, "username"), _text(entry, "password")
        if _text(entry, "auth"):
            try:
                pair = base64.b64decode(_text(entry, "auth"), validate=True).decode("utf-8")
            except ValueError as fault:
                raise RegistryError(
                    f"Docker's configuration {path} has an auth for {key} that is not base64; "
                    "log in again with `docker login`"
                ) from fault
            user, _, password = pair.partition(":")
            password = password.rstrip("\0")
        found = Credential(
            user, password, _text(entry, "identitytoken"), _text(entry, "registrytoken")
        )
        if found != Credential():
            return found
    return None


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _ask_helper(helper: str, server: str, path: Path, seconds: float) -> Credential | None:
    if not _HELPER.fullmatch(helper):
        raise RegistryError(f"Docker's configuration {path} names an invalid helper")
    program = f"docker-credential-{helper}"
    try:
        done = subprocess.run(  # noqa: S603 -- the user's own helper, by Docker's own rule
            [program, "get"],
            input=server.encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except OSError as fault:
        raise RegistryError(
            f"the credential helper {program}, which {path} names, cannot be started: "
            f"{fault.strerror}; install it or take it out"
        ) from fault
    except subprocess.TimeoutExpired as fault:
        raise RegistryError(
            f"the credential helper {program} did not answer within {seconds:g} s"
        ) from fault
    if done.returncode != 0:
        # Its output may contain a secret; only Docker's own sentence is looked for.
        if _NOTHING in (done.stdout + done.stderr).decode("utf-8", "replace"):
            return None
        raise RegistryError(f"the credential helper {program} failed with exit {done.returncode}")
    try:
        answer = json.loads(done.stdout[:_MAX_BYTES].decode("utf-8"))
        user, secret = answer["Username"], answer["Secret"]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        message = f"the credential helper {program} returned invalid credentials"
        raise RegistryError(message) from fault
    if user == _IDENTITY:
        return Credential(identity_token=str(secret))
    return Credential(str(user), str(secret))
