"""Settings for reaching registries, with every default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


def docker_folder(env: Mapping[str, str] | None = None) -> Path:
    """Docker's configuration folder: `DOCKER_CONFIG`, else `~/.docker`."""
    folder = (os.environ if env is None else env).get("DOCKER_CONFIG")
    return Path(folder) if folder else Path("~/.docker").expanduser()


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """How to reach registries.

    Hosts are written as in a reference: with the port where it is not the scheme's own.

    Attributes:
        plain_http_hosts: registries that speak http; they may be on private addresses too.
        private_hosts: registries that may be on private addresses, and the realms and blob stores
            there that they may point to.
        realm_hosts: pairs of a registry and another host that its credentials may be sent to for a
            token, besides those that are known; it may be private, and speak http, where the
            registry may.
        ca_bundle: a PEM file of certificate authorities trusted besides the system's.
        docker_config: the folder with Docker's `config.json`, where credentials come from.
        connect_seconds: for connecting, TLS handshake included.
        read_seconds: for which a registry may be silent.
        total_seconds: for one whole response.
        retries: further attempts after a 429, a 5xx or a broken connection.
        retry_after_max_seconds: the longest `Retry-After` that is respected.
        max_redirects: redirects that one request may follow.
        max_document_bytes: the largest manifest, index or token answer that is read.
        max_referrers: the most manifests about one manifest that are read.
        chunk_bytes: the size of a chunk where a registry wants an upload in chunks.
        helper_seconds: how long a credential helper may take.
    """

    plain_http_hosts: frozenset[str] = frozenset()
    private_hosts: frozenset[str] = frozenset()
    realm_hosts: frozenset[tuple[str, str]] = frozenset()
    ca_bundle: Path | None = None
    docker_config: Path = field(default_factory=docker_folder)
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    total_seconds: float = 600.0
    retries: int = 3
    retry_after_max_seconds: float = 30.0
    max_redirects: int = 5
    max_document_bytes: int = 4 * 2**20
    max_referrers: int = 512
    chunk_bytes: int = 5 * 2**20
    helper_seconds: float = 30.0
