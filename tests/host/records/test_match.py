"""Tests which records are grouped into one work."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.records import Agent, Work, group, same_work
from support.works import TITLE, person, work

LIKE: dict[str, Any] = {"title": TITLE, "authors": (person("Reader", "A."),), "issued": "2020"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"doi": "10.1000/A"}, {"doi": "10.1000/a"}),
        ({"arxiv": "2001.00001v1"}, {"arxiv": "2001.00001v3"}),
        ({"arxiv": "math.GT/0309136"}, {"arxiv": "math/0309136v1"}),
        ({"arxiv": "2001.00001"}, {"doi": "10.48550/arXiv.2001.00001"}),
        ({"pmid": "1"}, {"pmid": "1"}),
        ({"pmcid": "PMC1"}, {"pmcid": "PMC1"}),
        ({"doi": "10.1000/a", "pmid": "1"}, {"doi": "10.1000/b", "pmid": "1"}),
        (LIKE, {**LIKE, "title": TITLE.upper() + "."}),
        ({**LIKE, "doi": "10.1000/a"}, {**LIKE, "pmid": "1"}),
        (LIKE, {**LIKE, "issued": "2020-03-04"}),
        (LIKE, {**LIKE, "authors": (Agent(literal="Anna Reader"),)}),
        (LIKE, {**LIKE, "authors": (Agent(literal="Reader, Anna"), person("Other"))}),
        (
            {**LIKE, "title": "Über Lesepulte der Neuzeit"},
            {**LIKE, "title": "Uber Lesepulte der Neuzeit"},
        ),
        ({**LIKE, "title": TITLE, "subtitle": "Part 1"}, {**LIKE, "title": f"{TITLE}: Part 1"}),
        ({**LIKE, "type": "article"}, {**LIKE, "type": "paper-conference"}),
        ({**LIKE, "title": "図書館の閲覧机について"}, {**LIKE, "title": "図書館の閲覧机について"}),
    ],
)
def test_one_work(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert same_work(work("crossref", **one), work("eutils", **other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"doi": "10.1000/a"}, {"doi": "10.1000/b"}),
        ({"pmid": "1"}, {"pmcid": "PMC1"}),
        ({**LIKE, "doi": "10.1000/a"}, {**LIKE, "doi": "10.1000/b"}),
        ({**LIKE, "pmid": "1"}, {**LIKE, "pmid": "2"}),
        (LIKE, {**LIKE, "issued": "2021"}),
        (LIKE, {**LIKE, "authors": (person("Writer"),)}),
        (LIKE, {**LIKE, "authors": ()}),
        (LIKE, {**LIKE, "issued": None}),
        (LIKE, {**LIKE, "title": None}),
        ({**LIKE, "title": "Editorial"}, {**LIKE, "title": "Editorial"}),
        ({**LIKE, "title": "Table of Contents"}, {**LIKE, "title": "Table of Contents"}),
        ({**LIKE, "subtitle": "Part 1"}, {**LIKE, "subtitle": "Part 2"}),
        (LIKE, {**LIKE, "type": "dataset"}),
    ],
)
def test_two_works(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not same_work(work("crossref", **one), work("eutils", **other))


def sets(records: list[Work]) -> list[set[str]]:
    """Returns the groups, each as the set of its records' publishers, which serve as names."""
    return [{str(record.publisher) for record in one.records} for one in group(records)]


def test_identifiers_join_from_one_to_the_next() -> None:
    chain = [
        work("arxiv", arxiv="2001.00001", doi="10.1000/a", publisher="1"),
        work("crossref", doi="10.1000/A", publisher="2"),
        work("eutils", doi="10.1000/a", pmid="7", publisher="3"),
        work("other", pmid="7", pmcid="PMC9", publisher="4"),
        work("another", pmcid="PMC8", publisher="5"),
    ]
    assert sorted(map(sorted, sets(chain))) == [["1", "2", "3", "4"], ["5"]]


def test_a_record_that_two_works_could_claim_joins_neither() -> None:
    alike = [
        work("crossref", **LIKE, doi="10.1000/a", publisher="1"),
        work("crossref", **LIKE, doi="10.1000/b", publisher="2"),
        work("arxiv", **LIKE, publisher="3"),
    ]
    assert sorted(map(sorted, sets(alike))) == [["1"], ["2"], ["3"]]
    assert sorted(map(sorted, sets([alike[0], alike[2]]))) == [["1", "3"]]


def test_titles_join_works_that_identifiers_joined() -> None:
    records = [
        work("eutils", pmid="1", pmcid="PMC1", publisher="1"),
        work("other", **LIKE, pmcid="PMC1", publisher="2"),
        work("crossref", **LIKE, doi="10.1000/a", publisher="3"),
    ]
    assert sets(records) == [{"1", "2", "3"}]


def test_records_known_to_be_one_work_are_joined_regardless_of_content() -> None:
    alias, canonical = work("arxiv", doi="10.1000/old"), work("crossref", doi="10.1000/new")
    assert len(group([alias, canonical])) == 2
    [merged] = group([alias, canonical], same=[[alias, canonical]])
    assert merged.work.ids.doi == "10.1000/new"
    assert merged.alternatives["ids.doi"][0].value == "10.1000/old"
