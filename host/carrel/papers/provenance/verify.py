"""Finds rows of the provenance log that were changed, removed, moved or added.

Each file is a chain from GENESIS to its last row. A row whose hash is wrong was changed. Where the
chain breaks between two rows, the other rows and the sequence numbers of the sessions show what
happened there. That the end was removed is known from the file `NAME.head` beside the log.

Not found: a log that was rewritten from some row on, with hashes, sequence numbers and head.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from carrel.papers.errors import PaperError

from .head import head_of, read_head
from .rotation import packed_logs
from .row import GENESIS, SCHEMA, row_hash

FaultKind = Literal["changed", "removed", "reordered", "added", "damaged"]

#: Faults of one file that are reported.
_MOST: Final = 1000
#: Bytes of the longest line that is read.
_LINE: Final = 2**21


@dataclass(frozen=True, slots=True)
class LogFault:
    """One fault.

    Attributes:
        kind: what happened.
        file: name of the log or of a packed one.
        row: number of the row, from 1; for `removed`, of the row behind the gap, which is one more
            than the file has if its end was removed.
        message: what is wrong, for a person.
    """

    kind: FaultKind
    file: str
    row: int
    message: str

    def to_json(self) -> dict[str, Any]:
        """Returns the fault as JSON."""
        return {"kind": self.kind, "file": self.file, "row": self.row, "message": self.message}


@dataclass(slots=True)
class LogReport:
    """The outcome of a verification.

    Attributes:
        files: the names of the files that were read.
        rows: how many rows they have.
        faults: what was found.
        notes: what is no fault, such as a row that a killed process did not finish.
        end_known: whether a removed end would have been found.
    """

    files: list[str] = field(default_factory=list)
    rows: int = 0
    faults: list[LogFault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    end_known: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """Returns the report as JSON."""
        return {
            "ok": self.ok,
            "files": self.files,
            "rows": self.rows,
            "faults": [fault.to_json() for fault in self.faults],
            "notes": self.notes,
            "end_known": self.end_known,
        }


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the log; `this` is the hash that it states, `right` whether it is the line's."""

    number: int
    right: bool
    this: str
    prev: str
    session: str
    sequence: int
    summary: str


def verify_log(path: Path) -> LogReport:
    """Checks a log and its packed ones; a missing log is an empty one.

    Raises:
        PaperError: `LOG_ERROR`; a file cannot be read.
    """
    report = LogReport()
    sessions: dict[str, int] = {}
    head = _head(path, report)
    reached = False
    last = 0
    for log in [*packed_logs(path), path]:
        try:
            rows = list(_read(log, report))
        except FileNotFoundError:
            continue
        except OSError as error:
            reason = error.strerror or str(error)
            raise PaperError("LOG_ERROR", f"{log.name}: cannot be read: {reason}") from error
        except (EOFError, zlib.error) as error:
            report.faults.append(LogFault("damaged", log.name, 1, f"is no whole gzip: {error}"))
            continue
        report.files.append(log.name)
        report.rows += len(rows)
        faults = _faults_of(rows, log.name)
        if not faults:
            faults = _gaps(rows, log.name, sessions)
        report.faults += faults[:_MOST]
        for row in rows:
            sessions[row.session] = row.sequence
        reached = reached or any(row.this == head for row in rows)
        last = len(rows) if log == path else 0
    changed = any(fault.kind == "changed" for fault in report.faults)
    if head is not None and not reached and not changed:
        what = "the last rows are missing: the log went further"
        report.faults.append(LogFault("removed", path.name, last + 1, what))
    return report


def _read(path: Path, report: LogReport) -> Iterator[_Row]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        number = 0
        while line := file.readline(_LINE):
            number += 1
            if line.endswith(b"\n"):
                yield _row(line, number)
            elif len(line) < _LINE:
                report.notes.append(
                    f"{path.name}: row {number} is unfinished; it was never reported"
                )
            else:
                yield _row(b"", number)


def _row(line: bytes, number: int) -> _Row:
    try:
        members: Any = json.loads(line, object_pairs_hook=_members)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        return _Row(number, False, "", "", "", 0, "not a row")
    right = _hash(members) == members.get("this_hash") and members.get("schema_version") == SCHEMA
    sequence = members.get("ts_seq")
    summary = " ".join(str(members.get(name)) for name in ("ts", "event", "ref"))
    return _Row(
        number,
        right,
        str(members.get("this_hash")),
        str(members.get("prev_hash")),
        str(members.get("session_id")),
        sequence if isinstance(sequence, int) else 0,
        summary[:200],
    )


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is there twice, and readers differ in which they take")
    return members


def _hash(members: Mapping[str, Any]) -> str:
    try:
        return row_hash(members)
    except (TypeError, ValueError):
        return ""


