"""Tests that the store of pulled plugins stays consistent after kills and disk errors."""

from __future__ import annotations

import errno
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from carrel.errors import RegistryError, StorageError
from carrel.oci.documents import sha256
from carrel.oci.layout import read_plugin, write_plugin
from carrel.oci.pruning import prune
from carrel.oci.pull import pull
from carrel.oci.reference import parse_reference
from carrel.oci.repository import Descriptor
from carrel.oci.store import PluginStore
from support.memory_repository import MemoryRepository

REFERENCE = parse_reference("registry.example.org/plugins/demo:1")
COMPONENT = b"\0asm\x0d\x00\x01\x00" + b"component" * 500
OTHER = COMPONENT + b"newer"
MAX = 2**20


def published(wasm: bytes = COMPONENT, tag: str = "1") -> tuple[MemoryRepository, str]:
    repository = MemoryRepository()
    # The same bytes have the same digest at any time.
    package = write_plugin(wasm, name="demo", created=datetime(2026, 1, 1, tzinfo=UTC))
    return repository, repository.publish(package, tag)


def pulled(store: PluginStore, wasm: bytes = COMPONENT) -> str:
    repository, digest = published(wasm)
    pull(REFERENCE, repository, store, max_bytes=MAX)
    return digest


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.requirement("registry:store:damage")
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "swap"])
def test_changed_content_is_a_cache_miss(tmp_path: Path, damage: str) -> None:
    store = PluginStore(tmp_path)
    digest = pulled(store)
    path = tmp_path / "blobs" / "sha256" / sha256(COMPONENT).removeprefix("sha256:")
    whole = path.read_bytes()
    changed = {
        "flip": whole[:99] + bytes([whole[99] ^ 1]) + whole[100:],
        "cut": whole[:-1],
        "empty": b"",
        "swap": OTHER,
    }[damage]
    path.write_bytes(changed)
    descriptor = Descriptor("application/wasm", sha256(COMPONENT), len(COMPONENT))
    with pytest.raises(RegistryError, match="was altered on this machine, and is removed"):
        store.repository(REFERENCE).blob(descriptor, max_bytes=MAX)
    assert store.read(sha256(COMPONENT)) is None
    assert not path.exists()
    with pytest.raises(RegistryError, match="is not on this machine"):
        PluginStore(tmp_path).repository(REFERENCE).blob(descriptor, max_bytes=MAX)
    pulled(store)
    kept = read_plugin(store.repository(REFERENCE), digest, max_bytes=MAX)
    assert kept.wasm == COMPONENT


@pytest.mark.parametrize("damage", [b"", b"sha256:0\n{}", b"\xff" * 100])
def test_a_name_that_was_torn_is_a_miss(tmp_path: Path, damage: bytes) -> None:
    store = PluginStore(tmp_path)
    pulled(store)
    for path in files(tmp_path / "names"):
        path.write_bytes(damage)
    assert store.resolve(REFERENCE) is None
    assert pulled(store) == store.resolve(REFERENCE)


