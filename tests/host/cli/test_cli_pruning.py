"""Tests `carrel plugin prune` as a process, on a store with old versions."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from carrel.oci.documents import sha256
from carrel.oci.layout import write_plugin
from carrel.oci.pull import pull
from carrel.oci.reference import parse_reference
from carrel.oci.store import PluginStore
from carrel.plugins.approval.lock import LockEntry
from carrel.plugins.approval.lockfile import change_lock
from support.command_line import CommandLine
from support.memory_repository import MemoryRepository

REFERENCE = "oci://registry.example.org/plugins/demo"
OLD, NEW = (b"\0asm\x0d\x00\x01\x00" + word * 500 for word in (b"older", b"newer"))


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, real=True)


def filled(folder: Path) -> tuple[PluginStore, str]:
    """Returns a store whose tag was moved two hours ago, and the tag's previous digest."""
    store, digests = PluginStore(folder), []
    for wasm in (OLD, NEW):
        repository = MemoryRepository()
        digests.append(repository.publish(write_plugin(wasm, name="demo"), "1"))
        pull(parse_reference(f"{REFERENCE}:1"), repository, store, max_bytes=2**20)
    long_ago = time.time() - 7200
    for path in folder.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    return store, digests[0]


def prune(carrel: CommandLine, configuration: str) -> int:
    carrel.write("carrel.toml", f'data_dir = "data"\n{configuration}')
    done = carrel("--config", "carrel.toml", "plugin", "prune")
    assert (done.code, done.err) == (0, "")
    summary = json.loads(done.out)
    assert Path(summary["folder"]) == (carrel.home / "data" / "plugins")
    return int(summary["freed_bytes"])


def test_unreferenced_plugins_are_removed_and_tagged_ones_kept(carrel: CommandLine) -> None:
    store, _ = filled(carrel.home / "data" / "plugins")
    assert prune(carrel, "") >= len(OLD)
    assert store.read(sha256(OLD)) is None
    assert store.read(sha256(NEW)) == NEW
    assert prune(carrel, "") == 0


def test_plugins_configured_by_digest_are_kept(carrel: CommandLine) -> None:
    store, old = filled(carrel.home / "data" / "plugins")
    assert prune(carrel, f'[plugins.demo]\nurl = "{REFERENCE}@{old}"\n') == 0
    assert store.read(sha256(OLD)) == OLD


def test_plugins_in_the_lock_are_kept(carrel: CommandLine) -> None:
    store, old = filled(carrel.home / "data" / "plugins")
    some = sha256(b"")
    entry = LockEntry(f"{REFERENCE}:1", old, sha256(OLD), some, some, (), None, {})
    change_lock(carrel.home / "carrel.lock", {"demo": entry})
    assert prune(carrel, f'[plugins.demo]\nurl = "{REFERENCE}:1"\n') == 0
    assert store.read(sha256(OLD)) == OLD


def test_without_a_readable_lock_nothing_is_removed(carrel: CommandLine) -> None:
    store, _ = filled(carrel.home / "data" / "plugins")
    carrel.write("carrel.toml", 'data_dir = "data"\n')
    carrel.write("carrel.lock", "{")
    done = carrel("--config", "carrel.toml", "plugin", "prune")
    assert done.code == 1
    assert "carrel.lock" in done.err
    assert store.read(sha256(OLD)) == OLD
