"""Writes works as BibTeX, CSL-JSON and RIS, with `carrel.bibliography`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from carrel.bibliography.bibtex.writer import bibtex_entries
from carrel.bibliography.csl_json import write_csl_json
from carrel.bibliography.item import Item
from carrel.bibliography.keys import with_keys
from carrel.bibliography.ris.writer import ris_records as records_of_items
from carrel.bibliography.works import item_from_work
from carrel.records import Work


def bibtex(works: Sequence[Work]) -> str:
    """Returns the works as a BibTeX file; empty for none."""
    return "\n".join(bibtex_records(works))


def bibtex_records(works: Sequence[Work]) -> list[str]:
    """Returns the BibTeX record of each work; their keys differ."""
    return bibtex_entries(_items(works))


def csl_json(works: Sequence[Work]) -> str:
    """Returns the works as a CSL-JSON file: a list, empty for none."""
    return write_csl_json(_items(works))


def csl_items(works: Sequence[Work]) -> list[dict[str, Any]]:
    """Returns the works as CSL's items."""
    return _items(works)


def ris(works: Sequence[Work]) -> str:
    """Returns the works as a RIS file; empty for none."""
    return "\n".join(ris_records(works))


def ris_records(works: Sequence[Work]) -> list[str]:
    """Returns the RIS record of each work; their keys differ."""
    return records_of_items(_items(works))


def _items(works: Sequence[Work]) -> list[Item]:
    """Returns the item of each work under a key made of author, year and title."""
    items = [{**item_from_work(work), "id": ""} for work in works]
    return [{**item, "id": key} for item, key in with_keys(items)]


#: Format → what writes works in it.
FORMATS: Final[Mapping[str, Callable[[Sequence[Work]], str]]] = {
    "bibtex": bibtex,
    "csl-json": csl_json,
    "ris": ris,
}
