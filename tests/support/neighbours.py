"""Makes built-in and third-party plugins that share one fetch layer, as in a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from carrel.config import Config, PluginConfig, builtin
from carrel.fetch import FetchClient
from carrel.plugins.grants.access import Access
from carrel.plugins.manifests.manifest import Manifest, parse_manifest
from carrel.plugins.sources.source import MANIFEST_SECTION, read_source
from carrel.runtime.sections import custom_section

from .fetch_harness import FetchHarness
from .manifests import manifest_text

EVIL = "evil.example.com"
OTHER = "other.example.org"
API = "/api/query"


class PluginGroup:
    """The plugins of a configuration, which share a fetch client.

    Args:
        folder: for the configuration's own files.
        client: reaches the test's upstream.
    """

    def __init__(self, folder: Path, client: FetchClient) -> None:
        self.client = client
        self._config = Config(cache_dir=folder, data_dir=folder)
        self._access = Access(self._config, client)

    def arxiv(self) -> FetchHarness:
        """Returns the built-in plugin for export.arxiv.org."""
        return self._harness_of(builtin("arxiv"), builtin_manifest("arxiv"))

    def stranger(
        self,
        name: str,
        *hosts: Mapping[str, Any],
        granted: Sequence[str] | None = None,
        digest: str = "0",
    ) -> FetchHarness:
        """Returns a third-party plugin with all declared hosts granted, or only `granted`."""
        declared = [{"methods": ["GET", "HEAD", "POST"], **host} for host in hosts]
        text = manifest_text(name=name, hosts=declared)
        grant = tuple(str(host["host"]) for host in hosts) if granted is None else tuple(granted)
        entry = PluginConfig(name, f"file:///{name}.wasm", allowed_hosts=grant)
        return self._harness_of(entry, parse_manifest(text, name), digest)

    def _harness_of(
        self, entry: PluginConfig, manifest: Manifest, digest: str = ""
    ) -> FetchHarness:
        return FetchHarness(self.client, self._access.fetcher(entry, manifest, digest))


def builtin_manifest(name: str) -> Manifest:
    """Returns the manifest of a built-in plugin."""
    section = custom_section(read_source(name, f"builtin:{name}").wasm, MANIFEST_SECTION)
    assert section is not None
    return parse_manifest(section.decode(), name)
