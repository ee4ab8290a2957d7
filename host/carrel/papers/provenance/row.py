"""Defines a row of the provenance log, version 2, and its hash.

A row is one line of JSON. `this_hash` is the SHA-256 of the row without it, as compact JSON with
sorted keys; `prev_hash` is the hash of the row before, or GENESIS in the first row of a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from carrel.records import Id
from carrel.records.ids import arxiv_version, without_version

GENESIS: Final = "GENESIS"
SCHEMA: Final = "v2"

Event = Literal[
    "session_start", "capability_resolved", "resolve", "fetch", "store_write", "session_end"
]
Outcome = Literal["ok", "err", "denied"]
Capability = Literal["oa", "metadata", "tdm-elsevier", "tdm-aps", "tdm-springer"]

#: Members of a row; every row has all of them, and an unknown one is null.
MEMBERS: Final = (
    "ts", "ts_seq", "event", "ref", "source", "result", "error_code", "license", "size_bytes",
    "store_path", "capability", "session_id", "schema_version", "canonical_digest", "prev_hash",
    "this_hash",
)  # fmt: skip

#: Crockford's digits.
_ULID: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """A caller's report of an event; the log adds time, sequence, session and hashes.

    Attributes:
        event: what happened.
        result: how it ended.
        capability: the permission that it was done under.
        ref: the DOI or other identifier, without prefix.
        source: the source that answered, such as unpaywall.
        error_code: the code of an event that failed.
        license: of the file, or `unknown`.
        size_bytes: of the file.
        store_path: of the file, relative to the store's folder.
        canonical_digest: see `canonical_digest`; of rows with a `ref`.
    """

    event: Event
    result: Outcome = "ok"
    capability: Capability = "oa"
    ref: str | None = None
    source: str | None = None
    error_code: str | None = None
    license: str | None = None
    size_bytes: int | None = None
    store_path: str | None = None
    canonical_digest: str | None = None

    def members(
        self, *, now: float, sequence: int, session_id: str, previous: str
    ) -> dict[str, Any]:
        """Returns the whole row with its hash."""
        moment = datetime.fromtimestamp(now, UTC)
        row = {
            **asdict(self),
            "ts": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z",
            "ts_seq": sequence,
            "session_id": session_id,
            "schema_version": SCHEMA,
            "prev_hash": previous,
        }
        row["this_hash"] = row_hash(row)
        return {name: row[name] for name in MEMBERS}


def row_line(members: Mapping[str, Any]) -> bytes:
    """Returns the row as a line of the log, with its line feed."""
    return _compact(members, in_order=False) + b"\n"


def row_hash(members: Mapping[str, Any]) -> str:
    """Returns the hash that a row must have."""
    without = {key: value for key, value in members.items() if key != "this_hash"}
    return hashlib.sha256(_compact(without)).hexdigest()


def canonical_digest(identifier: Id, profile: str, version: str | None = None) -> str:
    """Returns the digest of what was fetched and from where.

    It is the SHA-256 of the kind of identifier, the identifier, the resolver profile and the
    version, joined by single zero bytes.

    Args:
        identifier: of the paper.
        profile: the source that resolved it, such as crossref.
        version: of an e-print, such as v2; by default the one that the identifier names.
    """
    name = identifier.id
    if identifier.type == "arxiv":
        number = arxiv_version(name)
        version = version or (f"v{number}" if number else None)
        name = without_version(name)
    parts = (identifier.type, name, profile, version or "")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def new_ulid(now: float | None = None) -> str:
    """Returns a ULID: 26 characters, the first ten of them the time."""
    moment = int((time.time() if now is None else now) * 1000)
    number = (moment << 80) | int.from_bytes(os.urandom(10))
    return "".join(_ULID[(number >> shift) & 31] for shift in range(125, -1, -5))


def _compact(members: Mapping[str, Any], *, in_order: bool = True) -> bytes:
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":"), sort_keys=in_order)
    return text.encode("utf-8", "replace")
