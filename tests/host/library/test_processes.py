"""Several processes on one library, and kills at random points: nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from carrel.bibliography import read_bibliography
from carrel.library.library import Library
from support.killing import kill_rounds, rounds

WORKER = Path(__file__).with_name("sharing_worker.py")
SHARED = {
    "json": json.dumps([{"id": "shared", "type": "book", "title": "The shared one"}]),
    "bib": "% ours\n@book{shared,\n  title = {The shared one},\n  note = {0}\n}\n",
}


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Returns key → entry of the file, read without a library."""
    if path.suffix == ".json":
        return {one["id"]: one for one in json.loads(path.read_text("utf-8"))}
    found = read_bibliography(path.read_bytes())
    assert not found.unread
    assert path.read_bytes().count(b"% ours\n@book{shared,\n  title = {The shared one},\n") == 1
    return {one.item["id"]: one.item for one in found.entries}


def check(path: Path, folder: Path, acknowledged: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Compares the file with what was acknowledged; returns key → entry."""
    entries = read(path)
    removed, removing = set(), set()
    for line in acknowledged:
        what, key = line.split()
        if what == "add":
            removed.discard(key)
        elif what == "removing":
            removing.add(key)
        elif what == "remove":
            removed.add(key)
    for line in acknowledged:
        what, key = line.split()
        if what == "add" and key not in removing:
            assert key in entries, line
        if what == "change" and key in entries:
            assert entries[key]["note"] == "changed", line
        if what == "remove":
            assert key not in entries, line
    library = Library.open(path, cache_folder=folder / "cache", backup_folder=folder / "backups")
    try:
        assert {one["id"] for one in library.items()} == set(entries)
        assert {one["id"] for one in library.search("desk", limit=0).items} == {
            key for key, one in entries.items() if "Desk" in one["title"]
        }
    finally:
        library.close()
    return entries


def start(kind: str, path: Path, folder: Path, name: str, steps: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), kind, str(path), str(folder), name, str(steps)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.mark.requirement("reference-manager:independent:processes")
@pytest.mark.requirement("library:shared:processes")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the editor exchanges files")
@pytest.mark.parametrize("suffix", SHARED)
def test_two_servers_and_an_editor_on_one_file_lose_nothing(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"library.{suffix}"
    path.write_text(SHARED[suffix], "utf-8")
    workers = [
        start("server", path, tmp_path, "one", 15),
        start("server", path, tmp_path, "two", 15),
        start("editor", path, tmp_path, "ed", 15),
    ]
    acknowledged: list[str] = []
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert out.endswith("end\n"), err
        acknowledged += [line[5:] for line in out.splitlines() if line.startswith("done ")]
    entries = check(path, tmp_path, [line for line in acknowledged if not line.startswith("share")])
    shared = entries["shared"]
    if suffix == "json":
        assert {shared[f"by-{name}"] for name in ("one", "two", "ed")} == {"15"}
    else:
        tags = [f"{name}-{number}" for name in ("one", "two") for number in range(1, 16)]
        assert sorted(shared["custom"]["tags"]) == sorted(tags)
        assert shared["note"] == "15"
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.requirement("reference-manager:atomic:killed")
@pytest.mark.requirement("library:shared:kills")
@pytest.mark.long("kills")
@pytest.mark.parametrize("suffix", SHARED)
def test_a_killed_writer_leaves_a_whole_file_with_all_that_it_acknowledged(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"library.{suffix}"
    path.write_text(SHARED[suffix], "utf-8")
    acknowledged: list[str] = []
    shared = {}
    for number, lines in enumerate(
        kill_rounds(
            WORKER,
            lambda number: ["server", str(path), str(tmp_path), f"w{number}", "0"],
            count=rounds(10),
            longest=0.4,
        )
    ):
        acknowledged += [line for line in lines if not line.startswith("share")]
        steps = [line for line in lines if line.startswith("share")]
        if steps:
            shared[f"w{number}"] = int(steps[-1].split()[1])
        entries = check(path, tmp_path, acknowledged)
        for name, least in shared.items():
            if suffix == "json":
                assert int(entries["shared"][f"by-{name}"]) >= least
            else:
                tags = entries["shared"]["custom"]["tags"]
                assert {f"{name}-{step}" for step in range(1, least + 1)} <= {*tags}
    assert acknowledged
