"""Says which secrets a plugin's source lacks, and how an operator sets them.

A manifest marks a secret as `required` when the source refuses requests without it. The host does
not ask such a source for lookups and roles while the secret is not set.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from carrel.credentials import variable
from carrel.fetch.identity import CONTACT, SOFTWARE

from .secrets import provided_secrets

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.exchange import Request
    from carrel.plugins.manifests.manifest import Manifest


def missing_requirement(
    config: Config,
    entry: PluginConfig,
    manifest: Manifest,
    *,
    recorded: Iterable[Request] = (),
) -> str | None:
    """Returns which required secret is not set and how to set it; None when none is missing.

    Args:
        config: with the contact address.
        entry: the plugin's, with the grant of secrets.
        manifest: declares the secrets.
        recorded: requests of a recording that is replayed. A replayed request needs no secret, so
            nothing is missing when the recording has requests to the secret's hosts.
    """
    needed = [secret for secret in manifest.raw.get("secrets", ()) if secret.get("required")]
    if not needed:
        return None
    provided = provided_secrets(config, entry, manifest)
    missing = [secret for secret in needed if not provided.get(secret["name"])]
    if not missing or _has_request(
        recorded, {host for secret in missing for host in secret["hosts"]}
    ):
        return None
    return "; ".join(_how_to_set(secret, entry) for secret in missing)


def unset_keys(config: Config, entry: PluginConfig, manifest: Manifest) -> tuple[str, ...]:
    """Returns how to set each key that raises the source's limits and is not set.

    The contact address and the software's name are no keys.
    """
    declared = [
        secret
        for secret in manifest.raw.get("secrets", ())
        if secret["name"] not in (CONTACT, SOFTWARE)
    ]
    if not declared:
        return ()
    provided = provided_secrets(config, entry, manifest)
    return tuple(
        _how_to_set(secret, entry) for secret in declared if not provided.get(secret["name"])
    )


def _how_to_set(secret: Mapping[str, Any], entry: PluginConfig) -> str:
    name = secret["name"]
    if name == CONTACT:
        advice = "an e-mail address is not set; set fetch.contact or CARREL_CONTACT"
    else:
        advice = f"{name} is not set; set {variable(entry.name, name)}"
    if not entry.grants_secret(name):
        advice += (
            f" and grant it: plugins.{entry.name}.runtime_config.secrets += {json.dumps(name)}"
        )
    purpose = secret.get("description", "").rstrip(".")
    return f"{advice} ({purpose})" if purpose else advice


def _has_request(requests: Iterable[Request], hosts: Collection[str]) -> bool:
    from urllib.parse import urlsplit

    return any(urlsplit(request.url).hostname in hosts for request in requests)
