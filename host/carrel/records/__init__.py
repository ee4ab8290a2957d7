"""Bibliographic records: identifiers, the typed view of the contract's record, and the merge.

A leaf: what a plugin returned comes in as `RawResult`, is held against
`contract/v1/record.schema.json`, and goes on as `Work`. Nothing behind this point takes raw JSON.
"""

from __future__ import annotations

from .check import RawResult, checked_work, work_faults
from .ids import KINDS, Id, IdFault, Kind, fold_doi, parse_id
from .match import group, same_work
from .merge import Alternative, MergedWork, merge
from .work import (
    Agent,
    Funder,
    Ids,
    Licence,
    Link,
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
    "same_work",
    "work_faults",
]
