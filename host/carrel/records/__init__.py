"""Parses identifiers, validates bibliographic records, and merges them.

A plugin's `RawResult` is validated against `contract/v1/record.schema.json` and converted to a
`Work`; other code uses only `Work`. This package imports no other layer.
"""

from __future__ import annotations

from .check import RawResult, checked_work, work_faults
from .ids import KINDS, Id, IdFault, Kind, fold_doi, parse_id, parse_isbn
from .match import group, same_work
from .merge import Alternative, MergedWork, merge
from .work import (
    Agent,
    Funder,
    Ids,
    Licence,
    Link,
    OpenCopy,
    Reference,
    Relation,
    Update,
    Work,
)

__all__ = [
    "KINDS",
    "Agent",
    "Alternative",
    "Funder",
    "Id",
    "IdFault",
    "Ids",
    "Kind",
    "Licence",
    "Link",
    "MergedWork",
    "OpenCopy",
    "RawResult",
    "Reference",
    "Relation",
    "Update",
    "Work",
    "checked_work",
    "fold_doi",
    "group",
    "merge",
    "parse_id",
    "parse_isbn",
    "same_work",
    "work_faults",
]
