"""Tests with each disk operation failing once: calls succeed, installs fail cleanly."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.config import Config
from carrel.errors import StorageError
from carrel.exchange import Verdict
from carrel.fetch.cache import Cache
from carrel.fetch.clock import SystemClock
from carrel.fetch.recording import Recordings
from carrel.oci.layout import read_plugin
from carrel.oci.pull import pull
from carrel.oci.reference import parse_reference
from carrel.oci.registry import open_repository
from carrel.oci.repository import Descriptor
from carrel.oci.settings import RegistrySettings
from carrel.oci.store import PluginStore
from carrel.runtime.codecache import CodeCache
from carrel.tools import Toolbox
from support.failing_disk import FAULTS, FailingDisk, every_fault
from support.tiny_registry import digest_of, tiny_registry

from .conftest import plugin, well_behaved
from .installing_worker import (
    MAX_BYTES,
    Installation,
    asked,
    code,
    component,
    registry,
    response,
)

posix = pytest.mark.skipif(sys.platform != "linux", reason="finds files of handles in /proc")


@posix
@pytest.mark.requirement("plugin:pinned:failing-disk")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_pull_on_a_failing_disk_is_a_storage_error_and_keeps_the_old_plugin(
    tmp_path: Path, fault: int
) -> None:
    repository = registry()
    where = Installation(tmp_path / "unused").where
    fresh = itertools.count()

    def work(disk: FailingDisk) -> None:
        folder = tmp_path / str(next(fresh))
        store = PluginStore(folder)
        with disk.paused():
            repository.manifests["moving"] = repository.manifests["0"]
            pull(where, repository, store, max_bytes=MAX_BYTES)
            old = store.resolve(where)
            repository.manifests["moving"] = repository.manifests["1"]
        try:
            pull(where, repository, store, max_bytes=MAX_BYTES)
        except StorageError as error:
            assert disk.failed
            assert os.strerror(fault) in error.message
        disk.fail_no_more()
        expected = (
            {old, repository.manifests["1"].digest}
            if disk.failed
            else {repository.manifests["1"].digest}
        )
        assert store.resolve(where) in expected
        assert not list(folder.rglob("*.tmp")) or "unlink" in disk.last
        # The data from before the fault is reused: the next pull succeeds.
        pull(where, repository, store, max_bytes=MAX_BYTES)
        assert store.resolve(where) == repository.manifests["1"].digest

    assert every_fault(tmp_path, fault, work) >= 10


@posix
@pytest.mark.requirement("registry:store:failing-disk")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_download_to_a_failing_disk_is_a_storage_error_and_succeeds_next_time(
    tmp_path: Path, fault: int
) -> None:
    data = component(0)
    name = digest_of(data).removeprefix("sha256:")
    blob = Descriptor("application/wasm", digest_of(data), len(data))
    fresh = itertools.count()
    with tiny_registry() as running:
        running.blobs[blob.digest] = data
        where = parse_reference(f"{running.host}/plugins/demo:1")
        settings = RegistrySettings(plain_http_hosts=frozenset({running.host}), retries=0)

        def fetched(store: PluginStore) -> bytes:
            partial = store.partial_blobs
            with open_repository(where, settings, partial_blobs=partial) as repository:
                return repository.blob(blob, max_bytes=MAX_BYTES)

        def work(disk: FailingDisk) -> None:
            folder = tmp_path / str(next(fresh))
            store = PluginStore(folder)
            with disk.paused():
                (folder / "partial").mkdir(parents=True)
                (folder / "partial" / name).write_bytes(data[:1000])
            try:
                fetched(store)
            except StorageError as error:
                assert disk.failed
                assert os.strerror(fault) in error.message
                left = [one.stat().st_size for one in folder.glob("partial/*")]
                # A file that could not be opened is unchanged; any other was truncated.
                untouched = disk.last.startswith("open") and "/partial/" in disk.last
                assert left == ([1000] if untouched else [])
            disk.fail_no_more()
            assert fetched(store) == data
            assert store.read(blob.digest) == data

        assert every_fault(tmp_path, fault, work) >= 6


@posix
@pytest.mark.requirement("serve:alive:failing-disk")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_caches_on_a_failing_disk_cost_speed_only(tmp_path: Path, fault: int) -> None:
    fresh = itertools.count()

    def work(disk: FailingDisk) -> None:
        folder = tmp_path / str(next(fresh))
        cache = CodeCache(folder / "code")
        for version in (0, 1):
            kept = cache.store(f"key{version}", code(version))
            found = cache.find(f"key{version}")
            assert disk.failed or (kept is not None and found == kept)
            with disk.paused():
                assert found is None or found.read_bytes() == code(version)
        answers = Cache(folder / "answers.sqlite", 2**26, SystemClock())
        answers.put(b"k", response(1), ())
        answers.settle([b"k"], Verdict.READ)
        answer = answers.get(b"k", fresh_seconds=60, negative_seconds=60)
        assert disk.failed or answer is not None
        answers.close()

    assert every_fault(tmp_path, fault, work) >= 8


@posix
@pytest.mark.requirement("replay:exact:failing-disk")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_recording_on_a_failing_disk_is_a_storage_error_and_keeps_the_old_one(
    tmp_path: Path, fault: int
) -> None:
    fresh = itertools.count()

    def work(disk: FailingDisk) -> None:
        folder = tmp_path / str(next(fresh))
        with disk.paused():
            Recordings(folder, create=True).keep(asked(0), response(0))
        try:
            Recordings(folder).keep(asked(0), response(2))
        except StorageError:
            assert disk.failed
        disk.fail_no_more()
        outcome = Recordings(folder).find(asked(0))
        assert outcome in ([response(0), response(2)] if disk.failed else [response(2)])

    assert every_fault(tmp_path, fault, work) >= 3


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """Yields a file system of half a megabyte."""
    mount = shutil.which("mount")
    folder = tmp_path / "tiny"
    folder.mkdir()
    words = [str(mount), "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if mount is None or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system needs more rights than the tests have here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.requirement("serve:alive:full-disk")
def test_calls_are_answered_on_a_disk_that_is_really_full(tiny_disk: Path, tmp_path: Path) -> None:
    (tiny_disk / "filler").write_bytes(b"x" * (512 * 1024 - 8192))
    config = Config(
        cache_dir=tiny_disk / "cache",
        data_dir=tiny_disk / "data",
        plugins=(plugin(tmp_path, "good", well_behaved()),),
    )
    toolbox = Toolbox(config)
    assert toolbox.call_sync("good_echo", {}).data == {"n": 1}
    toolbox.close()
    assert not list(tiny_disk.rglob("*.tmp"))


@pytest.mark.requirement("registry:store:full-disk")
def test_a_download_to_a_full_disk_frees_its_space(
    tiny_disk: Path,
) -> None:
    data = component(0)
    blob = Descriptor("application/wasm", digest_of(data), len(data))
    store = PluginStore(tiny_disk / "store")
    (tiny_disk / "filler").write_bytes(b"x" * (512 * 1024 - len(data) // 2))
    with tiny_registry() as running:
        running.blobs[blob.digest] = data
        where = parse_reference(f"{running.host}/plugins/demo:1")
        settings = RegistrySettings(plain_http_hosts=frozenset({running.host}), retries=0)
        partial = store.partial_blobs
        with open_repository(where, settings, partial_blobs=partial) as repository:
            with pytest.raises(StorageError, match="No space left on device; free some space"):
                repository.blob(blob, max_bytes=MAX_BYTES)
            assert not [path for path in (tiny_disk / "store").rglob("*") if path.is_file()]
            (tiny_disk / "filler").unlink()
            assert repository.blob(blob, max_bytes=MAX_BYTES) == data
    assert store.read(blob.digest) == data


@pytest.mark.requirement("plugin:pinned:full-disk")
def test_a_pull_onto_a_full_disk_reports_it(tiny_disk: Path) -> None:
    repository = registry()
    where = Installation(tiny_disk / "unused").where
    store = PluginStore(tiny_disk / "store")
    repository.manifests["moving"] = repository.manifests["0"]
    pull(where, repository, store, max_bytes=MAX_BYTES)
    digest = store.resolve(where)
    assert digest is not None
    repository.manifests["moving"] = repository.manifests["1"]
    (tiny_disk / "filler").write_bytes(b"x" * 100_000)
    with pytest.raises(StorageError, match="No space left on device"):
        pull(where, repository, store, max_bytes=MAX_BYTES)
    assert store.resolve(where) == digest
    kept = read_plugin(store.repository(where), digest, max_bytes=MAX_BYTES)
    assert kept.wasm == component(0)
