"""Writes works as BibTeX, CSL-JSON and RIS, so that no text of a work can become another record.

`texts` cleans what goes into a record, `citation_keys` names records; `bibtex`, `csl` and `ris`
write one format each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from carrel.records import Work

from .bibtex import bibtex, bibtex_records
from .csl import csl_items, csl_json
from .ris import ris, ris_records

#: Format → what writes works in it.
FORMATS: Final[Mapping[str, Callable[[Sequence[Work]], str]]] = {
    "bibtex": bibtex,
    "csl-json": csl_json,
    "ris": ris,
}

__all__ = [
    "FORMATS",
    "bibtex",
    "bibtex_records",
    "csl_items",
    "csl_json",
    "ris",
    "ris_records",
]
