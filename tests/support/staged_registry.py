"""A TLS registry under any name, whose responses the test defines."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from carrel.fetch.registries.client import Network
from carrel.oci.client import RegistryClient
from carrel.oci.partial import PartialBlobs
from carrel.oci.reference import parse_reference
from carrel.oci.registry import HttpRepository
from carrel.oci.settings import RegistrySettings
from support.upstream import Seen, Upstream

REGISTRY = "registry.example.org"
ELSEWHERE = "elsewhere.example.org"
USER, PASSWORD = "reader", "correct horse"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class Staged:
    """An upstream that plays registry, realm and blob store.

    Attributes:
        waits: the seconds that the client waited, on a fake clock.
        progress: the client's progress reports, as bytes so far and in total.
    """

    def __init__(self, upstream: Upstream, folder: Path) -> None:
        self.upstream = upstream
        self.waits: list[float] = []
        self.progress: list[tuple[float, float | None]] = []
        self._folder = folder
        self.settings = RegistrySettings(
            ca_bundle=upstream.write_authority(folder),
            docker_config=folder / "docker",
            connect_seconds=5.0,
            read_seconds=2.0,
            retries=2,
        )

    @property
    def seen(self) -> list[Seen]:
        return self.upstream.seen

    @property
    def on(self) -> Callable[..., None]:
        return self.upstream.on

    def log_in(self, host: str = REGISTRY, **entry: str) -> None:
        folder = self._folder / "docker"
        folder.mkdir(exist_ok=True)
        entry = entry or {"auth": BASIC.removeprefix("Basic ")}
        (folder / "config.json").write_text(json.dumps({"auths": {host: entry}}), "utf-8")

    def configure(self, **changes: Any) -> None:
        self.settings = replace(self.settings, **changes)

    @contextmanager
    def repository(
        self, host: str = REGISTRY, partial_blobs: PartialBlobs | None = None
    ) -> Iterator[HttpRepository]:
        client = RegistryClient(
            parse_reference(f"{host}/plugins/demo:1"),
            self.settings,
            network=Network(self._lookup, self.upstream.dial),
            sleep=self.waits.append,
        )
        try:
            yield HttpRepository(
                client, lambda done, total, _: self.progress.append((done, total)), partial_blobs
            )
        finally:
            client.close()

    def _lookup(self, host: str) -> list[str]:
        return list(asyncio.run(self._resolve(host.removesuffix("."))))

    async def _resolve(self, host: str) -> Any:
        return await self.upstream.names(host)


@contextmanager
def staged_registry(folder: Path) -> Iterator[Staged]:
    """Yields a server on loopback for all names that tests use."""
    names = (REGISTRY, ELSEWHERE, "auth.docker.io", "registry-1.docker.io")
    with Upstream(*names) as upstream:
        yield Staged(upstream, folder)
