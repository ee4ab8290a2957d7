"""Pulls a tag that moves from a to b to c and back to a, until it is killed.

python pulling_worker.py REGISTRY STORE
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from carrel.oci.pruning import prune
from carrel.oci.pull import pull
from carrel.oci.reference import parse_reference
from carrel.oci.registry import open_repository
from carrel.oci.repository import Descriptor, Document, RepositoryReader
from carrel.oci.settings import RegistrySettings
from carrel.oci.store import PluginStore


@dataclass
class _Moving:
    """A repository whose tag `moving` resolves to a, b and c in turn."""

    inner: RepositoryReader
    tag: str = "a"

    def manifest(self, reference: str) -> Document | None:
        return self.inner.manifest(self.tag if reference == "moving" else reference)

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        return self.inner.blob(descriptor, max_bytes=max_bytes)

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        return self.inner.referrers(digest)


def main() -> None:
    host, folder = sys.argv[1:]
    where = parse_reference(f"{host}/plugins/killed:moving")
    store = PluginStore(Path(folder))
    settings = RegistrySettings(plain_http_hosts=frozenset({host}), docker_config=Path(folder))
    with open_repository(where, settings, partial_blobs=store.partial_blobs) as repository:
        moving = _Moving(repository)
        following = successors(repository)
        say("ready")
        while True:
            moving.tag = following[store.resolve(where)]
            artifact = pull(where, moving, store, max_bytes=2**24)
            say(f"done {artifact.digest}")
            if moving.tag == "b":
                prune(store)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def successors(repository: RepositoryReader) -> dict[str | None, str]:
    """Returns the stored digest (None if none) → the tag to pull next."""
    digests = []
    for tag in "abc":
        document = repository.manifest(tag)
        assert document is not None
        digests.append(document.digest)
    return {None: "a", digests[0]: "b", digests[1]: "c", digests[2]: "a"}


if __name__ == "__main__":
    main()
