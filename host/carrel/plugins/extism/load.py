"""Makes a plugin of a configuration's entry and a verified module."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from carrel.credentials import find_keyring_entry
from carrel.runtime.extism.context import ModuleContext

from .fetcher import ModuleFetcher
from .listing import RESERVED_SCHEMES, scheme_of
from .plugin import ModulePlugin
from .texts import is_uri

if TYPE_CHECKING:
    from carrel.config import PluginConfig
    from carrel.exchange import Fetcher
    from carrel.plugins.grants.limits import LimitsOf
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.runtime.extism.module import SandboxedModule


def load_module(
    entry: PluginConfig,
    module: SandboxedModule,
    *,
    manifest: Callable[[], Manifest] | None = None,
    make_fetcher: Callable[[Manifest], Fetcher],
    limits: LimitsOf,
    changed: Callable[[str], None],
    updated: Callable[[str], None],
) -> ModulePlugin:
    """Returns the plugin of an entry.

    Args:
        entry: with the grant: hosts, configuration keys, keyring entries.
        module: verified.
        manifest: returns its manifest if that is known; None builds it from what the module lists.
        make_fetcher: returns the fetcher for the manifest.
        limits: of calls, by the manifest.
        changed: called with the name of a list that changed.
        updated: called with the URI of a document that changed.
    """

    def notify_updated(uri: str) -> None:
        if is_uri(uri) and scheme_of(uri) not in RESERVED_SCHEMES:
            updated(uri)

    def secret(service: str, user: str) -> str | None:
        if (service, user) not in entry.allowed_secrets:
            return None
        return find_keyring_entry(service, user)

    hosts = [str(getattr(host, "host", host)) for host in entry.allowed_hosts or ()]
    return ModulePlugin(
        entry.name,
        module,
        manifest=manifest,
        description=entry.description,
        hosts=list(dict.fromkeys(hosts)),
        config={**{key: _text(value) for key, value in entry.settings.items()}, **entry.env_vars},
        make_fetcher=lambda manifest: ModuleFetcher(entry.name, make_fetcher(manifest)),
        limits=limits,
        context=lambda: ModuleContext(secret=secret, changed=changed, updated=notify_updated),
    )


def _text(value: Any) -> str:
    """Converts a setting to the text of a configuration key: modules read texts only."""
    return value if isinstance(value, str) else json.dumps(value)
