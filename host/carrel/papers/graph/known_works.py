"""Joins records of one work while a graph grows.

A *place* is a number for one work. Records with a common identifier have the same place. Two places
become one when a later record names both works; `place` then maps the old numbers to it. Titles are
not compared here: `groups` does that once, when all records are known.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

from carrel.records import KINDS, Id, Ids, MergedWork, Work, group

#: Records of one work that are kept; further ones add nothing, and a source may send any number.
_MOST_RECORDS: Final = 16
#: The source of a record that was made from an identifier alone.
NO_SOURCE: Final = ""


class KnownWorks:
    """The works that were seen so far, with their records and identifiers."""

    def __init__(self) -> None:
        self._above: list[int] = []
        self._records: list[dict[Work, None]] = []
        self._ids: list[dict[Id, None]] = []
        self._places: dict[Hashable, int] = {}

    def add(self, work: Work) -> int | None:
        """Returns the place of a record; None for one with neither identifier nor title."""
        ids = list(work.ids.known())
        if not ids and not work.title:
            return None
        keys: list[Hashable] = [identifier.work for identifier in ids] or [work]
        place = self._place_of(ids, keys)
        records = self._records[place]
        if len(records) < _MOST_RECORDS:
            records[work] = None
        return place

    def add_id(self, identifier: Id) -> int:
        """Returns the place of a work of which only an identifier is known."""
        return self._place_of([identifier], [identifier.work])

    def unite(self, place: int, duplicate: int) -> None:
        """Joins two places of one work."""
        first, second = sorted((self.place(place), self.place(duplicate)))
        self._join(first, second)

    def find(self, identifier: Id) -> int | None:
        """Returns the place of the work with an identifier; None if it was not seen."""
        place = self._places.get(identifier.work)
        return None if place is None else self.place(place)

    def place(self, number: int) -> int:
        """Returns the place that a place has become."""
        while self._above[number] != number:
            number = self._above[number]
        return number

    def records(self, place: int) -> tuple[Work, ...]:
        """Returns the records of one work, in the order in which they came."""
        return tuple(self._records[self.place(place)])

    def ids(self, place: int) -> tuple[Id, ...]:
        """Returns the identifiers of one work, in an order of their own."""
        found = self._ids[self.place(place)]
        return tuple(
            sorted(found, key=lambda identifier: (KINDS.index(identifier.type), identifier.folded))
        )

    def groups(self, places: Iterable[int]) -> tuple[list[MergedWork], dict[int, int]]:
        """Returns merged works, and place → which of them it is.

        Places of one title, author and year become one work here, as everywhere else.
        """
        records = {place: self.records(place) or (self._bare(place),) for place in places}
        merged = group(
            [work for found in records.values() for work in found],
            same=[found for found in records.values() if len(found) > 1],
        )
        by_record = {
            record: number for number, work in enumerate(merged) for record in work.records
        }
        return merged, {place: by_record[found[0]] for place, found in records.items()}

    def _bare(self, place: int) -> Work:
        """Returns a record of a work of which only identifiers are known."""
        ids = {str(identifier.type): identifier.id for identifier in reversed(self.ids(place))}
        return Work(ids=Ids.from_json(ids), type="document", source=NO_SOURCE)

    def _place_of(self, ids: Sequence[Id], keys: Sequence[Hashable]) -> int:
        """Returns the place of the works with these keys, joined if they were several."""
        places = [self.place(self._places[key]) for key in keys if key in self._places]
        if places:
            place = min(places)
            for duplicate in places:
                self._join(place, self.place(duplicate))
        else:
            place = len(self._above)
            self._above.append(place)
            self._records.append({})
            self._ids.append({})
        for key in keys:
            self._places[key] = place
        self._ids[place].update(dict.fromkeys(ids))
        return place

    def _join(self, place: int, duplicate: int) -> None:
        if duplicate == place or self._above[duplicate] != duplicate:
            return
        self._above[duplicate] = place
        records = self._records[place]
        for work in self._records[duplicate]:
            if len(records) < _MOST_RECORDS:
                records[work] = None
        self._ids[place].update(self._ids[duplicate])
        self._records[duplicate], self._ids[duplicate] = {}, {}