def test_a_name_that_was_moved_to_another_is_a_miss(tmp_path: Path) -> None:
    store = PluginStore(tmp_path)
    pulled(store)
    store.write_name("registry.example.org/plugins/demo:2", {"digest": sha256(OTHER)})
    first, second = (
        store._name_path(f"registry.example.org/plugins/demo:{tag}") for tag in ("1", "2")
    )
    second.replace(first)
    assert store.resolve(REFERENCE) is None


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_only_the_owner_can_read_the_store(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        pulled(PluginStore(tmp_path / "plugins"))
    finally:
        os.umask(before)
    for path in [tmp_path / "plugins", *(tmp_path / "plugins").rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_stored_plugin_is_not_pulled_again(tmp_path: Path) -> None:
    store = PluginStore(tmp_path)
    repository, _ = published()
    pull(REFERENCE, repository, store, max_bytes=MAX)
    asked = list(repository.asked)
    pull(REFERENCE, repository, store, max_bytes=MAX)
    assert sha256(COMPONENT) in asked
    assert sha256(COMPONENT) not in repository.asked[len(asked) :]


@pytest.mark.requirement("registry:store:full-disk")
@pytest.mark.skipif(sys.platform != "linux", reason="finds the file of a handle in /proc")
@pytest.mark.parametrize("kind", ["blobs", "names"])
def test_a_full_disk_is_a_typed_error_and_keeps_the_existing_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    store = PluginStore(tmp_path)
    digest = pulled(store)
    before = {path: path.read_bytes() for path in files(tmp_path)}
    real = os.fsync

    def full(handle: int) -> None:
        if f"/{kind}/" in str(Path(f"/proc/self/fd/{handle}").readlink()):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device; free some space"):
        pulled(store, OTHER)
    monkeypatch.undo()
    after = {path: path.read_bytes() for path in files(tmp_path)}
    assert before.items() <= after.items()
    assert not [path for path in after if path.suffix == ".tmp"]
    assert store.resolve(REFERENCE) == digest


def test_a_folder_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "plugins").write_text("a file")
    with pytest.raises(StorageError, match="plugins"):
        pulled(PluginStore(tmp_path / "plugins"))


class TestSignatures:
    def test_everything_about_the_plugin_is_kept(self, tmp_path: Path) -> None:
        repository, digest = published()
        attached = repository.attach(digest, b"bundle")
        repository.tag_signature(digest, b"legacy")
        store = PluginStore(tmp_path)
        pull(REFERENCE, repository, store, max_bytes=MAX)
        kept = store.repository(REFERENCE)
        [listed] = kept.referrers(digest)
        assert listed.digest == attached
        assert kept.manifest(attached) is not None
        assert store.read(sha256(b"bundle")) == b"bundle"
        legacy = kept.manifest(f"sha256-{digest.removeprefix('sha256:')}.sig")
        assert legacy is not None
        assert store.read(sha256(b"legacy")) == b"legacy"

    def test_a_withdrawn_signature_is_removed_by_the_next_pull(self, tmp_path: Path) -> None:
        repository, digest = published()
        repository.attach(digest, b"bundle")
        repository.tag_signature(digest, b"legacy")
        store = PluginStore(tmp_path)
        pull(REFERENCE, repository, store, max_bytes=MAX)
        unsigned, _ = published()
        pull(REFERENCE, repository=unsigned, store=store, max_bytes=MAX)
        kept = store.repository(REFERENCE)
        assert kept.referrers(digest) == []
        assert kept.manifest(f"sha256-{digest.removeprefix('sha256:')}.sig") is None

    def test_oversized_signatures_are_left_out(self, tmp_path: Path) -> None:
        repository, digest = published()
        repository.attach(digest, b"x" * (5 * 2**20))
        small = repository.attach(digest, b"bundle")
        store = PluginStore(tmp_path)
        pull(REFERENCE, repository, store, max_bytes=MAX)
        assert [one.digest for one in store.repository(REFERENCE).referrers(digest)] == [small]

    def test_another_repository_s_signatures_are_not_found(self, tmp_path: Path) -> None:
        repository, digest = published()
        repository.attach(digest, b"bundle")
        store = PluginStore(tmp_path)
        pull(REFERENCE, repository, store, max_bytes=MAX)
        other = parse_reference("registry.example.org/plugins/other:1")
        assert store.repository(other).referrers(digest) == []
        assert store.resolve(other) is None


class TestPruning:
    def age(self, folder: Path) -> None:
        long_ago = time.time() - 7200
        for path in files(folder):
            os.utime(path, (long_ago, long_ago))

    def test_untagged_plugins_are_removed_and_tagged_ones_kept(self, tmp_path: Path) -> None:
        store = PluginStore(tmp_path)
        first, second = pulled(store), pulled(store, OTHER)
        self.age(tmp_path)
        assert prune(store) >= len(COMPONENT)
        kept = store.repository(REFERENCE)
        assert read_plugin(kept, second, max_bytes=MAX).wasm == OTHER
        assert kept.manifest(first) is None
        assert store.read(sha256(COMPONENT)) is None
        assert prune(store) == 0

    def test_plugins_in_a_lock_are_kept_with_their_signatures(self, tmp_path: Path) -> None:
        store = PluginStore(tmp_path)
        repository, first = published()
        bundle = repository.attach(first, b"bundle")
        repository.tag_signature(first, b"legacy")
        pull(REFERENCE, repository, store, max_bytes=MAX)
        pulled(store, OTHER)
        self.age(tmp_path)
        prune(store, keep=[first])
        kept = store.repository(REFERENCE)
        assert read_plugin(kept, first, max_bytes=MAX).wasm == COMPONENT
        assert [one.digest for one in kept.referrers(first)] == [bundle]
        assert store.read(sha256(b"bundle")) == b"bundle"
        assert store.read(sha256(b"legacy")) == b"legacy"

    def test_recent_blobs_are_kept_for_a_running_pull(self, tmp_path: Path) -> None:
        store = PluginStore(tmp_path)
        store.put(b"not named yet")
        (tmp_path / "blobs" / "sha256" / "half.tmp").write_bytes(b"half")
        assert prune(store) == 0
        self.age(tmp_path)
        assert prune(store) == len(b"not named yet" + b"half")
