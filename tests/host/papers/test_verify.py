"""The verifier finds rows that were changed, removed, moved or added, and says which."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.papers.errors import PaperError
from carrel.papers.provenance import LogRow, ProvenanceLog
from carrel.papers.provenance.rotation import packed_logs, prune, rotate
from carrel.papers.provenance.row import row_hash, row_line

Lines = list[bytes]


def filled(path: Path, count: int = 8) -> ProvenanceLog:
    log = ProvenanceLog(path)
    for number in range(1, count + 1):
        log.append(LogRow(event="fetch", ref=f"10.1234/{number}", source="unpaywall"))
    return log


def rehashed(line: bytes, **members: Any) -> bytes:
    row = {**json.loads(line), **members}
    return row_line({**row, "this_hash": row_hash(row)})


def hash_of(line: bytes) -> str:
    found: str = json.loads(line)["this_hash"]
    return found


def found(log: ProvenanceLog) -> list[tuple[str, int]]:
    return [(fault.kind, fault.row) for fault in log.verify().faults]


#: What was done to the rows 1 to 8 → the rows afterwards, and what must be found.
TAMPERED: dict[str, tuple[Callable[[Lines], Lines], list[tuple[str, int]]]] = {
    "changed": (
        lambda rows: [*rows[:2], rows[2].replace(b"10.1234/3", b"10.1234/9"), *rows[3:]],
        [("changed", 3)],
    ),
    "first changed": (
        lambda rows: [rows[0].replace(b"10.1234/1", b"10.1234/9"), *rows[1:]],
        [("changed", 1)],
    ),
    "last changed": (
        lambda rows: [*rows[:7], rows[7].replace(b"unpaywall", b"unpaywalk")],
        [("changed", 8)],
    ),
    "two changed": (
        lambda rows: [
            rows[0],
            *(one.replace(b"fetch", b"fetsh") for one in rows[1:3]),
            *rows[3:],
        ],
        [("changed", 2), ("changed", 3)],
    ),
    "changed with its hash": (
        lambda rows: [*rows[:2], rehashed(rows[2], ref="10.1234/9"), *rows[3:]],
        [("changed", 3)],
    ),
    "a member twice": (
        lambda rows: [*rows[:2], rows[2].replace(b'{"ts"', b'{"ref":"10.1/9","ts"'), *rows[3:]],
        [("changed", 3)],
    ),
    "not JSON": (lambda rows: [*rows[:2], b"{}}\n", *rows[3:]], [("changed", 3)]),
    "a member removed": (
        lambda rows: [*rows[:2], rows[2].replace(b'"source":"unpaywall",', b""), *rows[3:]],
        [("changed", 3)],
    ),
    "removed": (lambda rows: [*rows[:2], *rows[3:]], [("removed", 3)]),
    "three removed": (lambda rows: [*rows[:2], *rows[5:]], [("removed", 3)]),
    "first removed": (lambda rows: rows[1:], [("removed", 1)]),
    "last removed": (lambda rows: rows[:7], [("removed", 8)]),
    "all removed": (lambda _rows: [], [("removed", 1)]),
    "two places removed": (
        lambda rows: [*rows[:1], *rows[2:5], *rows[6:]],
        [("removed", 2), ("removed", 5)],
    ),
    "swapped": (
        lambda rows: [*rows[:2], rows[3], rows[2], *rows[4:]],
        [("reordered", 4)],
    ),
    "moved up": (
        lambda rows: [rows[0], rows[5], *rows[1:5], *rows[6:]],
        [("reordered", 3), ("reordered", 4), ("reordered", 5), ("reordered", 6)],
    ),
    "moved down": (
        lambda rows: [rows[0], *rows[2:6], rows[1], *rows[6:]],
        [("reordered", 6)],
    ),
    "copied": (lambda rows: [*rows[:4], rows[1], *rows[4:]], [("added", 5)]),
    "added": (
        lambda rows: [
            *rows[:3],
            rehashed(rows[3], ref="10.1234/99", prev_hash=hash_of(rows[2])),
            *rows[3:],
        ],
        [("added", 4)],
    ),
    "added without its place": (
        lambda rows: [*rows[:3], rehashed(rows[3], prev_hash="0" * 64), *rows[3:]],
        [("added", 4)],
    ),
    "two added": (
        lambda rows: [
            *rows[:3],
            one := rehashed(rows[3], ref="10.1234/98", prev_hash=hash_of(rows[2])),
            rehashed(rows[3], ref="10.1234/99", prev_hash=hash_of(one)),
            *rows[3:],
        ],
        [("added", 4), ("added", 5)],
    ),
}


@pytest.mark.parametrize(("tamper", "expected"), TAMPERED.values(), ids=list(TAMPERED))
def test_what_was_done_to_the_rows_is_found(
    tmp_path: Path, tamper: Callable[[Lines], Lines], expected: list[tuple[str, int]]
) -> None:
    log = filled(tmp_path / "access.log")
    assert log.verify().ok
    log.path.write_bytes(b"".join(tamper(log.path.read_bytes().splitlines(keepends=True))))
    assert found(log) == expected


def test_a_row_added_at_the_end_with_right_hashes_shows_in_its_session(tmp_path: Path) -> None:
    log = filled(tmp_path / "access.log")
    last = log.path.read_bytes().splitlines(keepends=True)[-1]
    with log.path.open("ab") as file:
        file.write(rehashed(last, ref="10.1234/99", prev_hash=hash_of(last)))
    assert found(log) == [("added", 9)]


def test_rows_removed_with_all_hashes_made_anew_show_in_their_session(tmp_path: Path) -> None:
    log = filled(tmp_path / "access.log")
    rows = log.path.read_bytes().splitlines(keepends=True)
    again = rows[:3]
    for row in rows[5:]:
        again.append(rehashed(row, prev_hash=hash_of(again[-1])))
    log.path.write_bytes(b"".join(again))
    (log.path.parent / "access.log.head").unlink()
    report = log.verify()
    assert [(fault.kind, fault.row) for fault in report.faults] == [("removed", 4)]
    assert "2 rows" in report.faults[0].message


def test_a_report_names_the_row(tmp_path: Path) -> None:
    log = filled(tmp_path / "access.log")
    data = log.path.read_bytes()
    log.path.write_bytes(data.replace(b"10.1234/5", b"10.1234/0"))
    [fault] = log.verify().faults
    assert (fault.file, fault.row) == ("access.log", 5)
    assert "10.1234/0" in fault.message
    assert fault.to_json() == {
        "kind": "changed", "file": "access.log", "row": 5, "message": fault.message,
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_any_change_of_a_byte_is_found(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    log = filled(tmp_path / "access.log", 5)
    data = bytearray(log.path.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= 1 << chance.randrange(8)
    log.path.write_bytes(data)
    assert not log.verify().ok


@pytest.mark.parametrize("seed", range(60))
def test_any_other_order_or_selection_of_rows_is_found(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    log = filled(tmp_path / "access.log", 6)
    rows = log.path.read_bytes().splitlines(keepends=True)
    other = [chance.choice(rows) for _ in range(chance.randrange(8))]
    if other == rows:
        return
    log.path.write_bytes(b"".join(other))
    assert not log.verify().ok


class TestRotation:
    def test_a_full_log_is_packed_and_a_new_chain_begins(self, tmp_path: Path) -> None:
        log = ProvenanceLog(tmp_path / "access.log", rotate_bytes=1500, now=lambda: 1_767_000_000.0)
        for number in range(12):
            log.append(LogRow(event="fetch", ref=f"10.1234/{number}"))
        packed = packed_logs(log.path)
        assert [one.name for one in packed] == [
            "access.log.2025-12-29-092000.gz",
            "access.log.2025-12-29-092000-2.gz",
            "access.log.2025-12-29-092000-3.gz",
        ][: len(packed)]
        assert len(packed) >= 2
        rows = [json.loads(line) for one in packed for line in gzip.open(one)]  # noqa: SIM115
        rows += [json.loads(line) for line in log.path.read_bytes().splitlines()]
        assert [row["ts_seq"] for row in rows] == list(range(1, 13))
        assert [row["prev_hash"] for row in rows].count("GENESIS") == len(packed) + 1
        report = log.verify()
        assert report.ok
        assert report.rows == 12
        assert len(report.files) == len(packed) + 1

    def test_a_change_in_a_packed_log_is_found(self, tmp_path: Path) -> None:
        log = filled(tmp_path / "access.log")
        data = log.path.read_bytes()
        packed = rotate(log.path, now=1_767_000_000.0)
        packed.write_bytes(gzip.compress(data.replace(b"10.1234/5", b"10.1234/0")))
        [fault] = [one for one in log.verify().faults if one.kind == "changed"]
        assert (fault.file, fault.row) == (packed.name, 5)

    def test_a_packed_log_that_is_cut_is_damaged(self, tmp_path: Path) -> None:
        log = filled(tmp_path / "access.log")
        packed = rotate(log.path, now=1_767_000_000.0)
        packed.write_bytes(packed.read_bytes()[:-20])
        assert "damaged" in [one.kind for one in log.verify().faults]

    def test_packed_logs_are_deleted_after_their_time(self, tmp_path: Path) -> None:
        path = tmp_path / "access.log"
        old, new, other = (
            tmp_path / f"access.log.{stamp}.gz"
            for stamp in ("2025-01-01-000000", "2025-12-01-000000", "2025-99-01-000000")
        )
        for one in (old, new, other, tmp_path / "access.log.bak.gz"):
            one.write_bytes(gzip.compress(b""))
        assert prune(path, days=0, now=1_767_000_000.0) == []
        assert prune(path, days=90, now=1_767_000_000.0) == [old]
        assert new.exists()
        assert other.exists()

    def test_the_document_s_limits_are_the_defaults(self) -> None:
        log = ProvenanceLog(Path("unused"))
        assert (log._rotate_bytes, log.retention_days) == (100_000_000, 90)


def test_a_missing_log_is_an_empty_one(tmp_path: Path) -> None:
    report = ProvenanceLog(tmp_path / "none" / "access.log").verify()
    assert report.ok
    assert report.rows == 0


def test_a_log_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "access.log").mkdir()
    with pytest.raises(PaperError) as caught:
        ProvenanceLog(tmp_path / "access.log").verify()
    assert caught.value.paper_code == "LOG_ERROR"
