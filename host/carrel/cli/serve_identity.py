"""Opens the identity of `carrel serve --http` with the parts that the server does not import."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.server.http import Address
    from carrel.server.identity.allowances import Counters
    from carrel.server.identity.opening import TokenIdentity


def identity_of(config: Config, address: Address) -> TokenIdentity | None:
    """Returns who may use the server; None without identity, which only loopback allows.

    Raises:
        ConfigError: the identity is missing or incomplete.
    """
    from carrel.features import FEATURES
    from carrel.fetch.small_document import SmallDocumentFetcher
    from carrel.server.identity.opening import open_identity

    settings = config.identity
    fetcher = SmallDocumentFetcher(
        ca_bundle=settings.ca_bundle or config.fetch.ca_bundle,
        plain_http=settings.plain_http,
        private=settings.private,
    )
    return open_identity(
        config,
        os.environ,
        address=address.url(address.port),
        is_local=address.is_loopback,
        toolsets=[feature.name for feature in FEATURES if feature.tools or feature.resources],
        download=fetcher.get,
        counters=lambda: _counters(config),
    )


def _counters(config: Config) -> Counters:
    from carrel.state import open_store

    return open_store(config, "identity")