def _faults_of(rows: list[_Row], name: str) -> list[LogFault]:
    """Returns the breaks of one file's chain, each with what it shows."""
    if all(row.right for row in rows):
        moved = _moved(rows, name)
        if moved is not None:
            return moved
    return list(_breaks(rows, name))


def _moved(rows: list[_Row], name: str) -> list[LogFault] | None:
    """Returns the rows that were moved, if the rows are one whole chain in another order."""
    after = {row.prev: row for row in rows}
    if len(after) != len(rows):
        return None
    order: list[_Row] = []
    at = GENESIS
    while (row := after.pop(at, None)) is not None:
        order.append(row)
        at = row.this
    if after:
        return None
    position = {row.number: index for index, row in enumerate(order)}
    faults = []
    highest = -1
    for row in rows:
        if position[row.number] < highest:
            what = f"belongs before rows that precede it: {row.summary}"
            faults.append(LogFault("reordered", name, row.number, what))
        highest = max(highest, position[row.number])
    return faults


def _breaks(rows: list[_Row], name: str) -> Iterator[LogFault]:
    following = {row.prev: index for index, row in reversed(list(enumerate(rows)))}
    positions = {row.this: index for index, row in enumerate(rows)}
    expected = GENESIS
    skip = 0
    for index, row in enumerate(rows):
        if index < skip:
            continue
        if not row.right:
            yield LogFault("changed", name, row.number, f"its hash is not its own: {row.summary}")
            if not row.this:
                expected = rows[index + 1].prev if index + 1 < len(rows) else ""
            elif not _resumes(rows, index, expected):
                expected = row.this
            continue
        if row.prev == expected:
            expected = row.this
            continue
        later = following.get(expected, -1)
        if later > index:
            # The chain continues after this row and those that follow.
            skip = later
            yield from _added(rows[index:later], name)
            continue
        yield from _break(rows, index, -1 if row.prev == GENESIS else positions.get(row.prev), name)
        expected = row.this


def _break(rows: list[_Row], index: int, at: int | None, name: str) -> Iterator[LogFault]:
    """Yields the faults where a row does not follow the one before it.

    Args:
        rows: of the file.
        index: of the row.
        at: the position of the row that it follows; -1 for the beginning, None for nowhere.
        name: of the file.
    """
    if at is None:
        yield _gap(rows, index, name)
    elif at < index:
        yield from _added(rows[at + 1 : index], name)
    else:
        what = f"belongs behind row {rows[at].number}: {rows[index].summary}"
        yield LogFault("reordered", name, rows[index].number, what)


def _added(rows: list[_Row], name: str) -> Iterator[LogFault]:
    for row in rows:
        if row.right:
            yield LogFault("added", name, row.number, f"is not in the chain: {row.summary}")


def _resumes(rows: list[_Row], index: int, expected: str) -> bool:
    """Returns whether the row behind a wrong one follows the row before it."""
    return index + 1 < len(rows) and rows[index + 1].prev == expected


def _gap(rows: list[_Row], index: int, name: str) -> LogFault:
    """Returns the fault where a row names one that is nowhere as the row before it."""
    row = rows[index]
    if index and rows[index - 1].session == row.session:
        before = rows[index - 1]
        if before.sequence + 1 == row.sequence:
            what = f"was changed together with its hash: {before.summary}"
            return LogFault("changed", name, before.number, what)
        missing = row.sequence - before.sequence - 1
        if missing > 0:
            what = f"{missing} {'row is' if missing == 1 else 'rows are'} missing before it"
            return LogFault("removed", name, row.number, f"{what}: {row.summary}")
    return LogFault("removed", name, row.number, f"the row before it is missing: {row.summary}")


def _gaps(rows: list[_Row], name: str, sessions: Mapping[str, int]) -> list[LogFault]:
    """Returns gaps in the sequence numbers of sessions, where the chain itself is whole."""
    last = dict(sessions)
    faults = []
    for row in rows:
        before = last.get(row.session)
        if before is not None and row.sequence > before + 1:
            what = f"{row.sequence - before - 1} rows of its session are missing before it"
            faults.append(LogFault("removed", name, row.number, f"{what}: {row.summary}"))
        elif before is not None and row.sequence <= before:
            what = f"its session had the number {row.sequence} before"
            faults.append(LogFault("added", name, row.number, f"{what}: {row.summary}"))
        last[row.session] = row.sequence
    return faults


def _head(path: Path, report: LogReport) -> str | None:
    """Returns the hash of the row that the log went to at least; None if it is not known."""
    try:
        last = read_head(path)
    except (OSError, ValueError):
        report.notes.append(f"{head_of(path).name} cannot be read; a removed end is not found")
        return None
    report.end_known = last is not None
    return last
