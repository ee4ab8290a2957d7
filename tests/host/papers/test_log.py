"""The provenance log: rows in doiget's format, chained, on the disk when they are acknowledged."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config import Config
from carrel.papers.errors import PaperError
from carrel.papers.opening import LOG_NAME, open_log
from carrel.papers.provenance import LogRow, ProvenanceLog, canonical_digest, new_ulid
from carrel.papers.provenance.row import GENESIS, MEMBERS
from carrel.records import parse_id


def fetched(number: int) -> LogRow:
    return LogRow(event="fetch", ref=f"10.1234/{number}", source="unpaywall", size_bytes=number)


@pytest.fixture
def log(tmp_path: Path) -> ProvenanceLog:
    return ProvenanceLog(tmp_path / "provenance" / "access.log", now=lambda: 1_767_000_000.4567)


def rows(log: ProvenanceLog) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.path.read_text("utf-8").splitlines()]


def test_a_row_has_the_document_s_members_and_hashes(log: ProvenanceLog) -> None:
    log.append(fetched(1))
    log.append(LogRow(event="session_end"))
    first, second = rows(log)
    assert list(first) == list(second) == list(MEMBERS)
    assert first["ts"] == "2025-12-29T09:20:00.456Z"
    assert (first["ts_seq"], second["ts_seq"]) == (1, 2)
    assert first["schema_version"] == "v2"
    assert first["prev_hash"] == GENESIS
    assert second["prev_hash"] == first["this_hash"]
    assert second["ref"] is second["canonical_digest"] is None
    own = {key: value for key, value in first.items() if key != "this_hash"}
    text = json.dumps(own, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert first["this_hash"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("reference", "profile", "joined"),
    [
        ("10.1234/foo", "crossref", b"doi\x0010.1234/foo\x00crossref\x00"),
        ("2401.12345v2", "arxiv", b"arxiv\x002401.12345\x00arxiv\x00v2"),
        ("cond-mat/9501001", "arxiv", b"arxiv\x00cond-mat/9501001\x00arxiv\x00"),
    ],
)
def test_the_digest_joins_its_parts_with_zero_bytes(
    reference: str, profile: str, joined: bytes
) -> None:
    assert canonical_digest(parse_id(reference), profile) == hashlib.sha256(joined).hexdigest()


def test_a_ulid_has_26_characters_that_sort_by_time() -> None:
    assert new_ulid(1_000_000.0) < new_ulid(1_000_000.001) < new_ulid(2_000_000.0)
    assert len(new_ulid()) == 26
    assert new_ulid() != new_ulid()


def test_the_logs_of_many_principals_are_each_one_object(tmp_path: Path) -> None:
    config = Config(cache_dir=tmp_path, data_dir=tmp_path)
    names = [f"principal-{number}" for number in range(100)]
    for _ in range(2):
        for name in names:
            folder = tmp_path / name
            own = replace(config, papers=config.papers._replace(log_folder=folder))
            open_log(own).append(fetched(1))
    for name in names:
        report = ProvenanceLog(tmp_path / name / LOG_NAME).verify()
        assert report.ok, report.faults


def test_a_second_writer_continues_the_chain(log: ProvenanceLog) -> None:
    other = ProvenanceLog(log.path)
    for number in range(4):
        (log, other)[number % 2].append(fetched(number))
    chain = rows(log)
    assert [one["prev_hash"] for one in chain[1:]] == [one["this_hash"] for one in chain[:-1]]
    assert [one["ts_seq"] for one in chain] == [1, 1, 2, 2]
    assert log.verify().ok


def test_a_row_that_a_killed_process_did_not_finish_is_removed(log: ProvenanceLog) -> None:
    log.append(fetched(1))
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + whole[: len(whole) // 2])
    report = log.verify()
    assert report.ok
    assert report.notes
    ProvenanceLog(log.path).append(fetched(2))
    assert log.path.read_bytes().startswith(whole)
    assert [one["ref"] for one in rows(log)] == ["10.1234/1", "10.1234/2"]
    assert log.verify().ok


def test_a_last_row_without_its_line_feed_is_completed(log: ProvenanceLog) -> None:
    log.append(fetched(1))
    log.append(fetched(2))
    log.path.write_bytes(log.path.read_bytes()[:-1])
    ProvenanceLog(log.path).append(fetched(3))
    assert [one["ref"] for one in rows(log)] == [f"10.1234/{n}" for n in (1, 2, 3)]
    assert log.verify().ok


@pytest.mark.parametrize("damage", [b"not a row\n", b'{"this_hash":"00"}\n', b"\xff\n"])
def test_nothing_is_appended_to_a_log_whose_end_is_damaged(
    log: ProvenanceLog, damage: bytes
) -> None:
    log.append(fetched(1))
    log.path.write_bytes(log.path.read_bytes() + damage)
    before = log.path.read_bytes()
    with pytest.raises(PaperError, match="carrel papers verify") as caught:
        log.append(fetched(2))
    assert caught.value.paper_code == "LOG_ERROR"
    assert log.path.read_bytes() == before


def test_a_text_with_line_breaks_and_half_characters_stays_one_row(log: ProvenanceLog) -> None:
    log.append(LogRow(event="resolve", ref='10.1/a\n{"event":"fetch"}\r\u2028\ud800'))
    log.append(fetched(2))
    assert log.path.read_bytes().count(b"\n") == 2
    assert log.verify().ok


def test_the_log_is_private(log: ProvenanceLog) -> None:
    log.append(fetched(1))
    assert log.path.stat().st_mode & 0o077 == 0
    assert log.path.parent.stat().st_mode & 0o077 == 0
