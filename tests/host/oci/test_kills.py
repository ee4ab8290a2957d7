"""Tests pulling while processes are killed, and while other processes pull the same plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.oci.documents import sha256
from carrel.oci.layout import read_plugin, write_plugin
from carrel.oci.push import push
from carrel.oci.registry import open_repository
from carrel.oci.store import PluginStore
from support.killing import kill_rounds, rounds
from support.registries import Registry, docker_registry

SUPPORT = Path(__file__).parents[2] / "support"
WORKER = SUPPORT / "pulling_worker.py"
MAX = 2**24


def publish(registry: Registry) -> dict[str, bytes]:
    """Publishes plugins with the tags a, b and c; returns digest → component, in that order."""
    published = {}
    where = registry.reference("plugins/killed:moving")
    with open_repository(where, registry.settings) as repository:
        for tag in "abc":
            wasm = b"\0asm\x0d\x00\x01\x00" + tag.encode() * 300_000
            target = registry.reference(f"plugins/killed:{tag}")
            digest = push(write_plugin(wasm, name=tag), target, repository).digest
            published[digest] = wasm
    return published


@pytest.mark.alone
@pytest.mark.long("kills")
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
@pytest.mark.requirement("registry:store:killed")
def test_a_killed_pull_corrupts_nothing_and_loses_nothing_acknowledged(
    tmp_path: Path,
) -> None:
    count = rounds(20)
    with docker_registry(tmp_path) as registry:
        published = publish(registry)
        where = registry.reference("plugins/killed:moving")
        order = list(published)
        following: dict[str | None, str] = dict(
            zip([None, *order], [*order, order[0]], strict=True)
        )
        last: dict[Path, str | None] = {}
        finished = 0

        def folder(number: int) -> Path:
            # Every second round begins with an empty store, so that blobs are written too.
            return tmp_path / f"store-{number // 2}"

        killed = kill_rounds(
            WORKER,
            lambda number: [registry.host, str(folder(number))],
            count=count,
            longest=0.15,
        )
        for number, done in enumerate(killed):
            store, finished = PluginStore(folder(number)), finished + len(done)
            before = done[-1] if done else last.get(folder(number))
            now = last[folder(number)] = store.resolve(where)
            # The pull that the kill interrupted may or may not have finished.
            assert now in {before, following[before]}
            check_content(folder(number))
            check_partial_blobs(folder(number), published)
            if now is not None:
                kept = read_plugin(store.repository(where), now, max_bytes=MAX)
                assert kept.wasm == published[now]
        assert finished > count / 4, "the worker hardly ever got to the end of a pull"


def check_content(folder: Path) -> None:
    """Checks each blob's digest against its file name, without the store's own check."""
    for path in folder.glob("blobs/sha256/*"):
        if path.suffix != ".tmp":
            assert sha256(path.read_bytes()) == f"sha256:{path.name}"


def check_partial_blobs(folder: Path, published: dict[str, bytes]) -> None:
    """Checks that each partial download is a prefix of the blob that its name identifies."""
    whole = {sha256(wasm).removeprefix("sha256:"): wasm for wasm in published.values()}
    for path in folder.glob("partial/*"):
        beginning = path.read_bytes()
        assert not beginning or whole[path.name].startswith(beginning)


def test_processes_that_pull_the_same_plugin_at_once_all_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from carrel.oci.pull import pull\n"
        "from carrel.oci.reference import parse_reference\n"
        "from carrel.oci.registry import RegistrySettings, open_repository\n"
        "from carrel.oci.store import PluginStore\n"
        "host, folder = sys.argv[1:]\n"
        "where = parse_reference(f'{host}/plugins/killed:a')\n"
        "settings = RegistrySettings(plain_http_hosts=frozenset({host}))\n"
        "sys.stdin.read()\n"
        "store = PluginStore(Path(folder))\n"
        "partial = store.partial_blobs\n"
        "with open_repository(where, settings, partial_blobs=partial) as repository:\n"
        "    print(pull(where, repository, store, max_bytes=2**24).digest)\n"
    )
    with docker_registry(tmp_path) as registry:
        first = next(iter(publish(registry)))
        words = [sys.executable, "-c", code, registry.host, str(tmp_path / "store")]
        pullers = [
            subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        for puller in pullers:
            assert puller.stdin is not None
            puller.stdin.close()
        for puller in pullers:
            assert puller.stdout is not None
            with puller.stdout:
                assert puller.stdout.read().strip() == first
            assert puller.wait() == 0
    left = [path.name for path in (tmp_path / "store").rglob("*.tmp")]
    assert left == []
    assert list((tmp_path / "store" / "partial").iterdir()) == []
