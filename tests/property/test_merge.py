"""Tests that merging is commutative, associative and idempotent, and loses no value."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.records import MergedWork, Work, fold_doi, group, merge, work_faults
from carrel.records.check import RawResult
from carrel.records.merge import FIELDS, UNITED
from carrel.records.order import PRIMARY
from support.works import WORKS

pytestmark = [pytest.mark.property, pytest.mark.long("matrix")]

SEVERAL = st.lists(WORKS, min_size=1, max_size=6)


def whole(merged: MergedWork) -> str:
    """Returns the complete result of a merge, as bytes."""
    return json.dumps(merged.to_json(), ensure_ascii=False)


def value_of(record: Work, name: str) -> object:
    return getattr(record.ids, name[4:]) if name.startswith("ids.") else getattr(record, name)


def folded(value: object) -> str:
    """Returns a value as text, with DOIs in lower case."""

    def fold(node: object) -> object:
        if isinstance(node, str):
            return fold_doi(node)
        if isinstance(node, (tuple, list)):
            return [fold(one) for one in node]
        if isinstance(node, dict):
            return {key: fold(one) for key, one in node.items()}
        return fold(node.to_json()) if hasattr(node, "to_json") else node

    return json.dumps(fold(value), ensure_ascii=False, sort_keys=True)


@given(SEVERAL, st.randoms(use_true_random=False))
def test_merging_is_commutative(records: list[Work], chance: random.Random) -> None:
    shuffled = chance.sample(records, len(records))
    assert whole(merge(shuffled)) == whole(merge(records))


@given(st.lists(SEVERAL, min_size=1, max_size=4))
def test_merging_is_associative(parts: list[list[Work]]) -> None:
    at_once = merge(record for part in parts for record in part)
    assert whole(merge(merge(part) for part in parts)) == whole(at_once)
    stepwise = merge(parts[0])
    for part in parts[1:]:
        stepwise = merge([stepwise, merge(part)])
    assert whole(stepwise) == whole(at_once)


@given(SEVERAL)
def test_merging_is_idempotent(records: list[Work]) -> None:
    once = merge(records)
    assert whole(merge([once])) == whole(merge([once, once, *records])) == whole(once)
    assert merge([once]) == once


@given(SEVERAL)
def test_merging_keeps_every_value_and_its_source(records: list[Work]) -> None:
    merged = merge(records)
    for record in records:
        for name in FIELDS:
            value = value_of(record, name)
            if value is None or value == ():
                continue
            taken = value_of(merged.work, name)
            others = merged.alternatives.get(name, ())
            matching = [other for other in others if folded(other.value) == folded(value)]
            if name in UNITED:
                assert isinstance(value, tuple)
                assert isinstance(taken, tuple)
                assert {folded(one) for one in value} <= {folded(one) for one in taken}
                assert record.source in merged.provenance[name]
                if {folded(one) for one in value} != {folded(one) for one in taken}:
                    assert record.source in matching[0].sources
            elif folded(value) == folded(taken):
                assert record.source in merged.provenance[name]
            else:
                assert record.source in matching[0].sources


@given(SEVERAL)
def test_every_merged_value_is_in_a_record(records: list[Work]) -> None:
    merged = merge(records)
    assert work_faults(RawResult(json.loads(whole(merged))["work"])) == []
    for name in FIELDS:
        values = [value_of(record, name) for record in records]
        if name in UNITED:
            items = {folded(item) for value in values for item in value}  # type: ignore[attr-defined]
            assert {folded(item) for item in value_of(merged.work, name)} == items  # type: ignore[attr-defined]
        else:
            assert value_of(merged.work, name) in values
    assert set(merged.sources) == {record.source for record in records}


@given(st.lists(WORKS, max_size=8), st.randoms(use_true_random=False))
def test_grouping_does_not_depend_on_the_order(records: list[Work], chance: random.Random) -> None:
    shuffled = chance.sample(records, len(records))
    assert [whole(one) for one in group(shuffled)] == [whole(one) for one in group(records)]


@given(st.lists(st.lists(WORKS, max_size=4), max_size=3))
def test_grouping_is_idempotent(parts: list[list[Work]]) -> None:
    at_once = group(record for part in parts for record in part)
    nested = group(one for part in parts for one in group(part))
    assert [whole(one) for one in nested] == [whole(one) for one in at_once]
    assert group(at_once) == at_once


@given(st.lists(WORKS, max_size=8))
def test_grouping_keeps_every_record_in_exactly_one_group(records: list[Work]) -> None:
    kept = [record for one in group(records) for record in one.records]
    assert len(kept) == len(set(kept))
    assert set(kept) == set(records)


@given(st.lists(WORKS, max_size=10))
def test_records_of_primary_sources_with_an_identifier_in_common_are_in_one_group(
    records: list[Work],
) -> None:
    home = {record: at for at, one in enumerate(group(records)) for record in one.records}
    names: dict[tuple[str, str], int] = {}
    for record in records:
        for one in record.ids.known():
            if record.source in PRIMARY or one.work[0] == "doi":
                assert names.setdefault(one.work, home[record]) == home[record]


def names_of(merged: MergedWork, kind: str) -> set[str]:
    known = [one.work for record in merged.records for one in record.ids.known()]
    return {name for found, name in known if found == kind}


@given(st.lists(WORKS, max_size=10))
def test_indexes_and_strangers_make_no_one_work_of_two_dois(records: list[Work]) -> None:
    primary = group(record for record in records if record.source in PRIMARY)
    for one in group(records):
        parts = [known for known in primary if set(known.records) & set(one.records)]
        named = [dois for known in parts if (dois := names_of(known, "doi"))]
        assert all(first & second for first, second in itertools.combinations(named, 2))
        others = [record for record in one.records if record.source not in PRIMARY]
        strange = {doi for other in others for doi in names_of(merge([other]), "doi")}
        assert len(strange | set().union(*named)) <= max(1, *(len(dois) for dois in named), 1)


@given(st.lists(WORKS, min_size=2, max_size=10))
def test_sources_that_differ_are_shown_with_what_each_says(records: list[Work]) -> None:
    for one in group(records):
        for name in ("ids.doi", "ids.pmid", "title", "issued"):
            stated = {folded(value) for each in one.records if (value := value_of(each, name))}
            kept = [one.work, *(other.value for other in one.alternatives.get(name, ()))]
            shown = {folded(value_of(kept[0], name)), *(folded(value) for value in kept[1:])}
            assert stated <= shown


@given(
    st.lists(WORKS, min_size=1, max_size=8),
    st.lists(st.lists(st.integers(0, 7), max_size=5), max_size=4),
    st.randoms(use_true_random=False),
)
def test_grouping_of_answers_does_not_depend_on_the_order(
    records: list[Work], places: list[list[int]], chance: random.Random
) -> None:
    same = [[records[place % len(records)] for place in places_of] for places_of in places]
    at_once = [whole(one) for one in group(records, same=same)]
    shuffled = chance.sample(records, len(records))
    mixed = [chance.sample(one, len(one)) for one in chance.sample(same, len(same))]
    assert [whole(one) for one in group(shuffled, same=mixed)] == at_once
