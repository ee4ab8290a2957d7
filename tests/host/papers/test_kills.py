"""Kills at random points, and several processes at once: what was acknowledged is there and whole.

CARREL_TEST_KILLS=200 is the promise.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from carrel.papers.provenance import ProvenanceLog
from carrel.papers.store import PaperStore
from carrel.papers.store.checking import check_store
from carrel.records import parse_id
from support.killing import kill_rounds, rounds

WORKER = Path(__file__).with_name("writing_worker.py")
PAPERS = 40


def content(number: int) -> bytes:
    return b"%PDF-1.7\n" + f"{number} ".encode() * 40_000


def check(tmp_path: Path, acknowledged: set[int]) -> None:
    """Holds the folder against what was acknowledged, read by other code than wrote it."""
    folder = tmp_path / "papers"
    there: set[int] = set()
    for path in folder.glob(".metadata/*.toml"):
        if path.name.startswith("."):
            continue  # a temporary file is none of an entry's names
        entry = tomllib.loads(path.read_bytes().decode())
        number = int(entry["doi"].rpartition(".")[2])
        assert entry["title"] == f"Desk {number}"
        pdf = folder / entry["pdf_path"]
        assert pdf.read_bytes() == content(number)
        assert entry["doiget"]["size_bytes"] == len(content(number))
        there.add(number)
    assert acknowledged <= there
    for path in folder.glob("*.pdf"):  # also those whose entry was not written
        assert path.read_bytes() == content(int(path.stem.rpartition(".")[2]))
    store = PaperStore.open(folder, tmp_path / "cache")
    try:
        assert list(check_store(store, contents=True)) == []
        assert {one.title for one in store.recent(1000)} == {f"Desk {n}" for n in there}
        assert len(store.search("muller", 1000)) == len(there)
        assert store.index.faults() == {}
        for number in acknowledged:
            assert store.find(parse_id(f"10.1234/desk.{number}")) is not None
    finally:
        store.close()
    report = ProvenanceLog(tmp_path / "log" / "access.log").verify()
    assert report.faults == []
    if there:
        assert report.rows >= len(there)
        assert report.end_known


@pytest.mark.long("kills")
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    acknowledged: set[int] = set()
    folders = [str(tmp_path / name) for name in ("papers", "cache", "log")]
    for numbers in kill_rounds(
        WORKER,
        lambda number: [*folders, str(1000 * number), str(PAPERS)],
        count=rounds(20),
        longest=0.4,
    ):
        acknowledged |= {int(one) for one in numbers}
        check(tmp_path, acknowledged)
    assert acknowledged


@pytest.mark.long("kills")
def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    folders = [str(tmp_path / name) for name in ("papers", "cache", "log")]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    writers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), *folders, str(start), str(PAPERS)],
            stdout=subprocess.PIPE,
            env=env,
        )
        for start in (0, 100_000)
    ]
    time.sleep(3)
    output = b""
    for writer in writers:
        assert writer.poll() is None, "the writer failed"
        writer.kill()
        out, _ = writer.communicate()
        output += out[: out.rfind(b"\n") + 1]
    done = [line for line in output.decode().splitlines() if line.startswith("done ")]
    assert len(done) > 4
    check(tmp_path, {int(line.removeprefix("done ")) for line in done})
    # Fields of both writers are in entries that both wrote.
    entries = [
        tomllib.loads(path.read_text("utf-8")) for path in tmp_path.glob("papers/.metadata/*.toml")
    ]
    assert {key for entry in entries for key in entry if key.startswith("seen_")} == {
        "seen_0",
        "seen_100000",
    }
